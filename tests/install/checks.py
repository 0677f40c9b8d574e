"""What an installed wheel must do, run by the Python of a fresh environment in an empty folder: checks.py FOLDER"""

import os
import pathlib
import signal
import subprocess
import sys

import ablate_lab

BIN = pathlib.Path(sys.executable).parent


def command(*words, **options):
    done = subprocess.run([BIN / "ablate", *map(str, words)], text=True, capture_output=True, **options)
    return done.returncode, done.stdout + done.stderr


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r} instead of {expected!r}")
    print(f"  {what}", flush=True)


def check_start(folder):
    code, output = command("doctor")
    same(f"doctor:\n{output}", code, 0)
    cuda = (ablate_lab.program().parent.parent.parent / "torch/lib/libtorch_cuda.so").exists()
    reason = "this LibTorch is one for CUDA, but the NVIDIA driver is not installed" if cuda else "this LibTorch is one for CPUs"
    same(f"no device, since {reason}", reason in output, True)
    same("an unknown verb ends with exit code 2", command("nonsense")[0], 2)
    # A library of LibTorch's name, as a module of a cluster may bring it.
    (folder / "libc10.so").write_text("no library")
    same("LD_LIBRARY_PATH does not come first", command("--version", env={**os.environ, "LD_LIBRARY_PATH": str(folder)})[0], 0)


def check_interrupt(folder, quickstart):
    """The command is the program itself, so it gets the signal and its exit code is the command's."""
    process = subprocess.Popen([BIN / "ablate", "run", quickstart, "--output", folder / "interrupted"], stderr=subprocess.PIPE, text=True)
    while "step" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    process.communicate()
    same("an interrupted study is saved: exit code 75", process.returncode, 75)


def check_study(folder, quickstart):
    code, output = command("run", quickstart, "--output", folder / "cuda", "--set", "training.device=cuda", "--seeds", 1, "--retries", 0)
    same("training.device: cuda is refused with exit code 2", (code, "there is no CUDA device" in output), (2, True))
    study = ablate_lab.run(quickstart, output=folder / "runs", show=False)
    print(f"  {study.answer}")
    same("the quickstart has a verdict", [cell["contrast"]["verdict"] for _, cell in study._cells() if cell["primary"] and "contrast" in cell],
         ["worse", "not_learned", "inconclusive"])
    run, file = study.folder / "reverse/sinusoidal/seed-1", folder / "model.pt"
    ablate_lab.call("export", run, "--to", file)
    lines = sorted(run.glob("source-*.txt"))[0].read_text().splitlines()[:20]
    same("the exported file gives in PyTorch what the program gives", ablate_lab.load_model(file).translate(lines),
         ablate_lab.call("translate", run, "--beam", 1, input="\n".join(lines) + "\n").splitlines())


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    quickstart = ablate_lab.program().parent.parent / "share/ablate/experiments/studies/quickstart.yaml"
    check_start(folder)
    check_interrupt(folder, quickstart)
    check_study(folder, quickstart)


if __name__ == "__main__":
    main()
