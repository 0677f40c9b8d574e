"""Random studies of tiny models, and what must hold between the numbers of each, whatever its keys are.

    .venv/bin/python tests/combinations/combinations.py build/ablate FOLDER [first seed; absent: 1] [studies; absent: 100]

A seed names a study. Prints a line for each; the exit code is 1 if anything did not hold, and the folders of those studies stay.
"""

import pathlib
import random
import shutil
import sys
import time
import traceback

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
sys.path.append("/usr/lib/python3/dist-packages")  # for yaml
from drawn_study import Drawn  # noqa: E402
from oracles import CHECKS  # noqa: E402
from processes import Server  # noqa: E402
from recorded_run import Refused, Run, Wrong, require  # noqa: E402


class Study:
    """A drawn study in a folder of its own."""

    def __init__(self, server, program, folder, drawn):
        self.server, self.program, self.folder, self.drawn = server, program, folder, drawn
        self.random = random.Random(drawn.seed)
        drawn.write(folder)

    def call(self, *words):
        """What the program says. Throws Refused or Wrong."""
        code, said = self.server.run([self.program, *words])
        if code == 2:
            raise Refused(" ".join(said.split())[:400])
        require(code == 0, "exit code", code, "of", *words, said[-600:])
        return said

    def run(self, output, *sets):
        self.call("run", self.folder / "study.yaml", "--output", self.folder / output, "--jobs", "1", *(word for one in sets for word in ("--set", one)))
        return self.found(output)

    def found(self, output="runs", arm="main"):
        return Run(next((self.folder / output / "s").glob(f"*/{arm}/seed-*")))

    def copy(self, name, last):
        shutil.copytree(self.folder / "runs", self.folder / name)
        run = self.found(name)
        run.return_to(last)
        return run

    def scored(self, folder, name):
        """The log-probability of every line of a pair of files."""
        said = self.call("score", folder, "--source", self.folder / f"{name}.source", "--target", self.folder / f"{name}.target")
        return [float(line) for line in said.splitlines()]

    def check(self):
        """Makes all checks of the study's run; the names of those that say something."""
        return [check.__name__ for check in CHECKS if check(self, self.found()) is not False]


def trial(server, program, folder, seed):
    """Draws until the program takes a study, and checks it. Returns what is said of it."""
    for attempt in range(60):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        study = Study(server, program, folder, Drawn(seed, attempt))
        try:
            study.call("config", "check", folder / "study.yaml")
            study.run("runs")
        except Refused as refusal:
            with open(folder.parent / "refused.txt", "a") as log:
                log.write(f"{seed} {attempt}: {refusal}\n")
            continue
        made = study.check()
        shutil.rmtree(folder)
        return f"{study.drawn.family} {study.drawn.task}: {' '.join(made)}; {'; '.join(study.drawn.notes)}"
    raise Wrong("60 studies were refused")


def main():
    program, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    first, count = (int(word) for word in (sys.argv[3:] + ["1", "100"][len(sys.argv) - 3:]))
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch._C._jit_set_profiling_executor(False)  # a module is called a few times
    server, failed = Server(program, folder, ""), []
    for seed in range(first, first + count):
        began = time.monotonic()
        try:
            said = trial(server, str(program), folder / f"seed-{seed}", seed)
        except Exception as fault:
            failed.append(seed)
            said = f"{type(fault).__name__}: {fault}" if isinstance(fault, (Wrong, Refused)) else traceback.format_exc()
        print(f"{seed} ({time.monotonic() - began:.0f} s): {said}", flush=True)
    server.end()
    print(f"{len(failed)} of {count} studies failed: {failed}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
