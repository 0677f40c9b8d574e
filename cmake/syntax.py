"""Compiles everything with the newest compiler of this machine, as far as its errors: syntax.py <source> [--quick] [COMPILER]

What the compiler of a user refuses who has a newer system. Nothing is optimised or written, except LibTorch's precompiled header and the
build folder build-syntax. --quick leaves out what includes LibTorch, which takes most of the time. Ends with 1 at an error.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

BUILD = "build-syntax"


def compilers():
    """(age, name) of every packaged g++ and clang++ with a number, in half years: GCC 12 and clang 14 came out together, and clang twice a
    year."""
    for folder in os.environ["PATH"].split(":"):
        for file in pathlib.Path(folder).glob("*++-[0-9]*"):
            name = re.fullmatch(r"(g|clang)\+\+-(\d+)", file.name)
            if name:
                yield (2 * int(name[2]) if name[1] == "g" else 10 + int(name[2])), file.name


def units(build, quick):
    """The commands that compile our own sources, without what they would write."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if "-w" in words or words[-1].endswith((".hxx.cxx", ".c", ".cc")) or (quick and "/torch/" in entry["command"]):
            continue
        output = words.index("-o")
        written = (output, output + 1, words.index("-c"))
        yield [*(word for place, word in enumerate(words) if place not in written), "-fsyntax-only", "-w"], entry["directory"]


def check(unit):
    command, folder = unit
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def must(*command, where):
    done = subprocess.run(command, cwd=where, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(done.stdout)


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    quick = "--quick" in sys.argv
    named = [word for word in sys.argv[2:] if word != "--quick"]
    compiler = named[0] if named else max(compilers(), default=(0, "c++"))[1]
    must("cmake", "--preset", "release", "-B", BUILD, f"-DCMAKE_CXX_COMPILER={compiler}", where=source)
    must("cmake", "--build", BUILD, "--target", "ablate_commit", where=source)
    if not quick:
        must("cmake", "--build", BUILD, "--target", "torch_headers", where=source)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, units(source / BUILD, quick)))
    wrong = [said for code, said in results if code != 0]
    print(*wrong, f"{compiler}: {len(results)} units, {len(wrong)} with errors", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
