"""A full process table, too few open files and too little memory: a study says why it stops, and the same command ends it
afterwards.

    python3 tests/faults/shortage_test.py build/ablate [--all]

The limits are the kernel's own, RLIMIT_NPROC, RLIMIT_NOFILE and RLIMIT_AS. The first holds only for a user without privileges who has
no other processes, so root takes a number that no user has; without root that part is left out. --all tries every limit,
otherwise every third.
"""

import os
import pathlib
import resource
import subprocess
import sys

from faults import STUDY as BASE
from faults import Laboratory, differences, left_by

NOBODY = 58_231  # no user has this number
STUDY = "two"
GOOD, MEMORY, IO, LOADER = 0, 6, 7, 127
REASON = {resource.RLIMIT_NOFILE: "Too many open files", resource.RLIMIT_NPROC: "no more processes or threads"}
PROCESSES = range(1, 19)
FILES = range(4, 40)


def limited(lab, output, limit, value, user=None, study=STUDY):
    """The study under a limit: its exit code and what it said."""

    def restrict():
        resource.setrlimit(limit, (value, value))
        if user is not None:
            os.setgid(user)
            os.setuid(user)

    ended = subprocess.run([str(part) for part in lab.command(study, output)], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, preexec_fn=restrict, check=False)
    return ended.returncode, ended.stdout.decode("utf-8", "replace")


def wrong_with(lab, expected, limit, value, user=None):
    """What is wrong with a study under this limit and with the same command without it; nothing if all is well."""
    output = lab.folder / f"limited-{limit}-{value}"
    output.mkdir()
    if user is not None:
        os.chown(output, user, user)
    code, said = limited(lab, output, limit, value, user)
    if code == LOADER and "error while loading shared libraries" in said:
        return None  # before the program began
    if code != GOOD and (code != IO or REASON[limit] not in said):
        return f"exit code {code}\n{said}"
    again = lab.run(lab.command(STUDY, output), output)
    if again.code != GOOD:
        return f"the same command without the limit: exit code {again.code}\n{again.output}"
    found = differences(left_by(output), expected)
    return f"differs from an undisturbed study in {found}" if found else None


def tried(lab, name, limit, values, user=None):
    """How many of these limits go wrong."""
    expected, _ = lab.whole(STUDY)
    count = 0
    for value in values:
        wrong = wrong_with(lab, expected, limit, value, user)
        count += wrong is not None
        if wrong:
            print(f"{name} {value}: {wrong}\n", flush=True)
    print(f"{name} {values[0]} to {values[-1]}: {len(values)} limits, {count} wrong", flush=True)
    return count


def batch_without_room(lab):
    """What is wrong with how a study ends that has no memory for its first update; nothing if all is well."""
    study = lab.folder / "wide.yaml"
    study.write_text(BASE.replace("d_hidden: 24", "d_hidden: 1000000").replace("tokens_per_batch: 60", "tokens_per_batch: 4000"))
    code, said = limited(lab, lab.folder / "wide", resource.RLIMIT_AS, 3_000_000_000, study="wide")
    named = "out of memory at step 1, whose batch of" in said and "lower training.tokens_per_batch" in said
    return None if code == MEMORY and named else f"a batch that does not fit: exit code {code}\n{said}"


def main():
    step = 1 if "--all" in sys.argv else 3
    with Laboratory(pathlib.Path(sys.argv[1]).resolve()) as lab:
        lab.folder.chmod(0o755)
        wrong = tried(lab, "open files", resource.RLIMIT_NOFILE, FILES[::step])
        if unnamed := batch_without_room(lab):
            print(unnamed)
            wrong += 1
        if os.getuid() == 0:
            wrong += tried(lab, "processes", resource.RLIMIT_NPROC, PROCESSES[::step], NOBODY)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
