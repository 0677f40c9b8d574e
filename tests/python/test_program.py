"""The command `ablate` of the wheel, and how failures are told."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import STUDY

import ablate_lab
from ablate_lab import _program


def command(*words, **environment):
    """The exit code and the error of `ablate` in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "ablate_lab", *words], env={**os.environ, **environment}, text=True, capture_output=True)
    return done.returncode, done.stderr


def test_the_command_is_the_program_with_its_exit_codes():
    assert command("--version") == (0, "")
    assert command("run", "none.yaml") == (2, "ablate: none.yaml: cannot be read: No such file or directory\n")


def test_the_command_becomes_the_program(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho $$; exit 75\n")
    program.chmod(0o755)
    process = subprocess.Popen([sys.executable, "-m", "ablate_lab"], env={**os.environ, "ABLATE": str(program)}, stdout=subprocess.PIPE, text=True)
    assert int(process.communicate()[0]) == process.pid
    assert process.returncode == 75


def test_a_program_that_is_not_there_is_named(tmp_path):
    assert command(ABLATE=f"{tmp_path}/nothing") == (7, f"ablate: {tmp_path}/nothing cannot be started: No such file or directory\n")


def test_without_torch_the_command_says_how_to_install_it(monkeypatch):
    monkeypatch.delenv("ABLATE", raising=False)
    monkeypatch.setattr(_program.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(_program.importlib.metadata, "requires", lambda name: ["pandas", "torch==2.13.*"])
    with pytest.raises(ablate_lab.AblateError, match=r"torch, .* is not installed here; install it with: .* -m pip install 'torch==2\.13\.\*'") as raised:
        ablate_lab.call("doctor")
    assert raised.value.exit_code == 7


@pytest.mark.parametrize("libc", ["glibc 2.28", "musl 1.2.5"])
def test_a_libc_that_is_too_old_is_told_in_one_sentence(libc, tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.17\0GLIBCXX_3.4.30\0")
    monkeypatch.setattr(_program, "program", lambda: program)
    monkeypatch.setattr(_program.os, "confstr", lambda name: libc)
    assert _program._libc_problem().startswith(f"this build of ablate needs glibc 2.34 and this machine has {libc}; install the wheel for")
    monkeypatch.setattr(_program.os, "confstr", lambda name: "glibc 2.34")
    assert _program._libc_problem() == ""


def test_a_torch_elsewhere_is_where_the_program_looks_first(tmp_path, monkeypatch):
    monkeypatch.delenv("ABLATE", raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/before")
    monkeypatch.setattr(_program, "_libc_problem", lambda: "")
    spec = _program.importlib.machinery.ModuleSpec("torch", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "torch")]
    monkeypatch.setattr(_program.importlib.util, "find_spec", lambda name: spec)
    assert _program._environment()["LD_LIBRARY_PATH"] == f"{tmp_path}/torch/lib:/before"
    spec.submodule_search_locations = [str(_program.OURS.parent / "torch")]
    assert _program._environment()["LD_LIBRARY_PATH"] == "/before"


def test_an_error_has_the_last_message_of_the_program_alone(tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 'ablate: a note' >&2\necho progress >&2\necho 'ablate: first line' >&2\necho '  second' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("ABLATE", str(program))
    with pytest.raises(ablate_lab.AblateError) as raised:
        ablate_lab.call()
    assert (str(raised.value), raised.value.exit_code) == ("first line\n  second", 3)
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    with pytest.raises(ablate_lab.AblateError, match="ablate ended with exit code -9"):
        ablate_lab.call()


def test_an_interrupted_call_lets_the_program_save(tmp_path):
    def interrupt():
        while not list(tmp_path.glob("tiny/reverse/with/seed-1/metrics.jsonl")):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        ablate_lab.run(STUDY, set={"training.steps": 100_000, "training.schedule.kind": "constant"}, seeds=[1], arms=["with"], threads=1,
                       output=tmp_path, show=False)
    assert list(tmp_path.glob("tiny/reverse/with/seed-1/checkpoints/step-*")), "it has saved"


def test_call_gives_input_and_returns_output():
    assert "Train and evaluate" in ablate_lab.call("help", "run")
    assert isinstance(ablate_lab.program(), pathlib.Path)
