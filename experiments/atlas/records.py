"""The atlas's record of a finished study: its primary cells, and where they come from."""

import json
import re
import subprocess

import claims

AT_AN_END = re.compile(r"(?P<task>.+): the best \S+ of (?P<arm>\S+) is \S+, the (?P<end>smallest|largest) that was tried")


def cell_of(arm):
    return next(cell for cell in arm["cells"] if cell["primary"])


def arm_record(arm, steps):
    cell = cell_of(arm)
    record = {"parameters": arm["parameters"], "steps": steps, "tuned": arm["tuned"], "test_set": cell["test_set"],
              "extrapolates": cell["extrapolates"], "mean": cell["sample"]["mean"], "deviation": cell["sample"]["deviation"], "values": cell["sample"]["values"]}
    return record | ({"contrast": cell["contrast"]} if "contrast" in cell else {})


def task_record(task, steps):
    """One task; `steps` is by task and arm."""
    arms = {arm["name"]: arm_record(arm, steps[task["name"], arm["name"]])
            for arm in task["arms"] if any(cell["primary"] for cell in arm["cells"])}
    return {"metric": task["metric"], "direction": cell_of(task["arms"][0])["direction"], "comparisons": task["comparisons"],
            "arms": arms}


def mark_ends(tasks, notes):
    """Says of each tuned arm whether its best value was the smallest or the largest that was tried, which the report notes."""
    for found in filter(None, map(AT_AN_END.match, notes)):
        tasks[found["task"]]["arms"][f"{found['arm']}-tuned"]["best_was"] = found["end"]


def record_of(folder, command):
    results = json.loads((folder / "results.json").read_text())
    runs = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    steps = {(run["task"], run["arm"]): run["steps"] for run in runs}
    start = json.loads(next(folder.glob("*/*/seed-*/environment.json")).read_text())
    seconds = sum(json.loads(path.read_text())["training_seconds"] for path in folder.glob("*/*/seed-*/result.json"))
    tasks = {task["name"]: task_record(task, steps) for task in results["tasks"]}
    mark_ends(tasks, results["notes"])
    return {"study": results["study"], "question": results["question"], "seeds": results["seeds"], "command": command,
            "commit": commit(), "processor": start["starts"][0]["processor"],
            "instructions": start["starts"][0]["cpu_capability"], "core_minutes": round(seconds * start["threads"] / 60, 1),
            "expectations": [{"text": one["text"], "numbers": one["numbers"], "holds": one["holds"]}
                             for one in results["expectations"]],
            "tasks": tasks}


def commit():
    done = subprocess.run(["git", "-C", claims.ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()
