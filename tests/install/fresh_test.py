"""`make` and `make test` of a clone in systems where nothing is installed: fresh_test.py --work FOLDER [SUITE...]

Makes a minimal system of each suite in FOLDER/<suite> by debootstrap, unless it is there, and in a copy of it a clone of this checkout's
last commit in root's home, with git and make alone. Both commands run there with the system's own compiler, CMake and Python; every test
must pass, and no line of the build may be a warning. Takes root, a network and 15 GB of disk; else it is skipped. The output is kept in
FOLDER/<suite>.log. Where the build of LibTorch for CPUs cannot be reached, the setup must say so and stop, and the other one is taken.
"""

import argparse
import pathlib
import re
import subprocess
import sys

from roots import SKIPPED, SOURCE, Root, why_impossible

SUITES = ["trixie", "noble"]
WARNING = re.compile(r"\bwarning\b[:\]]|^CMake (\w+ )?Warning", re.I)
UNREACHED = "for the CPU could not be downloaded"


def warnings_in(output):
    """The warnings of a build, without what tests say."""
    return sorted({line for line in output.partition("\nTest project ")[0].splitlines() if WARNING.search(line)})


def tests_in(output):
    """How many tests ran, and the names of those that were skipped."""
    found = re.search(r"tests passed(?:, \d+ tests failed)? out of (\d+)", output)
    return int(found[1]) if found else 0, re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*\*\*\*Skipped", output, re.M)


class Clone:
    """A clone in root's home of a fresh system, and what its commands have said."""

    def __init__(self, root, log):
        self.root, self.log, self.torch = root, log, "TORCH_BUILD="
        log.write_text("")
        root.install("git", "make")
        bundle = "tmp/checkout.bundle"
        subprocess.run(["git", "-C", SOURCE, "bundle", "create", "--quiet", root.root / bundle, "HEAD"], check=True)
        root.run(f"git init -q ~/ablate && git -C ~/ablate pull -q /{bundle} HEAD")

    def make(self, target=""):
        """The exit code and the output of make."""
        code, output = self.root.attempt(f"cd ~/ablate && {self.torch} make {target} && cat build.log")
        with open(self.log, "a") as file:
            file.write(output)
        return code, output

    def build(self):
        code, output = self.make()
        if code != 0 and UNREACHED in output:
            print(f"{self.root.suite}: the build of LibTorch for CPUs could not be reached, so that with CUDA is taken", flush=True)
            self.torch = "TORCH_BUILD=cuda"
            code, output = self.make()
        return code, output


def check(root, log):
    """What is wrong with a clone in this system."""
    clone = Clone(root, log)
    code, built = clone.build()
    if code != 0:
        return f"make ended with {code}:\n{built[-4000:]}"
    code, tested = clone.make("test")
    facts = root.run(f"g++ --version | sed -n 1p; cmake --version | sed -n 1p; {root.python} --version").splitlines()
    count, skipped = tests_in(tested)
    print(f"{root.suite}: {root.system.name}: {', '.join(facts)}: {count} tests, skipped: {' '.join(skipped) or 'none'}", flush=True)
    wrong = warnings_in(built + tested)
    if code != 0:
        wrong.append(f"make test ended with {code}:\n{tested[-6000:]}")
    return "\n".join(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("suites", nargs="*", default=SUITES)
    options = parser.parse_args()
    reason = why_impossible(options.suites)
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    failed = 0
    for suite in options.suites:
        base = Root(options.work.resolve(), suite)
        base.prepare()
        wrong = check(base.copied(), base.work / f"{suite}.log")
        print(wrong or f"{suite}: make and make test pass without a warning", flush=True)
        failed += wrong != ""
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
