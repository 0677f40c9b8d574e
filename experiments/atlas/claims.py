"""The claims of claims.yaml with the findings of their studies."""

import dataclasses
import itertools

import files
import regime

AGREES, OTHER_SIGN, BEYOND, NO_EFFECT = "agrees", "other sign", "beyond the margin", "no effect of that size here"
UNDECIDED, NOT_LEARNED, OUTSIDE = "undecided", "not learned", "outside the source's regime"
WITHDRAWN, NOT_RUN = "withdrawn", "not run"

# In the order of the page, which explains them.
OUTCOMES = (AGREES, OTHER_SIGN, BEYOND, NO_EFFECT, UNDECIDED, NOT_LEARNED, OUTSIDE, WITHDRAWN, NOT_RUN)
LEVEL = 0.05
SHARES = ("exact_match", "token_accuracy")  # metrics of which 1 is a task solved
LOSSES = ("loss", "divergence")  # metrics whose effects are per cents of the baseline
PUBLISHED_AS = {"loss": ("loss", "log-perplexity"), "bleu": ("bleu",), "exact_match": ("exact match",)}  # what papers call a metric
TESTED = ("better", "worse", "equivalent", "no_worse", "inconclusive")  # verdicts that rest on tests


def metric_text(metric):
    return {"bleu": "BLEU"}.get(metric, metric.replace("_", " "))


def equivalence_interval(differences, factor=1):
    """The interval of the two one-sided sign-flip tests: it lies within a margin exactly if their larger p, times the `factor` of a correction,
    is at most LEVEL. None if so few differences have none. Each end is a mean of some of the differences (Hartigan 1969)."""
    means = sorted(sum(some) / len(some) for size in range(1, len(differences) + 1) for some in itertools.combinations(differences, size))
    left_out = int(LEVEL / factor * 2 ** len(differences) * (1 + 1e-9)) - 1
    return (means[left_out], means[-1 - left_out]) if left_out >= 0 else None


def gain_of(found, scale):
    """A mean of differences and the ends of its interval, if it has one, lowest first, times the scale."""
    return [scale * found["mean"], *sorted(scale * end for end in found.get("interval") or [])]


@dataclasses.dataclass
class Finding:
    """An arm beside its baseline in one record of a study; differences are arm less baseline."""

    baseline_name: str
    name: str  # of the arm
    metric: str
    lower_is_better: bool
    baseline: dict
    arm: dict
    contrast: dict

    @property
    def sign(self):
        """Of a difference by which the arm is better."""
        return -1 if self.lower_is_better else 1

    @property
    def effect(self):
        """By how much the arm is better, as mean, lowest and highest of a 95 % interval, or the mean alone: of losses in per cent of the
        baseline's mean, by the program's test of the ratio, of other metrics as it is. Empty where a loss has no ratio."""
        found = self.contrast.get("relative") or {} if self.metric in LOSSES else self.contrast
        return gain_of(found, self.sign * (100 if self.metric in LOSSES else 1)) if found else []

    @property
    def equivalence(self):
        """The interval of the test that a difference is smaller than the margin, corrected as that test is; None if it was not made."""
        test, differences = self.contrast["within"], self.contrast["differences"]
        if not isinstance(test["p"], float) or len(differences) > 16:
            return None
        return equivalence_interval(differences, test["adjusted_p"] / test["p"])


