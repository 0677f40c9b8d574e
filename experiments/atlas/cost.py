#!/usr/bin/env python3
"""Measures what the parts of docs/frontier.md cost in time and memory, beside the baselines of their studies.

    experiments/atlas/cost.py [--rounds N] [--steps N] [STUDY ...]

Arms and baseline take turns, so that a load of the machine meets all of them. Writes docs/results/atlas/costs.json; afterwards
experiments/atlas/atlas.py page writes the page."""

import argparse
import json
import subprocess
import tempfile

import yaml

import claims
import frontier

PROGRAM = claims.ROOT / "build" / "ablate"


def alone(study, arm):
    """A study of one arm, as YAML, without what only concerns comparisons and starts from other arms, which do not matter here."""
    whole = claims.read_study(study)
    changes = {key: value for key, value in whole["arms"][arm].items() if key not in ("training.init_from", "training.steps")}
    return yaml.safe_dump({"name": study, "seeds": [1], "base": whole["base"], "arms": {arm: changes}}, sort_keys=False)


def measure(study, arm, steps):
    """Seconds a token and megabytes."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(alone(study, arm))
        file.flush()
        command = [PROGRAM, "bench", "train", file.name, "--threads", "1", "--vocabulary", "100", "--steps", str(steps), "--json"]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return 1 / found["tokens_per_second"], found["peak_memory_mb"]


def processor():
    with open("/proc/cpuinfo") as lines:
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))


def costs_of(study, arms, options):
    """The arms' ratios to the study's baseline."""
    baseline = claims.read_study(study)["compare"]["baseline"]
    seconds, memory = {arm: [] for arm in arms}, {}
    for _ in range(options.rounds):
        plain, plain_memory = measure(study, baseline, options.steps)
        for arm in arms:
            own, own_memory = measure(study, arm, options.steps)
            seconds[arm].append(round(own / plain, 3))
            memory[arm] = round(own_memory / plain_memory, 3)
    return {arm: {"seconds": seconds[arm], "memory": memory[arm]} for arm in arms}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="absent: all of the page")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    arms = {}
    for entry in claims.catalogue()["claims"]:
        if "part" in entry and entry["study"] in (options.studies or [entry["study"]]):
            arms.setdefault(entry["study"], []).append(entry["arm"])
    found = frontier.read_costs() or {"arms": {}}
    for study, names in arms.items():
        found["arms"][study] = costs_of(study, names, options)
    found |= {"rounds": options.rounds, "processor": processor()}
    frontier.COSTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
