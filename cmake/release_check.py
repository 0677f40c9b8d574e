"""Runs everything that a release is held to: release_check.py [PART...]

Each part runs unless it has passed on this very tree, so that a check that was interrupted goes on where it was. The outcome of a part
stands in build-release-check/results.jsonl, its output in build-release-check/<part>.log, and a table of all parts is written to
docs/results/release_check.md, which is not counted as part of the tree. A part may be left out by its own word: a line "skipped: ..." and a
failure. Without names all parts run. Ends with 1 if one of them fails, and with 2 if the tree has changes that are not committed.
"""

import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
FOLDER = "build-release-check"
PAGE = "docs/results/release_check.md"
# The name of a part and its command, the quick ones first.
PARTS = {
    "ci": ".ci/run",
    "syntax": "make syntax",
    "licences": "make licences",
    "cluster": "make test-cluster",
    "python": "make test-python",
    "numbers": "make test-numbers",
    "combinations": "make test-combinations",
    "exchange": "make test-exchange",
    "portable": "make test-portable",
    "tsan": "make test-tsan",
    "asan": "make test-asan",
    "cuda": "make cuda-check",
    "torch": "make torch-check",
    "files": "make release",
    "install": "make test-install",
    "install-source": "make test-install SOURCE=1",
    "debian-13": "make test-fresh SUITES=trixie",
    "ubuntu-24.04": "make test-fresh SUITES=noble",
    "long": "make test-long",
    "night": "make test-night",
    "fuzz": "make fuzz",
    "release": "make test-release",
}
HEAD = """# Release check

What `make release-check` has found: every part of it, by its last run. `make release-check PARTS="asan fuzz"` runs some of them, and a part
that has passed on this tree does not run again. A result of an earlier commit is of the program as it was then.

| part | command | result | commit | machine | date | minutes |
|---|---|---|---|---|---|---:|
"""


@dataclasses.dataclass(frozen=True)
class Outcome:
    part: str
    command: str
    tree: str
    commit: str
    result: str  # "passed", "failed: ..." or "skipped: ..."
    machine: str
    date: str
    minutes: int


def git(source, *words):
    return subprocess.run(["git", "-C", source, *words], text=True, stdout=subprocess.PIPE, check=True).stdout


def tree_of(source):
    """A digest of all committed files but the page of the results."""
    files = [line for line in git(source, "ls-tree", "-r", "HEAD").splitlines() if not line.endswith(f"\t{PAGE}")]
    return hashlib.sha256("\n".join(files).encode()).hexdigest()


def changes(source):
    """The files that differ from the last commit, but for the page."""
    return [line[3:] for line in git(source, "status", "--porcelain", "--untracked-files=all").splitlines() if line[3:] != PAGE]


def machine():
    """The processor, its cores and the system, without a name."""
    cpus = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", cpus, re.M)
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"{os.cpu_count()} cores of {model[1].strip() if model else platform.machine()}, {system}"


def last_outcomes(file):
    """{part: its last outcome}."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {outcome.part: outcome for outcome in (Outcome(**json.loads(line)) for line in lines)}


def verdict(code, output):
    """What a part ended with; the reason of a failure is the first line of an error, else of a warning, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
    if code == 0:
        return "passed"
    skipped = next((line for line in reversed(lines[-40:]) if line.startswith("skipped: ")), None)
    if skipped:
        return skipped
    reasons = (r": error: |\*\*\*Failed|: Failure$|^(FAIL|ERROR): |Error: ", r": warning: ")
    reason = next((line for pattern in reasons for line in lines if re.search(pattern, line)), lines[-1])
    return f"failed: {reason[:160]}"


def run(command, source, log):
    """The exit code and the output of a command, which also goes to a log; an interrupt ends it with all its processes."""
    pressed = []
    # An interrupt waits until there is a process that it can end.
    handler = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    with open(log, "w") as file:
        process = subprocess.Popen(["bash", "-c", command], cwd=source, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            signal.signal(signal.SIGINT, handler)
            if pressed:
                raise KeyboardInterrupt
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    return code, log.read_text(errors="replace")


def table(parts, outcomes, tree):
    """The page with a row for every part."""
    rows = []
    for part, command in parts.items():
        found = outcomes.get(part)
        if not found:
            rows.append(f"| {part} | `{command}` | not run | | | | |")
            continue
        result = found.result.replace("|", "\\|") + ("" if found.tree == tree else ", at an earlier commit")
        rows.append(f"| {part} | `{command}` | {result} | {found.commit} | {found.machine} | {found.date} | {found.minutes} |")
    return HEAD + "\n".join(rows) + "\n"


def check(source, parts, wanted):
    """Runs the wanted parts that have not passed on this tree; the outcomes of all."""
    folder = source / FOLDER
    folder.mkdir(exist_ok=True)
    file, page = folder / "results.jsonl", source / PAGE
    tree, commit = tree_of(source), git(source, "rev-parse", "--short=10", "HEAD").strip()
    outcomes = last_outcomes(file)
    for number, part in enumerate(wanted, 1):
        before = outcomes.get(part)
        if before and (before.tree, before.command, before.result) == (tree, parts[part], "passed"):
            print(f"[{number}/{len(wanted)}] {part}: passed on this tree before", flush=True)
            continue
        print(f"[{number}/{len(wanted)}] {part}: {parts[part]}", flush=True)
        start = time.monotonic()
        code, output = run(parts[part], source, folder / f"{part}.log")
        if tree_of(source) != tree or changes(source):
            sys.exit(f"{part}: the tree has changed meanwhile, so this result is of no commit: {' '.join(changes(source)) or 'a new commit'}")
        outcomes[part] = Outcome(part, parts[part], tree, commit, verdict(code, output), machine(), datetime.date.today().isoformat(),
                                 round((time.monotonic() - start) / 60))
        with open(file, "a") as lines:
            lines.write(json.dumps(dataclasses.asdict(outcomes[part])) + "\n")
        page.write_text(table(parts, outcomes, tree))
        print(f"    {outcomes[part].result} ({outcomes[part].minutes} minutes, {FOLDER}/{part}.log)", flush=True)
    page.write_text(table(parts, outcomes, tree))
    return outcomes


def main(source, parts, words):
    unknown = [word for word in words if word not in parts]
    if unknown:
        print(f"release-check: there is no part {' '.join(unknown)}; the parts are {' '.join(parts)}", file=sys.stderr)
        return 2
    if changes(source):
        print(f"release-check: a release is what is committed, and these files are not: {' '.join(changes(source))}", file=sys.stderr)
        return 2
    outcomes = check(source, parts, words or list(parts))
    print((source / PAGE).read_text().partition("\n\n| ")[2], end="")
    return 1 if any(outcomes[part].result.startswith("failed") for part in words or parts) else 0


if __name__ == "__main__":
    sys.exit(main(SOURCE, PARTS, sys.argv[1:]))
