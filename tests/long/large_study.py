"""A study of 10,000 runs: what takes how long, and whether the table has all of them.

    python3 tests/long/large_study.py build/ablate [seeds, of 10 arms each; absent: 1000]

Ten runs are truly trained. The others are theirs with another seed and other scores, since training them takes hours; their
records get digests of their own. Times are printed and judged by whoever reads them.
"""

import csv
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
from faults import STUDY  # noqa: E402

ARMS = 10
SCORES = ("exact_match", "token_accuracy", "perplexity", "validation_perplexity", "bleu", "chrf")
LOSSES = r'(?<=loss":)[0-9.]+|(?<=likelihood":)[0-9.]+'


def write_study(file, seeds):
    text = STUDY.replace("seeds: [1]", f"seeds: {list(range(1, seeds + 1))}").replace("steps: 24", "steps: 1")
    arms = "".join(f"  a{arm}: {{ training.schedule.peak: {0.001 * (arm + 1):.3f} }}\n" for arm in range(ARMS))
    file.write_text(f"{text}arms:\n{arms}compare: {{ baseline: a0, metric: exact_match, control: false }}\n")


def timed(what, command):
    began = time.monotonic()
    ended = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert ended.returncode == 0, ended.stdout.decode()
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)


def time_start(command, first):
    """Until the first run has begun; then it is asked to stop."""
    began = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not first.exists():
        time.sleep(0.01)
    print(f"run, until the first run begins: {time.monotonic() - began:.1f} s", flush=True)
    process.terminate()
    process.wait()


def text_of(record):
    """The bytes that the program writes of a record."""
    return json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def as_another(text, seed, dice):
    """A record of a run as one of another seed, with the digest of everything else in it."""
    record = json.loads(text)
    del record["sha256"]
    if "tests" in record:
        record |= {"seed": seed, "files": {}}
        for scores in (record, *record["tests"]):
            scores |= {name: round(dice.random(), 4) for name in SCORES if name in scores}
    return text_of(record | {"sha256": hashlib.sha256(text_of(record).encode()).hexdigest()})


def copy_run(one, seed, dice):
    to = one.parent / f"seed-{seed}"
    to.mkdir(exist_ok=True)
    for file in one.iterdir():
        if file.name in ("result.json", "environment.json"):
            (to / file.name).write_text(as_another(file.read_text(), seed, dice))
        elif file.name == "metrics.jsonl":
            (to / file.name).write_text(re.sub(LOSSES, lambda _: f"{1 + dice.random()}", file.read_text()))
        elif file.is_file() and not (to / file.name).exists():
            os.link(file, to / file.name)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory(prefix="ablate-large-") as name:
        study, output = pathlib.Path(name) / "large.yaml", pathlib.Path(name) / "out"
        write_study(study, seeds)
        run = [program, "run", study, "--output", output, "--jobs", "1"]
        timed("config check", [program, "config", "check", study])
        timed("run --dry-run", [*run, "--dry-run"])
        time_start(run, output / "faults/copy/a0/seed-1/environment.json")
        timed(f"run of {ARMS} runs", [*run, "--seeds", "1"])
        dice = random.Random(1)
        for arm in sorted((output / "faults/copy").iterdir()):
            for seed in range(2, seeds + 1):
                copy_run(arm / "seed-1", seed, dice)
        timed(f"report of {ARMS * seeds} finished runs", [program, "report", output / "faults"])
        timed("status", [program, "status", output / "faults"])
        timed("run, where all is done", run)
        with open(output / "faults/results.csv", encoding="utf-8") as table:
            counts = {row["n"] for row in csv.DictReader(table) if row["metric"] == "exact_match"}
        assert counts == {str(seeds)}, f"the table has {counts} seeds"


if __name__ == "__main__":
    main()
