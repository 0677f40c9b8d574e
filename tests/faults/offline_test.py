"""The program asks for no network, but for `data fetch`.

    python3 tests/faults/offline_test.py build/ablate

A filter of the kernel (offline.c) ends every process that asks for a socket, however it asks. That `data fetch` is ended
shows that the filter sees what it has to.
"""

import pathlib
import signal
import subprocess
import sys

from faults import HERE, Laboratory

NOT_ALLOWED = 126


def commands(lab):
    """What people do with a study, in this order."""
    study, output = lab.folder / "two.yaml", lab.folder / "out"
    run = output / "faults/copy/base/seed-1"
    model = lab.folder / "model.pt"
    return [["doctor"], ["config", "check", study], ["data", "show", study], ["inspect", "model", study],
            ["run", study, "--output", output, "--dry-run"], ["run", study, "--output", output, "--jobs", "2"],
            ["status", output / "faults"], ["report", output / "faults"],
            ["eval", run], ["translate", run], ["export", run, "--to", model], ["verify", model, "--trust"],
            ["export", run, "--format", "safetensors", "--to", lab.folder / "weights"], ["data", "fetch", "--list"]]


def offline(lab, words):
    command = [lab.folder / "offline", lab.program, *words]
    return subprocess.run([str(part) for part in command], input="a b c\n", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


def main():
    with Laboratory(pathlib.Path(sys.argv[1]).resolve()) as lab:
        subprocess.run(["cc", "-O1", "-Wall", "-o", lab.folder / "offline", HERE / "offline.c"], check=True)
        fetch = offline(lab, ["data", "fetch", "tinyshakespeare", "--to", lab.folder, "--from", "http://127.0.0.1:9"])
        if fetch.returncode == NOT_ALLOWED:
            print(f"skipped: {fetch.stdout}")
            return 0
        wrong = []
        if fetch.returncode != -signal.SIGSYS:
            wrong.append(f"data fetch is not seen: {fetch.returncode}\n{fetch.stdout}")
        for words in commands(lab):
            ended = offline(lab, words)
            if ended.returncode != 0:
                wrong.append(f"{' '.join(map(str, words))}: {ended.returncode}\n{ended.stdout}")
    print("\n".join([*wrong, f"{len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
