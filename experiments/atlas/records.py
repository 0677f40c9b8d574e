#!/usr/bin/env python3
"""The atlas's record of a finished study, its primary cells and where they come from: records.py RECORD FOLDER COMMAND...

Records of before 29 November 2026 had no `regime` of arms, which was added to baselines of claims; and a contrast has, as `judged`, what the present
rules and its source's range say of it where that differs from its report, and an arm of a ladder the compute that it is `worth`."""

import collections
import hashlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def cell_of(arm):
    return next((cell for cell in arm["cells"] if cell["primary"]), None)


def arm_record(arm, runs):
    """What is kept of an arm and of its runs."""
    cell = cell_of(arm)
    others = {other["test_set"]: [other["sample"]["mean"], other["sample"]["deviation"]] for other in arm["cells"] if other["metric"] == cell["metric"]}
    noise = [round(run["gradient_noise"], 1) for run in runs if run.get("gradient_noise", "NaN") != "NaN"]
    optional = {"control": arm.get("control"), "regime": arm.get("regime"), "contrast": cell.get("contrast"), "gradient_noise": noise,
                "others": others if len(others) > 1 else None}
    return {"parameters": arm["parameters"], "steps": runs[0]["steps"], "test_set": cell["test_set"], "extrapolates": cell["extrapolates"],
            **{key: cell["sample"][key] for key in ("mean", "deviation", "values")}, **{key: value for key, value in optional.items() if value}}


def task_record(task, runs):
    arms = {arm["name"]: arm_record(arm, [run for run in runs if (run["task"], run["arm"]) == (task["name"], arm["name"])])
            for arm in task["arms"] if cell_of(arm)}
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


def refuse_changes(program, root=ROOT):
    """Ends with a message if the program or a study of the atlas is not as it was committed: nobody could repeat the record."""
    if "-dirty" in program:
        sys.exit(f"atlas: the program was built from changes that are not committed ({program}); commit them, build it and run the study again")
    changed = git("status", "--porcelain", "--", "experiments/atlas/*.yaml", ":!experiments/atlas/claims.yaml", ":!experiments/atlas/history.yaml", root=root)
    if changed:
        sys.exit(f"atlas: studies have changes that are not committed; commit them first:\n{changed}")


def record_of(folder, command):
    results = json.loads((folder / "results.json").read_text())
    runs = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    machines = [json.loads(path.read_text()) for path in sorted(folder.glob("*/*/seed-*/environment.json"))]
    program, processor, instructions = (", ".join(sorted({machine["starts"][0][what] for machine in machines}))
                                        for what in ("commit", "processor", "cpu_capability"))
    refuse_changes(program)
    seconds = sum(json.loads(path.read_text())["training_seconds"] for path in folder.glob("*/*/seed-*/result.json"))
    tasks = {task["name"]: task_record(task, runs) for task in results["tasks"]}
    add_choices(tasks, results.get("tuning", {"arms": []}))
    return {"study": results["study"], "question": results["question"], "confirmatory": results["confirmatory"], "seeds": results["seeds"], "command": command,
            "commit": git("rev-parse", "--short=10", "HEAD"), "program": program, "study_sha256": hashlib.sha256((folder / "study.yaml").read_bytes()).hexdigest(),
            "data_sha256": sorted({run["data_sha256"] for run in runs}), "processor": processor, "instructions": instructions,
            "core_minutes": round(seconds * machines[0]["threads"] / 60, 1), "expectations": results["expectations"], "tasks": tasks,
            "ladders": results.get("ladders", [])}


def git(*words, root=ROOT):
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record_of(pathlib.Path(sys.argv[2]), " ".join(sys.argv[3:])), indent=1) + "\n")
