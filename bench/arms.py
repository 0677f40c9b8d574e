#!/usr/bin/env python3
"""What the arms of a study cost in time and memory, beside its baseline.

Runs `ablate bench train` for each arm in turn, round after round, so that a load of the machine
meets all of them, and divides seconds a token and memory by the baseline's of the same round.
Prints a Markdown table, and with --output adds the ratios to a file such as those of the atlas.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import yaml

UNTRAINED = ("training.init_from", "training.steps")  # keys of arms that start from others' weights


def read(path: pathlib.Path) -> dict:
    study = yaml.safe_load(path.read_text())
    return (read(path.parent / study["extends"]) if "extends" in study else {}) | study


def alone(study: dict, arm: str) -> str:
    """A study of one arm and its first task, without what only concerns comparisons."""
    changes = {key: value for key, value in study["arms"][arm].items() if key not in UNTRAINED}
    one = {"name": "cost", "seeds": [1], "base": study["base"], "arms": {arm: changes}}
    tasks = dict([*study.get("tasks", {}).items()][:1])
    return yaml.safe_dump(one | ({"tasks": tasks} if tasks else {}), sort_keys=False)


def measure(study: dict, arm: str, options: argparse.Namespace) -> tuple[float, float]:
    """Seconds a token and megabytes."""
    changes = [word for change in options.set for word in ("--set", change)]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(alone(study, arm))
        file.flush()
        command = [options.program, "bench", "train", file.name, "--json", *changes, "--vocabulary",
                   str(options.vocabulary), "--threads", str(options.threads), "--steps",
                   str(options.steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return 1 / found["tokens_per_second"], found["peak_memory_mb"]


def costs_of(study: dict, options: argparse.Namespace) -> dict[str, dict]:
    baseline = study["compare"]["baseline"]
    trained = [arm for arm, keys in study["arms"].items() if keys.get("training.steps") != 0]
    arms = [arm for arm in options.arms or trained if arm != baseline]
    seconds, memory = {arm: [] for arm in arms}, {}
    for _ in range(options.rounds):
        plain, plain_memory = measure(study, baseline, options)
        for arm in arms:
            own, own_memory = measure(study, arm, options)
            seconds[arm].append(round(own / plain, 3))
            memory[arm] = round(own_memory / plain_memory, 3)
    return {arm: {"seconds": seconds[arm], "memory": memory[arm]} for arm in arms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("--arms", type=lambda names: names.split(","), help="absent: all")
    parser.add_argument("--program", default="build/ablate")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=100)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--processor", default="", help="its name, for --output")
    parser.add_argument("--output", type=pathlib.Path, help="such as docs/results/atlas/costs.json")
    options = parser.parse_args()
    found = costs_of(read(options.study), options)
    print("| arm | time | range | memory |\n|---|---|---|---|")
    for arm, cost in found.items():
        low, middle, high = (end(cost["seconds"]) for end in (min, statistics.median, max))
        print(f"| {arm} | {middle:.2f} | {low:.2f}-{high:.2f} | {cost['memory']:.2f} |")
    if options.output:
        kept = json.loads(options.output.read_text()) if options.output.exists() else {"arms": {}}
        kept |= {"rounds": options.rounds, "processor": options.processor}
        kept["arms"].setdefault(options.study.stem, {}).update(found)
        options.output.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
