"""Many starts of the same study at once: one result of each run, and every start ends well.

    python3 tests/faults/together_test.py build/ablate [starts]
"""

import json
import pathlib
import subprocess
import sys

from faults import Laboratory, differences, left_by

STUDY = "two"
STARTS = 8


def wrong_with(lab, starts):
    """What is wrong after so many starts at once."""
    expected, _ = lab.whole(STUDY)
    output = lab.folder / "together"
    command = [str(part) for part in lab.command(STUDY, output)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(starts)]
    for process in processes:
        said, _ = process.communicate()
        if process.returncode != 0:
            yield f"exit code {process.returncode}\n{said.decode()}"
    for file in output.rglob("environment.json"):
        trained = len(json.loads(file.read_text())["starts"])
        if trained != 1:
            yield f"{file.parent} was trained {trained} times"
    different = differences(left_by(output), expected)
    if different:
        yield f"differs from an undisturbed study in {different}"


def main():
    starts = int(sys.argv[2]) if len(sys.argv) > 2 else STARTS
    with Laboratory(pathlib.Path(sys.argv[1]).resolve()) as lab:
        wrong = list(wrong_with(lab, starts))
    for one in wrong:
        print(one)
    print(f"{starts} starts at once: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
