"""What arms gained beside their baselines in the settings that were measured, as numbers and pictures."""

import dataclasses
import functools
import math

import claims
import files

LADDERS = ("ladder", "frontier_ladder", "depth_ladder", "ahead_ladder", "decay_ladder", "muon_ladder", "independent_ladder", "capacity_ladder")
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


@functools.cache
def read_ladders():
    """Those that were run, by their studies. Their arms have the names of claims."""
    found = {study: files.read_record(study) for study in LADDERS}
    return {study: record["ladders"][0] for study, record in found.items() if record}


def ladders_of(claim):
    """(study, ladder, arm) of each ladder with an arm for the claim's."""
    return [(study, ladder, arm) for study, ladder in read_ladders().items() for arm in ladder["arms"]
            if arm["name"] == (claim.ladder or claim.id) and arm["effects"]]


def compute(ladder, arm):
    """How many times the compute would lower the baseline's loss as much, at each size, by the line between two sizes of the baseline, which
    have 20 tokens a parameter, so that compute grows as their square; None for other metrics."""
    baseline = next(one for one in ladder["arms"] if one["name"] == arm["baseline"])
    if ladder["metric"] != "loss":
        return [None] * len(arm["effects"])
    points = [(2 * math.log(rung["x"]), score["mean"]) for rung, score in zip(ladder["rungs"], baseline["scores"], strict=True)]
    found = []
    for i, effect in enumerate(arm["effects"]):
        (x, loss), (next_x, next_loss) = points[max(i - 1, 0):][:2]
        found.append(math.exp(-effect["mean"] * (next_x - x) / (loss - next_loss)))
    return found


def rungs_of(ladder, arm):
    """What an arm of a ladder gains at its sizes."""
    gains = [claims.gain_of({"interval": [effect["mean"]] * 2} | effect, -1 if ladder["direction"] == "lower" else 1) for effect in arm["effects"]]
    return [Measure(rung["x"], ladder["metric"], *gain, times) for rung, gain, times in zip(ladder["rungs"], gains, compute(ladder, arm), strict=True)]


def measures_of(claim):
    """Of the claim's studies and ladders; nothing of an arm of which no mean can be told."""
    looks = [look for look in claim.looks if look and look.contrast["verdict"] in claims.TESTED and look.contrast.get("interval")]
    found = [Measure(look.baseline["parameters"], look.metric, *claims.gain_of(look.contrast, look.sign)) for look in looks]
    return sorted(found + [one for _, ladder, arm in ladders_of(claim) for one in rungs_of(ladder, arm)], key=lambda one: one.parameters)


def trend(ladder, arm):
    """How the gain changes with the logarithm of the size: rising or falling; empty if neither is shown."""
    interval = arm.get("slope", {}).get("interval")
    if not interval or interval[0] <= 0 <= interval[1]:
        return ""
    return " (rising)" if (interval[0] < 0) == (ladder["direction"] == "lower") else " (falling)"


def sizes_text(ladder, arm):
    """The gains of the arm at the sizes of a ladder."""
    return ", ".join(one.text for one in rungs_of(ladder, arm)) + trend(ladder, arm)


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
