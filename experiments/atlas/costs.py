"""What cost.py measured of the arms of studies."""

import functools
import json

import files

COSTS = files.RESULTS / "costs.json"
COSTS_GPU = files.RESULTS / "costs_gpu.json"


@functools.cache
def read_costs(file=COSTS):
    """What cost.py measured; empty if it has not been run."""
    return json.loads(file.read_text()) if file.exists() else {}


def time_text(cost):
    low, high = min(cost["seconds"]), max(cost["seconds"])
    middle = sorted(cost["seconds"])[len(cost["seconds"]) // 2]
    return f"{middle:.2f}" if low == high else f"{middle:.2f} ({low:.2f} to {high:.2f})"


def cost_text(claim):
    """What cost.py measured on a processor and on a GPU, as a sentence; nothing if it did not."""
    found = [read_costs(file).get("arms", {}).get(claim.study, {}).get(claim.arm) for file in (COSTS, COSTS_GPU)]
    places = [f"{time_text(cost)} times as long and {cost['memory']:.2f} times the memory{where}" for cost, where in zip(found, ("", " on a GPU"), strict=True) if cost]
    return f"Takes {'; '.join(places)}" if places else ""
