"""A full process table, too few open files and too little memory: a study says why it stops, and the same command ends it
afterwards.

    python3 tests/faults/shortage_test.py build/ablate [--all]

The limits are the kernel's own, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_AS and the memory of a control group, whose processes it kills. The
first holds only for a user without privileges who has no other processes, so root takes a number that no user has; without root that
part and the last one are left out, and so is the first below a folder that this user may not enter, such as root's home. --all tries
every limit, otherwise every third.
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
GROUPS = {pathlib.Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes", pathlib.Path("/sys/fs/cgroup"): "memory.max"}


def limited(lab, output, restrict, study=STUDY):
    """The study in a process that restricts itself first: its exit code and what it said."""
    ended = subprocess.run([str(part) for part in lab.command(study, output)], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, preexec_fn=restrict, check=False)
    return ended.returncode, ended.stdout.decode("utf-8", "replace")


def wrong_with(lab, expected, limit, value, user=None):
    """What is wrong with a study under this limit and with the same command without it; nothing if all is well."""
    output = lab.folder / f"limited-{limit}-{value}"
    output.mkdir()
    if user is not None:
        os.chown(output, user, user)

    def restrict():
        resource.setrlimit(limit, (value, value))
        if user is not None:
            os.setgid(user)
            os.setuid(user)

    code, said = limited(lab, output, restrict)
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


def may_run(program, user):
    """Whether this user reaches the program and its libraries."""
    try:
        return subprocess.run([program, "--version"], user=user, group=user, extra_groups=[], cwd="/", stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == GOOD
    except PermissionError:
        return False


def with_few_processes(lab, step):
    """How many limits on processes go wrong; none where no user without privileges may run the program."""
    if may_run(lab.program, NOBODY):
        return tried(lab, "processes", resource.RLIMIT_NPROC, PROCESSES[::step], NOBODY)
    print(f"no other user may run {lab.program}, so a full process table is left out: it takes a checkout outside of root's home")
    return 0


def without_room(lab, restrict, reasons):
    """What is wrong with how a study ends that has no memory for its first update; nothing if all is well."""
    study = lab.folder / "wide.yaml"
    study.write_text(BASE.replace("d_hidden: 24", "d_hidden: 1000000").replace("tokens_per_batch: 60", "tokens_per_batch: 4000"))
    code, said = limited(lab, lab.folder / f"wide-{restrict.__name__}", restrict, "wide")
    if code == MEMORY and all(reason in said for reason in reasons):
        return None
    return f"a batch that does not fit, {restrict.__name__}: exit code {code}\n{said}"


def mapped(program):
    """Bytes of the libraries that the program maps: 0.4 GB, or 2.9 GB if LibTorch has CUDA."""
    listed = subprocess.run(["ldd", str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    files = [line.split("=>")[1].split()[0] for line in listed.splitlines() if "=> /" in line]
    return sum(os.stat(file).st_size for file in files)


def addresses(program):
    """Room for the program and 2.5 GB of data."""
    limit = mapped(program) + 2_500_000_000

    def address_space():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return address_space


def small_group():
    """A control group of 1 GB; nothing where none can be made."""
    for parent, limit in GROUPS.items():
        group = parent / f"ablate-{os.getpid()}"
        try:
            group.mkdir()
            (group / limit).write_text("1000000000")
            return group
        except OSError:
            if group.exists():
                group.rmdir()
    return None


def killed_by_the_kernel(lab):
    """What is wrong where the kernel kills the run instead; nothing, too, where it cannot be made to."""
    group = small_group()
    if group is None:
        print("no control group can be made, so a run that the kernel kills is left out")
        return None

    def kernel():
        (group / "cgroup.procs").write_text(str(os.getpid()))

    try:
        return without_room(lab, kernel, ["signal 9 (Killed), which the system sends if memory is short"])
    finally:
        group.rmdir()


def main():
    step = 1 if "--all" in sys.argv else 3
    with Laboratory(pathlib.Path(sys.argv[1]).resolve()) as lab:
        lab.folder.chmod(0o755)
        wrong = tried(lab, "open files", resource.RLIMIT_NOFILE, FILES[::step])
        unnamed = [without_room(lab, addresses(lab.program), ["out of memory at step 1, whose batch of", "lower training.tokens_per_batch"])]
        if os.getuid() == 0:
            unnamed.append(killed_by_the_kernel(lab))
            wrong += with_few_processes(lab, step)
        for found in filter(None, unnamed):
            print(found)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
