#!/usr/bin/env python3
"""What the parts of docs/frontier.md cost in time and memory, beside the baselines of their studies; as a program it measures this.

    experiments/atlas/cost.py [--rounds N] [--steps N] [--gpu CARD] [STUDY ...]

Arms and baseline take turns, so that a load of the machine meets all of them. Writes docs/results/atlas/costs.json, or costs_gpu.json on a
GPU, whose name is given and on which the models are larger; afterwards make docs writes the page."""

import argparse
import functools
import json
import statistics
import subprocess
import sys
import tempfile

import yaml

import files

PROGRAM = files.ROOT / "build" / "ablate"
COSTS, COSTS_GPU = files.RESULTS / "costs.json", files.RESULTS / "costs_gpu.json"
ON_GPU = {"training.device": "cuda", "training.precision": "bf16", "training.tokens_per_batch": 16448, "training.max_length": 257,
          "data.block": 256, "model.d_model": 512, "model.layers": 6, "model.attention.heads": 8, "model.feed_forward.d_hidden": 2048}


@functools.cache
def read_costs(file):
    """What cost.py measured; no arms if it has not been run."""
    return json.loads(file.read_text()) if file.exists() else {"arms": {}}


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
    """What cost.py measured on a processor and on a GPU, as a sentence; nothing if it did not."""
    found = [(cost_of(claim, file), where) for file, where in ((COSTS, ""), (COSTS_GPU, " on a GPU"))]
    places = [f"{time_text(cost)} times as long and {cost['memory']:.2f} times the memory{where}" for cost, where in found if cost]
    return f"Takes {'; '.join(places)}" if places else ""


def alone(study, arm):
    """A study of one arm and its first task, as YAML, without what only concerns comparisons and starts from other arms, which do not matter
    here."""
    whole = files.read_study(study)
    changes = {key: value for key, value in whole["arms"][arm].items() if key not in ("training.init_from", "training.steps")}
    tasks = dict([*whole.get("tasks", {}).items()][:1])
    one = {"name": study, "seeds": [1], "base": whole["base"], "arms": {arm: changes}} | ({"tasks": tasks} if tasks else {})
    return yaml.safe_dump(one, sort_keys=False)


def measure(study, arm, options):
    """Seconds a token and megabytes."""
    changes = [word for key, value in (ON_GPU if options.gpu else {}).items() for word in ("--set", f"{key}={value}")]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(alone(study, arm))
        file.flush()
        command = [PROGRAM, "bench", "train", file.name, "--threads", "1", "--vocabulary", "100", "--steps",
                   str(options.steps), "--json", *changes]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return 1 / found["tokens_per_second"], found["peak_memory_mb"]


def processor():
    with open("/proc/cpuinfo") as lines:
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))


def costs_of(study, arms, options):
    """The arms' ratios to the study's baseline."""
    baseline = files.read_study(study)["compare"]["baseline"]
    seconds, memory = {arm: [] for arm in arms}, {}
    for _ in range(options.rounds):
        plain, plain_memory = measure(study, baseline, options)
        for arm in arms:
            own, own_memory = measure(study, arm, options)
            seconds[arm].append(round(own / plain, 3))
            memory[arm] = round(own_memory / plain_memory, 3)
    return {arm: {"seconds": seconds[arm], "memory": memory[arm]} for arm in arms}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="absent: all of the page")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--gpu", metavar="CARD", help="measure on CUDA's first device, which has this name")
    options = parser.parse_args()
    file = COSTS_GPU if options.gpu else COSTS
    arms = {}
    for entry in files.catalogue()["claims"]:
        study, arm = entry["study"], entry["arm"]
        trained = files.read_study(study)["arms"][arm].get("training.steps") != 0
        if "part" in entry and trained and study in (options.studies or [study]) and arm not in arms.setdefault(study, []):
            arms[study].append(arm)
    found = read_costs(file)
    found |= {"rounds": options.rounds, "processor": options.gpu or processor()}
    for study, names in arms.items():
        try:
            found["arms"][study] = costs_of(study, names, options)
        except subprocess.CalledProcessError as error:
            print(f"cost.py: {study} is left out: {error.stderr.strip()}", file=sys.stderr)
        file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
