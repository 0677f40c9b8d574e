"""Several programs on one folder at once: many starts of one study, two programs on one study, two studies below one folder.
There is one result of each run, the one that an undisturbed study has, and every start ends well. Copies of a loaded program
meet with faults as programs that load themselves.

    python3 tests/faults/together_test.py build/ablate [starts]

A program that has been loaded keeps 60 MB for itself, and so does each run that it starts; of more than 30 starts all are
copies of one process that has loaded it, which wait for one another before they begin.
"""

import json
import pathlib
import shutil
import subprocess
import sys

from faults import STUDY as BASE
from faults import Laboratory, differences, left_by

STUDY = "two"
STARTS, MOST_LOADED = 8, 30


def started_at_once(commands):
    """The exit code of each, and what it said."""
    processes = [subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                 for command in commands]
    said = [process.communicate()[0].decode() for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, said)]


def wrong_after(outcomes, output, expected):
    """What is wrong with how programs ended, and with what they left."""
    for code, said in outcomes:
        if code != 0:
            yield f"exit code {code}\n{said}"
    for file in output.rglob("environment.json"):
        trained = len(json.loads(file.read_text())["starts"])
        if trained != 1:
            yield f"{file.parent} was trained {trained} times"
    if different := differences(left_by(output), expected):
        yield f"differs from an undisturbed study in {different}"


def many_starts(lab, starts):
    expected, _ = lab.whole(STUDY)
    output = lab.folder / "together"
    command = lab.command(STUDY, output)
    outcomes = started_at_once([command] * starts) if starts <= MOST_LOADED else lab.server.run_at_once(command, starts)
    return wrong_after(outcomes, output, expected)


def two_programs(lab):
    """Another file of the same program, as after an installation."""
    expected, _ = lab.whole(STUDY)
    output, other = lab.folder / "programs", lab.folder / "other"
    shutil.copy2(lab.program, other)
    command = lab.command(STUDY, output)
    return wrong_after(started_at_once([command, [other, *command[1:]]]), output, expected)


def two_studies(lab):
    """Below one folder for output, each is as it is alone."""
    output, alone = lab.folder / "studies", lab.folder / "alone"
    names = ("one", "another")
    for name in names:
        (lab.folder / f"{name}.yaml").write_text(BASE.replace("name: faults", f"name: {name}"))
        assert lab.run(lab.command(name, alone), alone).code == 0
    return wrong_after(started_at_once([lab.command(name, output) for name in names]), output, left_by(alone))


def copies(lab):
    """Faults befall a copy as they do a program that loads itself, its workers included: as many calls are counted, but for
    those that a clock decides."""
    calls = {}
    for lab.copies in (False, True):
        output = lab.folder / f"copies-{lab.copies}"
        calls[lab.copies] = lab.run(lab.command(STUDY, output), output).calls
    lab.copies = False
    if calls[True] < 0.9 * calls[False]:
        yield f"{calls[True]} calls of copies are counted, and {calls[False]} of programs that load themselves"


def main():
    starts = int(sys.argv[2]) if len(sys.argv) > 2 else STARTS
    count = 0
    with Laboratory(pathlib.Path(sys.argv[1]).resolve()) as lab:
        for what, wrong in ((f"{starts} starts at once", many_starts(lab, starts)), ("two programs", two_programs(lab)),
                            ("two studies", two_studies(lab)), ("copies", copies(lab))):
            wrong = list(wrong)
            count += len(wrong)
            print("\n".join([*wrong, f"{what}: {len(wrong)} wrong"]), flush=True)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
