"""The atlas's record of a finished study: its primary cells, and where they come from.

Records of before 29 November 2026 had no `regime` of arms, which was added to those of claims, and a contrast has what was judged of it later, by
the present rules and its source's range, as `judged`, if that differs.
"""

import collections
import hashlib
import json
import subprocess
import sys

import files


def cell_of(arm):
    return next(cell for cell in arm["cells"] if cell["primary"])


def arm_record(arm, steps):
    cell = cell_of(arm)
    record = {"parameters": arm["parameters"], "steps": steps, "test_set": cell["test_set"],
              "extrapolates": cell["extrapolates"], "mean": cell["sample"]["mean"], "deviation": cell["sample"]["deviation"], "values": cell["sample"]["values"]}
    others = {other["test_set"]: [other["sample"]["mean"], other["sample"]["deviation"]] for other in arm["cells"] if other["metric"] == cell["metric"]}
    record |= {"control": True} if arm.get("control") else {}
    record |= {"regime": arm["regime"]} if "regime" in arm else {}
    return record | ({"contrast": cell["contrast"]} if "contrast" in cell else {}) | ({"others": others} if len(others) > 1 else {})


def task_record(task, steps):
    """One task; `steps` is by task and arm."""
    arms = {arm["name"]: arm_record(arm, steps[task["name"], arm["name"]])
            for arm in task["arms"] if any(cell["primary"] for cell in arm["cells"])}
    return {"metric": task["metric"], "direction": cell_of(task["arms"][0])["direction"], "comparisons": task["comparisons"],
            "arms": arms}


def counted(choices):
    """The chosen values of each key, with the number of seeds that chose one if they differ: "4.0e-3 (2), 8.0e-3 (4)"."""
    if any(one is None for one in choices):
        return None
    found = {}
    for key in choices[0]:
        counts = collections.Counter(one[key] for one in choices)
        found[key] = next(iter(counts)) if len(counts) == 1 else ", ".join(f"{value} ({count})" for value, count in sorted(counts.items(), key=lambda one: float(one[0])))
    return found


def add_choices(tasks, tuning):
    """Says of each arm which values were chosen for it, and which of these are the smallest or the largest that were tried."""
    for found in tuning["arms"]:
        searches = found.get("seeds", [found])
        ends = {key: end for one in searches for key, end in one["at_edge"].items()}
        tasks[found["task"]]["arms"][found["arm"]] |= {"chosen": counted([one["chosen"] for one in searches]), "at_edge": ends}


def add_noise(tasks, runs):
    """Gives each arm the gradient noise of each of its runs, in target tokens, if they observed it."""
    for run in runs:
        arm = tasks.get(run["task"], {"arms": {}})["arms"].get(run["arm"])
        if arm is not None and run.get("gradient_noise", "NaN") != "NaN":
            arm.setdefault("gradient_noise", []).append(round(run["gradient_noise"], 1))


def named(machines, what):
    """What the runs began with, as "a" or "a, b"."""
    return ", ".join(sorted({machine["starts"][0][what] for machine in machines}))


def refuse_changed_studies(root=files.ROOT):
    """Ends with a message if a study of the atlas is not as it was committed: nobody could repeat the record."""
    changed = git("status", "--porcelain", "--", "experiments/atlas/*.yaml", ":!experiments/atlas/claims.yaml", ":!experiments/atlas/history.yaml", root=root)
    if changed:
        sys.exit(f"atlas: studies have changes that are not committed; commit them first:\n{changed}")


def refuse_changed_program(program):
    if "-dirty" in program:
        sys.exit(f"atlas: the program was built from changes that are not committed ({program}); commit them, build it and run the study again")


def record_of(folder, command):
    results = json.loads((folder / "results.json").read_text())
    runs = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    steps = {(run["task"], run["arm"]): run["steps"] for run in runs}
    machines = [json.loads(path.read_text()) for path in sorted(folder.glob("*/*/seed-*/environment.json"))]
    refuse_changed_program(named(machines, "commit"))
    seconds = sum(json.loads(path.read_text())["training_seconds"] for path in folder.glob("*/*/seed-*/result.json"))
    tasks = {task["name"]: task_record(task, steps) for task in results["tasks"]}
    add_choices(tasks, results.get("tuning", {"arms": []}))
    add_noise(tasks, runs)
    return {"study": results["study"], "question": results["question"], "seeds": results["seeds"], "command": command,
            "commit": git("rev-parse", "--short=10", "HEAD"), "program": named(machines, "commit"),
            "study_sha256": hashlib.sha256((folder / "study.yaml").read_bytes()).hexdigest(), "data_sha256": sorted({run["data_sha256"] for run in runs}), "processor": named(machines, "processor"),
            "instructions": named(machines, "cpu_capability"), "core_minutes": round(seconds * machines[0]["threads"] / 60, 1),
            "expectations": [{"text": one["text"], "numbers": one["numbers"], "holds": one["holds"]}
                             for one in results["expectations"]],
            "tasks": tasks, "ladders": results.get("ladders", [])}


def git(*words, root=files.ROOT):
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True).stdout.strip()
