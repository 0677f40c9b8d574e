"""Estimates every run of experiments/examples: examples_run.py <source folder> <program>

So each example is a valid study whose data and models can be made. The files that examples name are written first.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

LINES = 40


def write_files(folder):
    rows = "".join(f"word{i % 5} is {i},wort{i % 5} ist {i}\n" for i in range(LINES))
    reviews = [json.dumps({"review": f"word{i % 5} film", "answer": "word it is", "stars": i % 2}) for i in range(LINES)]
    for name in ("train", "valid", "test"):
        (folder / f"{name}.jsonl").write_text("\n".join(reviews))
        (folder / f"{name}.csv").write_text("en,de\n" + rows)
        (folder / f"{name}.bin").write_bytes(struct.pack("<4000H", *[i % 100 for i in range(4000)]))
    bodies = [json.dumps({"body": f"word{i % 5} is here, there and at {i}"}) for i in range(10 * LINES)]
    (folder / "books.jsonl").write_text("\n".join(bodies))
    for language, word in (("en", "word"), ("de", "wort")):
        (folder / f"vectors.{language}.txt").write_text("".join(f"{word}{i}{' 0.1' * 32}\n" for i in range(5)))


def estimate(program, study, folder):
    # A budget in seconds has no length that could be counted.
    timing = [] if "kind: seconds" in study.read_text() else ["--launcher", "print"]
    command = [program, "run", study, "--dry-run", "--data", folder, "--output", folder / "runs", *timing]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    studies = sorted((root / "experiments/examples").glob("*.yaml"))
    failed = not studies
    with tempfile.TemporaryDirectory() as folder:
        write_files(pathlib.Path(folder))
        for study in studies:
            done = estimate(program, study, pathlib.Path(folder))
            if done.returncode != 0:
                print(f"{study.name}: exit code {done.returncode}\n{done.stderr}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
