"""Where the program lies, what it needs, and how it is started."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ablate_lab._arguments import text, word

NOT_STARTED = 7  # the program's own exit code for that
OURS = pathlib.Path(__file__).resolve().parent
STARTED_IN = pathlib.Path.cwd()


class AblateError(RuntimeError):
    """The program has failed. The message is its own, and `exit_code` is one of docs/troubleshooting.md."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message, exit_code)  # all of it, with which pickle makes it again in another process
        self.exit_code = exit_code

    def __str__(self) -> str:
        return str(self.args[0])


def program() -> pathlib.Path:
    """The program: that of the environment variable ABLATE, which a change of the folder leaves where it is, else the one of this wheel."""
    return STARTED_IN / (os.environ.get("ABLATE") or OURS / "bin" / "ablate")


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


def _cannot_start(error: OSError) -> AblateError:
    return AblateError(f"{program()} cannot be started: {error.strerror}", NOT_STARTED)


def main() -> NoReturn:
    """The command `ablate`: this process becomes the program, so signals and exit codes are the program's."""
    try:
        os.execve(program(), ["ablate", *sys.argv[1:]], _environment())
    except OSError as error:
        print(f"ablate: {_cannot_start(error)}", file=sys.stderr)
    except AblateError as error:
        print(f"ablate: {error}", file=sys.stderr)
    sys.exit(NOT_STARTED)


@contextlib.contextmanager
def _pipe() -> Iterator[int]:
    """The reading end of a pipe whose other end is closed when the block is left, or when this process ends, however that happens."""
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(write)
        os.close(read)


def _stop_at_the_end_of(pipe: int, process: subprocess.Popen[str]) -> None:
    """The process, which has the pipe too, gets a SIGTERM when its other end is closed."""
    fcntl.fcntl(pipe, fcntl.F_SETOWN, process.pid)
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)


def _start(words: Sequence[object], pipe: int, **streams: Any) -> subprocess.Popen[str]:
    """Only the main thread is told of Ctrl-C and passes it on, so a program of its own is kept from the signal that terminals and Jupyter
    send to the whole process group; one of another thread needs that signal. Throws AblateError and TypeError."""
    spelled = [word(each) for each in words]
    apart = threading.current_thread() is threading.main_thread()
    try:
        return subprocess.Popen([program(), *spelled], env=_environment(), start_new_session=apart, pass_fds=[pipe], stderr=subprocess.PIPE,
                                text=True, encoding="utf-8", errors="replace", **streams)
    except OSError as error:
        raise _cannot_start(error) from None


def _messages(process: subprocess.Popen[str], show: bool) -> str:
    """The standard error of the program until it has ended."""
    said = []
    for line in process.stderr or ():
        said.append(line)
        if show:
            sys.stderr.write(line)
    process.wait()
    return "".join(said)


def call(*words: object, input: str | None = None, show: bool = False) -> str:
    """Runs `ablate WORDS` on the text `input` and returns what it prints; with `show`, its messages appear as they come. Throws
    AblateError, and TypeError for what is no word or no text. If the call is interrupted, the program saves and ends first; a second
    interrupt does not wait for that."""
    with (tempfile.TemporaryFile("w+", encoding="utf-8") as given, _pipe() as pipe,
          tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as printed):
        given.write("" if input is None else text(input, "input"))
        given.seek(0)
        with _start(words, pipe, stdin=given, stdout=printed) as process:
            try:
                _stop_at_the_end_of(pipe, process)
                said = _messages(process, show)
            except BaseException:
                process.send_signal(signal.SIGINT)
                _messages(process, show)
                raise
        if process.returncode != 0:
            message = ("\n" + said).rpartition("\nablate: ")[2].strip()  # what it said last
            raise AblateError(message or f"ablate ended with exit code {process.returncode}", process.returncode)
        printed.seek(0)
        return printed.read()
