"""Runs clang-tidy on the sources without LibTorch: lint.py <build folder>. Ends with 1 if it finds something."""

import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def units(build):
    """The sources of ours that are compiled without LibTorch, in the batches of the build."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        target = entry["file"].partition("CMakeFiles/")[2].partition(".dir/")[0]
        if target.startswith("ablate_") and "/torch/" not in entry["command"] and " -w " not in entry["command"]:  # -w: of others
            yield entry["file"]


def check(build, unit):
    done = subprocess.run(["clang-tidy", "--quiet", "-p", build, "--extra-arg=-Wno-unknown-warning-option", unit],
                          capture_output=True, text=True)
    return done.returncode, done.stdout


def main():
    build = pathlib.Path(sys.argv[1])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda unit: check(build, unit), units(build)))
    for _, found in results:
        sys.stdout.write(found)
    sys.exit(any(code for code, _ in results))


if __name__ == "__main__":
    main()
