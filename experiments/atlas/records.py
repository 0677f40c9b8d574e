#!/usr/bin/env python3
"""The atlas's record of a finished study, which has its primary cells: records.py RECORD RESULTS COMMIT COMMAND..."""

import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KEPT = ("study", "question", "confirmatory", "seeds", "provenance", "expectations", "ladders")


def arm_record(arm, cell):
    steps, others = arm["steps"]["mean"], [other for other in arm["cells"] if other["metric"] == cell["metric"]]
    found = {"parameters": arm["parameters"], "steps": 0 if steps == "NaN" else round(steps), "control": arm["control"], "regime": arm["regime"]}
    found |= {key: cell[key] for key in ("test_set", "contrast") if key in cell} | {key: cell["sample"][key] for key in ("mean", "deviation", "values")}
    return found | {"others": {other["test_set"]: [other["sample"]["mean"], other["sample"]["deviation"]] for other in others}}


def task_record(task):
    cells = {arm["name"]: (arm, cell) for arm in task["arms"] for cell in arm["cells"] if cell["primary"]}
    direction = next(cell["direction"] for _, cell in cells.values())
    return {"metric": task["metric"], "direction": direction, "comparisons": task["comparisons"],
            "arms": {name: arm_record(*of) for name, of in cells.items()}}


def choice_of(values):
    """The value that was chosen, or those with the number of seeds that chose them: "4.0e-3 (2), 8.0e-3 (4)"."""
    counts = collections.Counter(sorted(values, key=float))
    return ", ".join(f"{value} ({count})" if len(counts) > 1 else value for value, count in counts.items())


def add_choices(tasks, tuning):
    """Says of each arm which values were chosen for it, and which of these are the smallest or the largest that were tried."""
    for found in tuning["arms"]:
        searches = found.get("seeds", [found])
        tasks[found["task"]]["arms"][found["arm"]] |= {"chosen": {key: choice_of(one["chosen"][key] for one in searches) for key in searches[0]["chosen"]},
                                                       "at_edge": {key: end for one in searches for key, end in one["at_edge"].items()}}


def of_git(*words):
    return subprocess.run(["git", "-C", SOURCE, *words], capture_output=True).stdout


def whole_study(program, commit, path):
    """A study of a commit, with what it extends, as the program freezes it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=of_git("archive", commit, "experiments"), check=True)
        return subprocess.run([program, "config", "show", "--whole", f"{folder}/{path}"], capture_output=True, check=True).stdout


def study_sha256(commit, command):
    """That of the study that the command runs, as the commit has it; of nothing if it has none."""
    program, path = command.split()[0], next(word for word in command.split() if word.endswith(".yaml"))
    text = of_git("show", f"{commit}:{path}")
    return hashlib.sha256(whole_study(SOURCE / program, commit, path) if re.search(rb"^extends:", text, re.MULTILINE) else text).hexdigest()


def require_study_of_commit(results, commit, command):
    if results["provenance"]["study_sha256"] != study_sha256(commit, command):
        sys.exit(f"atlas: the study that ran is not the one of commit {commit}; name the commit of the study, or run it again")


def record_of(results, commit, command):
    if any("-dirty" in program for program in results["provenance"]["commits"]):
        sys.exit("atlas: a run is by a program with changes that no commit has; run the study again with one that has none")
    tasks = {task["name"]: task_record(task) for task in results["tasks"]}
    add_choices(tasks, results.get("tuning", {"arms": []}))
    return {"command": command, "commit": commit, **{key: results[key] for key in KEPT}, "tasks": tasks}


if __name__ == "__main__":
    record, file, commit, *words = sys.argv[1:]
    results = json.loads(pathlib.Path(file).read_text())
    require_study_of_commit(results, commit, " ".join(words))
    pathlib.Path(record).write_text(json.dumps(record_of(results, commit, " ".join(words)), indent=1) + "\n")
