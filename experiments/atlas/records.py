#!/usr/bin/env python3
"""The atlas's record of a finished study, which has its primary cells: records.py RECORD RESULTS COMMAND...

Records of before 29 November 2026 had no `regime` of arms, which was added to baselines of claims, nor a `within_interval` of what is undecided; their
`provenance` was made of what they had. A contrast has, as `judged`, what the present rules and its source's range say of it where that differs from its
report, and an arm of a ladder the compute that it is `worth`."""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KEPT = ("study", "question", "confirmatory", "seeds", "provenance", "expectations", "ladders")


def cell_of(arm):
    return next((cell for cell in arm["cells"] if cell["primary"]), None)


def arm_record(arm):
    cell, steps = cell_of(arm), arm["steps"]["mean"]
    others = {other["test_set"]: [other["sample"]["mean"], other["sample"]["deviation"]] for other in arm["cells"] if other["metric"] == cell["metric"]}
    noise = [round(value, 1) for other in arm["cells"] if other["metric"] == "gradient_noise" for value in other["sample"]["values"] if value != "NaN"]
    optional = {"control": arm["control"], "regime": arm["regime"], "contrast": cell.get("contrast"), "gradient_noise": noise,
                "others": others if len(others) > 1 else None}
    return {"parameters": arm["parameters"], "steps": 0 if steps == "NaN" else round(steps), "test_set": cell["test_set"], "extrapolates": cell["extrapolates"],
            **{key: cell["sample"][key] for key in ("mean", "deviation", "values")}, **{key: value for key, value in optional.items() if value}}


def task_record(task):
    arms = {arm["name"]: arm_record(arm) for arm in task["arms"] if cell_of(arm)}
    return {"metric": task["metric"], "direction": cell_of(task["arms"][0])["direction"], "comparisons": task["comparisons"], "arms": arms}


def choice_of(searches, key):
    """The chosen value, with the number of seeds that chose it if they differ: "4.0e-3 (2), 8.0e-3 (4)"."""
    counts = collections.Counter(one["chosen"][key] for one in searches)
    return ", ".join(f"{value} ({counts[value]})" for value in sorted(counts, key=float)) if len(counts) > 1 else next(iter(counts))


def add_choices(tasks, tuning):
    """Says of each arm which values were chosen for it, and which of these are the smallest or the largest that were tried."""
    for found in tuning["arms"]:
        searches = found.get("seeds", [found])
        tasks[found["task"]]["arms"][found["arm"]] |= {"chosen": {key: choice_of(searches, key) for key in searches[0]["chosen"]},
                                                       "at_edge": {key: end for one in searches for key, end in one["at_edge"].items()}}


def refuse_changes(programs, root=ROOT):
    """Ends with a message if a program or a study of the atlas is not as it was committed: nobody could repeat the record."""
    if "-dirty" in programs:
        sys.exit(f"atlas: the program was built from changes that are not committed ({programs}); commit them, build it and run the study again")
    changed = git("status", "--porcelain", "--", "experiments/atlas/*.yaml", ":!experiments/atlas/claims.yaml", ":!experiments/atlas/history.yaml", root=root)
    if changed:
        sys.exit(f"atlas: studies have changes that are not committed; commit them first:\n{changed}")


def record_of(results, command):
    refuse_changes(", ".join(results["provenance"]["commits"]))
    tasks = {task["name"]: task_record(task) for task in results["tasks"]}
    add_choices(tasks, results.get("tuning", {"arms": []}))
    return {"command": command, "commit": git("rev-parse", "--short=10", "HEAD"), **{key: results[key] for key in KEPT}, "tasks": tasks}


def git(*words, root=ROOT):
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    record, results, *words = sys.argv[1:]
    pathlib.Path(record).write_text(json.dumps(record_of(json.loads(pathlib.Path(results).read_text()), " ".join(words)), indent=1) + "\n")
