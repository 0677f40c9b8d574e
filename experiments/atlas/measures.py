"""What arms gain beside their baselines in the settings that were measured, and what they cost."""

import dataclasses
import json
import math
import statistics

import claims
import files

STUDENT = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 6: 2.4469, 7: 2.3646, 8: 2.3060}  # two-sided 95 %, by degrees of freedom
LADDERS = {name: files.records()[name]["ladders"][0] for name in (
    "ladder", "frontier_ladder", "depth_ladder", "ahead_ladder", "decay_ladder", "muon_ladder", "independent_ladder", "capacity_ladder")}
COSTS, COSTS_GPU = (json.loads((files.RESULTS / name).read_text()) for name in ("costs.json", "costs_gpu.json"))  # by bench/arms.py


@dataclasses.dataclass
class Measure:
    """The gain of an arm in one setting, with the ends of its interval."""

    parameters: float
    metric: str
    mean: float
    low: float
    high: float
    compute: float | None = None  # how many times the compute would give its baseline the same
    tokens: float = 0  # of the training, at most
    error: float = math.nan  # the standard error of the mean

    @property
    def is_shown(self):
        return self.low > 0 or self.high < 0


def ladders_of(claim):
    """(study, ladder, arm) of each ladder with an arm for the claim's, which has its name or the one that it gives."""
    return [(study, ladder, arm) for study, ladder in LADDERS.items() for arm in ladder["arms"]
            if arm["name"] == (claim.ladder or claim.id) and arm["effects"]]


def rungs_of(ladder, arm):
    """What an arm of a ladder gains at its sizes."""
    gains = [claims.gain_of(effect, -1 if ladder["direction"] == "lower" else 1) for effect in arm["effects"]]
    times = [None if one["mean"] == "NaN" else 1 / one["mean"] for one in arm.get("compute", [])] or [None] * len(gains)
    errors = [effect["deviation"] / effect["count"] ** 0.5 for effect in arm["effects"]]
    return [Measure(rung["x"], ladder["metric"], *gain, time, error=error)
            for rung, gain, time, error in zip(ladder["rungs"], gains, times, errors, strict=True)]


def error_of(differences):
    return statistics.stdev(differences) / len(differences) ** 0.5


def tokens_of(study, arm):
    return arm["steps"] * files.read_study(study)["base"]["training"]["tokens_per_batch"]


def measures_of(claim):
    """Of the claim's studies and ladders; nothing of an arm of which no mean can be told, and of a study that does not bear on the claim."""
    looks = [look for look in claim.looks if look and look.contrast["verdict"] in claims.TESTED and look.contrast.get("interval")
             and look.outcome != claims.WITHDRAWN]
    found = [Measure(look.baseline["parameters"], look.metric, *look.gain, tokens=tokens_of(claim.study, look.baseline), error=error_of(look.contrast["differences"]))
             for look in looks]
    for study, ladder, arm in ladders_of(claim):
        baselines = [files.records()[study]["tasks"][rung["setting"]]["arms"][arm["baseline"]] for rung in ladder["rungs"]]
        found += [dataclasses.replace(one, tokens=tokens_of(study, of)) for one, of in zip(rungs_of(ladder, arm), baselines, strict=True)]
    return sorted(found, key=lambda one: one.parameters)


def prediction(found):
    """(mean, low, high) of the gain in a further setting, with 95 %, by random effects as in docs/statistics.md; None of fewer than three."""
    def fit(variance):  # the mean, its variance, and how many times the residuals are what they should be
        weights = [1 / (one.error**2 + variance) for one in found]
        mean = sum(weight * one.mean for weight, one in zip(weights, found)) / sum(weights)
        return mean, 1 / sum(weights), sum(weight * (one.mean - mean) ** 2 for weight, one in zip(weights, found)) / (len(found) - 1)

    if len(found) < 3:
        return None
    low, high = 0.0, sum(one.mean**2 for one in found)  # with which residuals are smaller than they should be
    for _ in range(200 if fit(0)[2] > 1 else 0):  # Paule & Mandel 1982
        middle = (low + high) / 2
        low, high = (middle, high) if fit(middle)[2] > 1 else (low, middle)
    between = high if low > 0 else 0.0
    mean, variance, excess = fit(between)
    half = STUDENT[len(found) - 2] * (variance * max(1, excess) + between) ** 0.5
    return mean, mean - half, mean + half


def verdict_of(claim, low, high):
    """Of the claim itself, by the interval of its gain in a further setting; none if its study does not bear on it."""
    if claim.first in (claims.OUTSIDE, claims.WITHDRAWN):
        return claim.first
    if claim.claim in claims.OF_MARGIN:
        above = claim.claim == "equal" and low > claim.margin
        within = low > -claim.margin and (claim.claim == "noninferior" or high < claim.margin)
        return claims.AGREES if within else claims.BEYOND if above or high < -claim.margin else claims.UNDECIDED
    if claim.claim == "inferior":
        low, high = -high, -low
    agrees = low > 0 and high >= (claim.margin or 0)  # as in a study, where less than the margin is alike
    return claims.AGREES if agrees else claims.OTHER_SIGN if high < 0 else claims.UNDECIDED


def sure_share(claim):
    """The end next to zero of the interval of the claim's effect, as a share of the baseline's score."""
    look, gains = claim.looks[0], measures_of(claim)
    return max(gains[0].low, -gains[0].high, 0) / max(abs(look.baseline["mean"]), 0.1) if look and gains else 0


def cost_of(claim, costs):
    """Of its arm, beside the baseline; None if it was not measured."""
    return costs["arms"].get(claim.study, {}).get(claim.arm)


def times_of(found):
    """The training times for each token of claims' arms, beside their baselines', as far as they were measured."""
    return [statistics.median(cost["seconds"]) for claim in found if (cost := cost_of(claim, COSTS))]
