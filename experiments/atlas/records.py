"""The atlas's record of a finished study: its primary cells, and where they come from."""

import json
import subprocess

import files


def cell_of(arm):
    return next(cell for cell in arm["cells"] if cell["primary"])


def arm_record(arm, steps):
    cell = cell_of(arm)
    record = {"parameters": arm["parameters"], "steps": steps, "test_set": cell["test_set"],
              "extrapolates": cell["extrapolates"], "mean": cell["sample"]["mean"], "deviation": cell["sample"]["deviation"], "values": cell["sample"]["values"]}
    others = {other["test_set"]: [other["sample"]["mean"], other["sample"]["deviation"]] for other in arm["cells"] if other["metric"] == cell["metric"]}
    return record | ({"contrast": cell["contrast"]} if "contrast" in cell else {}) | ({"others": others} if len(others) > 1 else {})


def task_record(task, steps):
    """One task; `steps` is by task and arm."""
    arms = {arm["name"]: arm_record(arm, steps[task["name"], arm["name"]])
            for arm in task["arms"] if any(cell["primary"] for cell in arm["cells"])}
    return {"metric": task["metric"], "direction": cell_of(task["arms"][0])["direction"], "comparisons": task["comparisons"],
            "arms": arms}


def add_choices(tasks, tuning):
    """Says of each arm which values were chosen for it, and which of these are the smallest or the largest that were tried."""
    for found in tuning["arms"]:
        tasks[found["task"]]["arms"][found["arm"]] |= {"chosen": found["chosen"], "at_edge": found["at_edge"]}


def add_noise(tasks, runs):
    """Gives each arm the gradient noise of each of its runs, in target tokens, if they observed it."""
    for run in runs:
        arm = tasks.get(run["task"], {"arms": {}})["arms"].get(run["arm"])
        if arm is not None and run.get("gradient_noise", "NaN") != "NaN":
            arm.setdefault("gradient_noise", []).append(round(run["gradient_noise"], 1))


def named(machines, what):
    """What the runs began with, as "a" or "a, b"."""
    return ", ".join(sorted({machine["starts"][0][what] for machine in machines}))


def record_of(folder, command):
    results = json.loads((folder / "results.json").read_text())
    runs = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    steps = {(run["task"], run["arm"]): run["steps"] for run in runs}
    machines = [json.loads(path.read_text()) for path in sorted(folder.glob("*/*/seed-*/environment.json"))]
    seconds = sum(json.loads(path.read_text())["training_seconds"] for path in folder.glob("*/*/seed-*/result.json"))
    tasks = {task["name"]: task_record(task, steps) for task in results["tasks"]}
    add_choices(tasks, results.get("tuning", {"arms": []}))
    add_noise(tasks, runs)
    return {"study": results["study"], "question": results["question"], "seeds": results["seeds"], "command": command,
            "commit": commit(), "program": named(machines, "commit"), "processor": named(machines, "processor"),
            "instructions": named(machines, "cpu_capability"), "core_minutes": round(seconds * machines[0]["threads"] / 60, 1),
            "expectations": [{"text": one["text"], "numbers": one["numbers"], "holds": one["holds"]}
                             for one in results["expectations"]],
            "tasks": tasks, "ladders": results.get("ladders", [])}


def commit():
    done = subprocess.run(["git", "-C", files.ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()