@dataclasses.dataclass
class Claim:
    """One entry of claims.yaml with what its study declares, and the records of the study, which may be absent."""

    entry: dict
    record: dict | None = None
    again: dict | None = None  # the second look
    q: dict = dataclasses.field(default_factory=dict)  # of its looks, first and second, by add_q

    OPTIONAL = ("task", "size", "guess", "ladder", "part", "published", "spread", "regime", "predicts", "changes", "note", "withdrawn")

    def __getattr__(self, name):
        if name in self.OPTIONAL:
            return self.entry.get(name)
        try:
            return self.entry[name]
        except KeyError:
            raise AttributeError(f"a claim has no {name}") from None

    def finding(self, record):
        """What `record` has on this claim; None if that is nothing."""
        task = record and record["tasks"].get(self.setting(record))
        arm = task and task["arms"].get(self.arm)
        if not arm:
            return None
        baseline = next(name for name, one in task["arms"].items() if "contrast" not in one)
        return Finding(baseline, self.arm, task["metric"], task["direction"] == "lower", task["arms"][baseline], arm, arm["contrast"])

    def setting(self, record):
        """The name that the record has for the claim's task in the claim's size."""
        task = self.task or next(iter(record["tasks"])).split("-")[0]
        return f"{task}-{self.size}" if self.size else task

    @property
    def first(self):
        return self.outcome(self.record)

    @property
    def second(self):
        return self.outcome(self.again)

    def outcome(self, record):
        """A word of OUTCOMES."""
        found = self.finding(record)
        if found is None:
            return NOT_RUN
        if found.contrast["outcome"] == "not_learned" or not self.learned(found):
            return NOT_LEARNED
        if regime.outside(self, found):
            return OUTSIDE
        return WITHDRAWN if self.withdrawn and found.contrast["outcome"] in ("agrees", "contradicts") else self.shown(found)

    def shown(self, found):
        """What the study shows by itself, a word of OUTCOMES."""
        if found.contrast["outcome"] == "agrees":
            return AGREES
        if self.claim in ("equal", "noninferior"):
            return BEYOND if found.contrast["outcome"] == "contradicts" else UNDECIDED
        if found.contrast["verdict"] not in TESTED:
            return UNDECIDED
        claimed = 1 if self.claim == "superior" else -1
        if found.contrast["difference"]["adjusted_p"] <= LEVEL:
            return UNDECIDED if claimed * found.sign * found.contrast["mean"] > 0 else OTHER_SIGN
        most = max(claimed * end for end in found.effect or [float("inf")])
        return NO_EFFECT if self.is_of_same_metric(found) and claimed * self.published_effect > most else UNDECIDED

    def is_of_same_metric(self, found):
        """Whether an effect is published in the study's metric, so that the two can stand side by side."""
        words = self.published["metric"].lower() if self.published else ""
        return any(name in words for name in PUBLISHED_AS.get(found.metric, ()))

    def learned(self, found):
        """Whether one of both arms came at least half the way from guessing to 1, if the metric is a share of right answers. Beyond the
        trained length the program itself asks whether both learned the task within it."""
        best = max(found.baseline["mean"], found.arm["mean"])
        return found.metric not in SHARES or found.arm["extrapolates"] or best >= (1 + (self.guess or 0)) / 2

    @property
    def second_look_is_due(self):
        """Whether the rule of claims.yaml asks for a second look, which has not been run."""
        return self.is_asked_again and self.second == NOT_RUN

    @property
    def is_asked_again(self):
        """Whether the rule of claims.yaml asks for a second look."""
        found, rule = self.finding(self.record), files.catalogue()["rules"]["second_look"]
        if self.first not in (UNDECIDED, NO_EFFECT) or found.contrast["outcome"] != "inconclusive" or not found.contrast.get("detectable"):
            return False
        longer = dataclasses.replace(found, baseline=found.baseline | {"steps": rule["steps"] * found.baseline["steps"]})
        return abs(found.contrast["mean"]) > rule["share_of_detectable"] * found.contrast["detectable"] and not regime.outside(self, longer)

    @property
    def is_published_in_per_cent(self):
        """Whether the published figures are losses, or a ratio to a baseline of 1, rather than scores."""
        return self.published["baseline"] == 1 or any(word in self.published["metric"].lower() for word in ("loss", "perplexity"))

    @property
    def published_effect(self):
        """By how much the published arm was better, in per cent of the baseline or as it is; None unless two figures are published."""
        if not self.published:
            return None
        baseline, arm = self.published["baseline"], self.published["arm"]
        difference = arm - baseline if self.published["better"] == "higher" else baseline - arm
        return 100 * difference / abs(baseline) if self.is_published_in_per_cent else difference


def deciding_p(word, contrast):
    """The p, corrected within its study, of the test that decided what is shown; 1 if none did."""
    if word not in (AGREES, OTHER_SIGN, BEYOND):
        return 1.0
    within = word == AGREES and contrast["claim"] in ("equal", "noninferior")
    return contrast["beyond" if word == BEYOND else "within" if within else "difference"]["adjusted_p"]


def q_values(p):
    """The smallest rate of false discoveries at which each hypothesis would be rejected (Benjamini & Hochberg 1995)."""
    order, smallest, found = sorted(range(len(p)), key=p.__getitem__), 1.0, [1.0] * len(p)
    for rank in range(len(p), 0, -1):
        i = order[rank - 1]
        smallest = min(smallest, p[i] * len(p) / rank)
        found[i] = smallest
    return found


def add_q(found):
    """Gives the claims the q of each look that decided something, over all looks that count."""
    looks = [(claim, name, claim.outcome(record), claim.finding(record)) for claim in found for name, record in (("first", claim.record), ("second", claim.again))]
    looks = [look for look in looks if look[2] not in (NOT_RUN, NOT_LEARNED, OUTSIDE, WITHDRAWN)]
    p = [deciding_p(word, finding.contrast) for _, _, word, finding in looks]
    for (claim, name, _, _), one, q in zip(looks, p, q_values(p), strict=True):
        if one < 1:
            claim.q[name] = q


def read_claims():
    found = [Claim(files.declared(entry["study"], entry["arm"]) | entry, *(files.read_record(entry["study"], again) for again in (False, True)))
             for entry in files.catalogue()["claims"]]
    add_q(found)
    return found
