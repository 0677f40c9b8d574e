"""Where the program lies, what it needs, and how it is started."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import NoReturn

NOT_STARTED = 7  # the program's own exit code for that
OURS = pathlib.Path(__file__).resolve().parent


class AblateError(RuntimeError):
    """The program has failed. The message is its own, and `exit_code` is one of docs/troubleshooting.md."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message, exit_code)  # all of it, with which pickle makes it again in another process
        self.exit_code = exit_code

    def __str__(self) -> str:
        return str(self.args[0])


def program() -> pathlib.Path:
    """The program: that of the environment variable ABLATE, else the one of this wheel."""
    return pathlib.Path(os.environ.get("ABLATE") or OURS / "bin" / "ablate")


def _libc_problem() -> str:
    name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    needed = max(map(int, re.findall(rb"GLIBC_2\.(\d+)\0", program().read_bytes())), default=0)
    if name == "glibc" and int(version.split(".")[1]) >= needed:
        return ""
    return (f"this build of ablate needs glibc 2.{needed} and this machine has {name} {version}; install the wheel for manylinux, or build "
            "ablate on the oldest machine that it is to run on")


def _environment() -> Mapping[str, str]:
    """What the program is started with, which says itself if torch has another version than it needs. Throws AblateError."""
    if "ABLATE" in os.environ:
        return os.environ
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.submodule_search_locations is None:
        needed = next((line for line in importlib.metadata.requires("ablate-lab") or [] if line.startswith("torch")), "torch")
        raise AblateError("torch, with whose libraries ablate computes, is not installed here; install it with: "
                          f"{sys.executable} -m pip install '{needed}'", NOT_STARTED)
    if problem := _libc_problem():
        raise AblateError(problem, NOT_STARTED)
    torch = pathlib.Path(spec.submodule_search_locations[0])
    if torch.parent == OURS.parent:  # where the program looks itself
        return os.environ
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, [str(torch / "lib"), os.environ.get("LD_LIBRARY_PATH")]))}


def main() -> NoReturn:
    """The command `ablate`: this process becomes the program, so signals and exit codes are the program's."""
    try:
        environment = _environment()
        os.execve(program(), ["ablate", *sys.argv[1:]], environment)
    except AblateError as error:
        print(f"ablate: {error}", file=sys.stderr)
    except OSError as error:
        print(f"ablate: {program()} cannot be started: {error.strerror}", file=sys.stderr)
    sys.exit(NOT_STARTED)


def call(*words: object, input: str = "", show: bool = False) -> str:
    """Runs `ablate WORDS` on the text `input` and returns what it prints; with `show`, its messages appear as they come. Throws
    AblateError. If the call is interrupted, the program saves and ends first."""
    environment, said = dict(_environment()), []
    with tempfile.TemporaryFile("w+", encoding="utf-8") as given, tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        given.write(input)
        given.seek(0)
        process = subprocess.Popen([program(), *map(str, words)], env=environment, stdin=given, stdout=printed, stderr=subprocess.PIPE,
                                   text=True, encoding="utf-8", errors="replace")
        try:
            for line in process.stderr or ():
                said.append(line)
                if show:
                    sys.stderr.write(line)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        if process.wait() != 0:
            message = ("\n" + "".join(said)).rpartition("\nablate: ")[2].strip()  # what it said last
            raise AblateError(message or f"ablate ended with exit code {process.returncode}", process.returncode)
        printed.seek(0)
        return printed.read()
