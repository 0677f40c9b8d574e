"""What arms gain beside their baselines in the settings that were measured, as numbers and pictures, and what they cost."""

import dataclasses
import json
import math
import statistics

import claims
import files

LADDERS = {name: files.records()[name]["ladders"][0] for name in (
    "ladder", "frontier_ladder", "depth_ladder", "ahead_ladder", "decay_ladder", "muon_ladder", "independent_ladder", "capacity_ladder")}
COSTS, COSTS_GPU = (json.loads((files.RESULTS / name).read_text()) for name in ("costs.json", "costs_gpu.json"))  # by bench/arms.py
WIDTH, ROW = 150, 24  # of a picture
LINEAR, LARGEST = 0.005, 0.4  # gains are drawn as they are up to the one and no further out than the other
SCALES = {"loss": 1, "divergence": 1, "bleu": 0.04, "bits_per_parameter": 0.2}  # by which gains are drawn; others are shares
UNITS = {"loss": "", "divergence": " nats of divergence", "bleu": " BLEU", "bits_per_parameter": " bits"}


@dataclasses.dataclass
class Measure:
    """The gain of an arm in one setting, with the ends of its interval."""

    parameters: float
    metric: str
    mean: float
    low: float
    high: float
    compute: float | None = None  # how many times the compute would give its baseline the same

    @property
    def is_shown(self):
        return self.low > 0 or self.high < 0

    @property
    def gain(self):
        """"+0.019", in the units of the metric."""
        if self.metric in UNITS:
            return f"{self.mean:+.2f}" if self.metric == "bleu" else f"{self.mean:+.3f}"
        return f"{100 * self.mean:+.0f} points" if self.metric in claims.SHARES else f"{self.mean:+.2f} {claims.metric_text(self.metric)}"

    @property
    def text(self):
        """The gain with its unit, in bold if it is shown."""
        text = self.gain + UNITS.get(self.metric, "")
        return f"**{text}**" if self.is_shown else text

    @property
    def sized(self):
        """"28k **+0.019**", with the parameters."""
        return f"{self.parameters / 1000:.0f}k&nbsp;{self.text}"


def ladders_of(claim):
    """(study, ladder, arm) of each ladder with an arm for the claim's, which has its name or the one that it gives."""
    return [(study, ladder, arm) for study, ladder in LADDERS.items() for arm in ladder["arms"]
            if arm["name"] == (claim.ladder or claim.id) and arm["effects"]]


def compute(arm):
    """How many times the compute would give its baseline the same value at each size; None where that cannot be told. Older records have it as
    `worth`, by the line of the baseline between two sizes, and others by the program's power law."""
    ratios = [None if one["mean"] == "NaN" else 1 / one["mean"] for one in arm.get("compute", [])]
    return arm.get("worth") or ratios or [None] * len(arm["effects"])


def rungs_of(ladder, arm):
    """What an arm of a ladder gains at its sizes."""
    gains = [claims.gain_of({"interval": [effect["mean"]] * 2} | effect, -1 if ladder["direction"] == "lower" else 1) for effect in arm["effects"]]
    return [Measure(rung["x"], ladder["metric"], *gain, times) for rung, gain, times in zip(ladder["rungs"], gains, compute(arm), strict=True)]


def measures_of(claim):
    """Of the claim's studies and ladders; nothing of an arm of which no mean can be told."""
    looks = [look for look in claim.looks if look and look.contrast["verdict"] in claims.TESTED and look.contrast.get("interval")]
    found = [Measure(look.baseline["parameters"], look.metric, *claims.gain_of(look.contrast, look.sign)) for look in looks]
    return sorted(found + [one for _, ladder, arm in ladders_of(claim) for one in rungs_of(ladder, arm)], key=lambda one: one.parameters)


def sizes_text(ladder, arm):
    """The gains of the arm at the sizes of a ladder, and whether they are shown to change with the logarithm of the size."""
    low, high = arm.get("slope", {}).get("interval") or (0, 0)
    trend = "" if low <= 0 <= high else " (rising)" if (low < 0) == (ladder["direction"] == "lower") else " (falling)"
    return ", ".join(one.text for one in rungs_of(ladder, arm)) + trend


def place(one, end):
    """Where a gain is drawn: linear around no gain, and logarithmic far from it."""
    kept = max(-LARGEST, min(LARGEST, end * SCALES.get(one.metric, 0.3)))
    return round(WIDTH / 2 * (math.asinh(kept / LINEAR) / math.asinh(LARGEST / LINEAR) + 1))


def mark(one, y):
    x, low, high = (place(one, end) for end in (one.mean, one.low, one.high))
    shape = f'<circle cx="{x}" cy="{y}" r="4"/>' if one.metric in claims.LOSSES else f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8"/>'
    return f'<g class="{"shown" if one.is_shown else "open"}"><line x1="{low}" y1="{y}" x2="{high}" y2="{y}"/>{shape}</g>'


def picture(measures, told=""):
    """The gains as dots with intervals; what is told of them is for who does not see them."""
    step = (ROW - 8) / (len(measures) + 1)
    marks = "".join(mark(one, round(4 + step * (i + 1))) for i, one in enumerate(measures))
    zero = f'<line class="zero" x1="{WIDTH // 2}" y1="0" x2="{WIDTH // 2}" y2="{ROW}"/>'
    seen = f'role="img"><title>{told}</title>' if told else 'aria-hidden="true">'
    return f'<svg class="gains" width="{WIDTH}" height="{ROW}" viewBox="0 0 {WIDTH} {ROW}" {seen}{zero}{marks}</svg>'


def costs_of(claims, costs):
    """Of their arms, beside the baselines, as far as they were measured."""
    return [costs["arms"][claim.study][claim.arm] for claim in claims if claim.arm in costs["arms"].get(claim.study, {})]


def time_of(claims):
    """The longest training time for each token beside the baseline's; None if none was measured."""
    return max((statistics.median(cost["seconds"]) for cost in costs_of(claims, COSTS)), default=None)


def cost_text(claim):
    """What was measured on a processor and on a GPU, as a sentence; nothing if nothing was."""
    places = []
    for costs, where in ((COSTS, ""), (COSTS_GPU, " on a GPU")):
        for cost in costs_of([claim], costs):
            low, middle, high = (f"{end(cost['seconds']):.2f}" for end in (min, statistics.median, max))
            time = middle if low == high else f"{middle} ({low} to {high})"
            places.append(f"{time} times as long and {cost['memory']:.2f} times the memory{where}")
    return f"Takes {'; '.join(places)}" if places else ""
