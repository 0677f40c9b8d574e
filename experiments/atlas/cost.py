"""What the parts of docs/frontier.md cost in time and memory, beside the baselines of their studies, as bench/arms.py measured it."""

import functools
import json
import statistics

import files

COSTS, COSTS_GPU = files.RESULTS / "costs.json", files.RESULTS / "costs_gpu.json"


@functools.cache
def read_costs(file):
    return json.loads(file.read_text())


def cost_of(claim, file=COSTS):
    """Of the claim's arm, beside its baseline; None if it was not measured."""
    return read_costs(file)["arms"].get(claim.study, {}).get(claim.arm)


def time_of(claims):
    """The longest training time for each token beside the baseline's; None if none was measured."""
    return max((statistics.median(cost["seconds"]) for cost in map(cost_of, claims) if cost), default=None)


def time_text(cost):
    low, middle, high = (f"{end(cost['seconds']):.2f}" for end in (min, statistics.median, max))
    return middle if low == high else f"{middle} ({low} to {high})"


def cost_text(claim):
    """What was measured on a processor and on a GPU, as a sentence; nothing if nothing was."""
    found = [(cost_of(claim, file), where) for file, where in ((COSTS, ""), (COSTS_GPU, " on a GPU"))]
    places = [f"{time_text(cost)} times as long and {cost['memory']:.2f} times the memory{where}" for cost, where in found if cost]
    return f"Takes {'; '.join(places)}" if places else ""
