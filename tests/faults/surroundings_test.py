"""The same study in other surroundings leaves the same bytes, but for times, sizes of memory and paths.

    python3 tests/faults/surroundings_test.py build/ablate

Surroundings are how many runs go at a time, the folder, the locale, the time zone and the mask of permissions. The
report of one and the same study, which holds times, is then made again in each of them and has to be the same, too.
"""

import contextlib
import json
import os
import pathlib
import re
import stat
import struct
import subprocess
import sys
import tempfile

from faults import STUDY, VARYING, differences, steady

# Two arms and two seeds of which little is alike: precision, experts, dropout, what is observed.
ARMS = """arms:
  base: { model.dropout: 0.1, training.observe: { every: 8 } }
  more: { model.feed_forward: { kind: moe, experts: 4, active: 2, d_hidden: 12 }, training.precision: bf16 }
compare: { baseline: base, metric: exact_match }
"""
LOCALES = ("de_DE", "tr_TR")  # a decimal comma, and an i whose capital is no I
# Made again from the runs: held against one another where the runs are the same.
REPORT = {"report.html", "results.csv", "results.json", "results.jsonl", "table.txt", "table.md", "table.tex"}
PATHS = {"data_folder"}
BEGINNINGS = {"began", "sha256"}  # beside VARYING; a digest of what holds a time
TIMED = re.compile(rb"(_per_second|[_/]seconds)\x15.{4}", re.DOTALL)  # a scalar of an event
SPEEDS = re.compile(r"\d+ tokens/s +[\d:]+<[\d:]+|, \d+:\d\d ")


class Surroundings:
    """Where a program runs: the same as ever but for what is named."""

    def __init__(self, name, jobs=1, output="out", mask=0o022, **environment):
        self.name, self.jobs, self.output, self.mask, self.environment = name, jobs, output, mask, environment

    def run(self, command, folder):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LC_") and key != "LANG"}
        ended = subprocess.run([str(part) for part in command], cwd=folder, env=environment | self.environment,
                               umask=self.mask, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert ended.returncode == 0, f"{self.name}: exit code {ended.returncode}\n{ended.stdout.decode()}"


def locales(folder):
    """The locales of this name that can be made here, from what Debian's package `locales` holds."""
    for name in LOCALES:
        with contextlib.suppress(OSError):
            made = folder / f"{name}.UTF-8"
            command = ["localedef", "-i", name, "-f", "UTF-8", made]
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                yield Surroundings(name, LC_ALL=made.name, LANG=made.name, LOCPATH=str(folder))


def all_surroundings(folder):
    return [Surroundings("as ever"), Surroundings("two jobs", jobs=2), Surroundings("folder", output="ein Übungsordner"),
            Surroundings("C", LC_ALL="C"), *locales(folder),
            Surroundings("time zone", TZ="Pacific/Kiritimati"), Surroundings("mask", mask=0o077)]


def events_of(path):
    """The events of a file for TensorBoard without their times."""
    data, at, events = path.read_bytes(), 0, []
    while at < len(data):
        length = struct.unpack_from("<Q", data, at)[0]
        event = data[at + 12:at + 12 + length]
        assert event[0] == 0x09, f"{path}: an event does not begin with its time"
        events.append(event[9:])
        at += 16 + length
    return [TIMED.sub(rb"\1", event) for event in events if b"_hparams_/session" not in event]


def without_times(path, output):
    if path.suffix == ".json":
        return steady(json.loads(path.read_bytes()), VARYING | PATHS | BEGINNINGS)
    if path.suffix == ".jsonl":
        return [steady(json.loads(line), VARYING | PATHS | BEGINNINGS) for line in path.read_bytes().splitlines()]
    if path.name.startswith("events."):
        return events_of(path)
    if path.name == "log.txt":
        return SPEEDS.sub("", path.read_text()).replace(str(output), "")
    return path.read_bytes()


def left_by(output):
    """What a study leaves, by name and without times. Files of events are named by their time, so they are counted."""
    found, events = {}, {}
    for path in sorted(output.rglob("*")):
        if path.is_dir() or path.name in REPORT or "claims" in path.parts:
            continue
        name = str(path.relative_to(output))
        if path.name.startswith("events."):
            events[path.parent] = events.get(path.parent, 0) + 1
            name = str((path.parent / f"events {events[path.parent]}").relative_to(output))
        found[name] = without_times(path, output)
    return found


def report_of(study):
    return {name: (study / name).read_bytes() for name in REPORT}


def open_to_others(output):
    return [str(path) for path in output.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077]


def wrong_in(where, program, folder, expected):
    """What differs in these surroundings; `expected` is what the first of them left and reported."""
    home = folder / where.name
    home.mkdir()
    where.run([program, "run", folder / "study.yaml", "--output", where.output, "--jobs", where.jobs], home)
    left = left_by(home / where.output)
    study = folder / "as ever" / "out" / "faults"
    where.run([program, "report", study], home)
    wrong = differences(left, expected.setdefault("left", left))
    wrong += differences(report_of(study), expected.setdefault("report", report_of(study)))
    return wrong + (open_to_others(home / where.output) if where.mask == 0o077 else [])


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    failed = False
    with tempfile.TemporaryDirectory(prefix="ablate-surroundings-") as name:
        folder, expected = pathlib.Path(name), {}
        (folder / "study.yaml").write_text(STUDY.replace("seeds: [1]", "seeds: [1, 2]") + ARMS)
        for where in all_surroundings(folder):
            wrong = wrong_in(where, program, folder, expected)
            failed = failed or bool(wrong)
            print(f"{where.name}: {'differs in ' + ', '.join(wrong[:5]) if wrong else 'the same'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
