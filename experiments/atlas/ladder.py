"""The effect of each change at each size of the ladders."""

import functools
import math

import files

LADDERS = ("ladder", "frontier_ladder", "depth_ladder", "ahead_ladder", "decay_ladder", "muon_ladder", "independent_ladder", "capacity_ladder")
UNIT, LARGEST = 0.005, 0.4


@functools.cache
def read_ladders():
    """Those that were run, by their studies. Their arms have the names of claims."""
    found = {study: files.read_record(study) for study in LADDERS}
    return {study: record["ladders"][0] for study, record in found.items() if record}


def gains(ladder, arm):
    """For each size the mean and the interval by which the arm is better, lowest end first."""
    sign = -1 if ladder["direction"] == "lower" else 1
    return [(sign * effect["mean"], *sorted(sign * end for end in effect.get("interval", [effect["mean"]] * 2))) for effect in arm["effects"]]


def arm_of(claim, ladder):
    """The ladder's arm for the claim's; None if it has none."""
    return next((arm for arm in ladder["arms"] if arm["name"] == (claim.ladder or claim.id) and arm["effects"]), None)


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


def place(gain):
    """From 0 to 1, linear around no gain and logarithmic far from it."""
    kept = max(-LARGEST, min(LARGEST, gain))
    return (math.asinh(kept / UNIT) / math.asinh(LARGEST / UNIT) + 1) / 2


def trend(ladder, arm):
    """How the gain changes with the logarithm of the size: rising or falling; empty if neither is shown."""
    interval = arm.get("slope", {}).get("interval")
    if not interval or interval[0] <= 0 <= interval[1]:
        return ""
    return "rising" if (interval[0] < 0) == (ladder["direction"] == "lower") else "falling"


def sizes_text(sizes, arm):
    """The gains of the arm at the sizes of a ladder, in bold where their interval leaves out zero."""
    numbers = ", ".join(f"**{mean:+.3f}**" if low > 0 or high < 0 else f"{mean:+.3f}" for mean, low, high in gains(sizes, arm))
    return numbers + (f" ({trend(sizes, arm)})" if trend(sizes, arm) else "")
