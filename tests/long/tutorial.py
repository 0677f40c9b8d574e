"""Runs docs/tutorial.md as it stands: tutorial.py <source folder> <program>

The commands of its blocks marked `sh` run in an empty folder, where its studies are written as files. What a block without
a mark shows must be in the output of the commands before it: between lines of `...` the same words in the same order, and
numbers that agree to 3 % of the larger or to 0.15, by which processors differ.

The corpora come from the folder that ABLATE_DATA names, or from ../shared/data beside the source; without it the test is
skipped.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
STUDIES = ("norm.yaml", "rates.yaml")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def run(script, folder, program, data):
    """What the commands of a block print."""
    script = re.sub(r"(ablate data fetch (\w+))", rf"\1 --from {data}/\2", script)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-ec", script], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{script}ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def words_of(text):
    """The words of a text, a rule of dashes as one of three, and where they are numbers their values."""
    words = re.sub("-{3,}", "---", text).split()
    numbers = [[float(number) for number in NUMBER.findall(word)] for word in words]
    return [NUMBER.sub("#", word) for word in words], numbers


def close(one, other):
    return abs(one - other) <= max(0.15, 0.03 * max(abs(one), abs(other)))


def problem_with(part, output):
    """Why a part of a block is not in the output; empty if it is."""
    words, numbers = words_of(part)
    all_words, all_numbers = words_of(output)
    places = [at for at in range(len(all_words) - len(words) + 1) if all_words[at:at + len(words)] == words]
    if not places:
        return f"no output has the words of\n{part}"
    for at in places:
        found = all_numbers[at:at + len(words)]
        if all(close(one, other) for ones, others in zip(numbers, found) for one, other in zip(ones, others)):
            return ""
    return f"the output has other numbers than\n{part}"


def main():
    source, program = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    data = pathlib.Path(os.environ.get("ABLATE_DATA", source.parent / "shared/data")).resolve()
    if not all((data / name).is_dir() for name in ("multi30k", "tinyshakespeare")):
        print(f"skipped: {data} has no multi30k and tinyshakespeare; ABLATE_DATA names the folder that has")
        sys.exit(SKIPPED)
    text = (source / "docs/tutorial.md").read_text(encoding="utf-8")
    problems, output, studies = [], "", list(STUDIES)
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        for label, body in BLOCK.findall(text):
            if label == "yaml":
                (folder / studies.pop(0)).write_text(body)
            elif label == "sh":
                output = run(body, folder, program, data)
                print(body + output, flush=True)
            else:
                problems += filter(None, (problem_with(part, output) for part in re.split(r"^\.\.\.\n", body, flags=re.M)))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
