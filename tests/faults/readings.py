"""Commands that read a study that has ended. Each gives how it ended, and a function for what has to be as ever: what it
left, or what it said."""

import hashlib
import os
import re
import shutil

from damage import read_back
from faults import Outcome, contents, left_by


def read(lab, command):
    code, said = lab.server.run(command)
    return Outcome(code, 0, said, 0, 0)


def report(lab, _, output, __):
    """Tables and report of the finished runs."""
    return read(lab, [lab.program, "report", output / "faults"]), lambda: left_by(output)


def again(lab, study, output, _):
    """The command that made the study, of which all is done."""
    return read(lab, lab.command(study, output)), lambda: left_by(output)


def status(lab, _, output, __):
    outcome = read(lab, [lab.program, "status", output / "faults"])
    return outcome, lambda: {"said": re.sub("since .*", "", outcome.output)}  # another run's record has another time


def evaluate(lab, _, __, run):
    """The scores of a run, once more."""
    outcome = read(lab, [lab.program, "eval", run])
    return outcome, lambda: {"said": outcome.output}


def export(lab, _, __, run):
    """The weights of a run, as safetensors."""
    to = lab.folder / "exported"
    shutil.rmtree(to, ignore_errors=True)
    return read(lab, lab.export(run, to)), lambda: contents(to)


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def verify(lab, _, output, run):
    """An exported program, held against the digest that is its name."""
    if not list(output.glob("*.pt")):
        made = output / "exported.pt"
        assert read(lab, [lab.program, "export", run, "--to", made]).code == 0
        made.rename(output / f"{digest_of(made)}.pt")
    program, = output.glob("*.pt")
    return read(lab, [lab.program, "verify", program, "--sha256", program.stem]), lambda: {"digest": digest_of(program)}


def files_read(reading, lab, study, output, run):
    """The files that it reads, and what has to be as ever: by the times of access, where the file system keeps them."""
    reading(lab, study, output, run)  # so that everything is there
    files = read_back(output)
    for path in files:
        os.utime(path, (0, path.stat().st_mtime))
    _, left = reading(lab, study, output, run)
    return [path for path in files if path.exists() and path.stat().st_atime > 0] or files, left()


READINGS = (report, again, status, evaluate, export, verify)
