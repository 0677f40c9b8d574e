"""A thousand studies that were begun and have not ended, below one folder: how long commands on one of them take, beside a
folder that holds it alone.

    python3 tests/long/open_studies.py build/ablate [studies; absent: 1000]

Times are printed and judged by whoever reads them.
"""

import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
from faults import STUDY, Laboratory  # noqa: E402

INTERRUPTED = 75  # the exit code
BEGUN = 100  # calls that change files, after which a study has its first checkpoint


def begin(lab, name, output):
    """Begins a study that is then asked to stop."""
    (lab.folder / f"{name}.yaml").write_text(STUDY.replace("name: faults", f"name: {name}"))
    outcome = lab.run(lab.command(name, output), output, what="terminate", at=BEGUN)
    assert outcome.code == INTERRUPTED, outcome.output


def seconds(command, codes=(0,)):
    began = time.monotonic()
    ended = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert ended.returncode in codes, ended.stdout.decode()
    return time.monotonic() - began


def times(lab, name, output):
    folder = output / name
    return {"status": seconds([lab.program, "status", folder]), "report": seconds([lab.program, "report", folder]),
            "run": seconds(lab.command(name, output))}


def main():
    studies = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with Laboratory(pathlib.Path(sys.argv[1]).resolve()) as lab:
        lab.copies = True
        together, alone = lab.folder / "together", lab.folder / "alone"
        for number in range(studies):
            begin(lab, f"s{number}", together)
        begin(lab, "s0", alone)
        beside, single = times(lab, "s0", together), times(lab, "s0", alone)
        for command, time_beside in beside.items():
            print(f"{command} of one of {studies} open studies: {time_beside:.1f} s; alone {single[command]:.1f} s")


if __name__ == "__main__":
    main()
