"""What the shim writes down is in the order in which the disk saw it, however many processes make and remove the same folder."""

import os
import subprocess
import sys

import power_loss
from faults import Laboratory, calls_in

PROCESSES, ROUNDS = 6, 200
WORK = f"""
import os, sys
folder = sys.argv[1]
own = f"{{folder}}/{{os.getpid()}}"
for _ in range({ROUNDS}):
    for step in (lambda: os.mkdir(folder), lambda: os.close(os.open(own, os.O_CREAT | os.O_WRONLY)), lambda: os.unlink(own),
                 lambda: os.rmdir(folder)):
        try:
            step()
        except OSError:
            pass
os.mkdir(own.replace("shared", "left"))
"""


def main():
    with Laboratory("of no program") as lab:
        under, counter, log = lab.folder / "under", lab.folder / "counter", lab.folder / "log"
        (under / "left").mkdir(parents=True)
        counter.write_bytes(bytes(32))
        environment = os.environ | {"LD_PRELOAD": str(lab.shim), "FAULTS_UNDER": str(under), "FAULTS_COUNTER": str(counter),
                                    "FAULTS_LOG": str(log)}
        workers = [subprocess.Popen([sys.executable, "-c", WORK, under / "shared"], env=environment) for _ in range(PROCESSES)]
        assert all(worker.wait() == 0 for worker in workers)
        calls = calls_in(log, under)
        assert len(calls) > PROCESSES * ROUNDS, len(calls)
        disk = power_loss.Disk()
        disk.change(0, "left", power_loss.Folder())
        for call in calls:
            disk.apply(call)
        assert sorted(disk.find("left").now) == sorted(path.name for path in (under / "left").iterdir())
        assert disk.find("shared") is None, "it is removed by whoever comes last"


if __name__ == "__main__":
    main()
