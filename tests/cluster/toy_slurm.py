"""A whole Slurm on this machine: munge, a controller and four nodes of one core, told apart by name and port."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "srun"]
NODES = ["n1", "n2", "n3", "n4"]
GROUPS = "/sys/fs/cgroup"
DEADLINE = 120  # seconds, for what takes two or three
CONFIGURATION = pathlib.Path(__file__).with_name("slurm.conf")


def why_impossible():
    """Why no toy cluster can be started here; empty where it can."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} missing: make setup-test installs slurmctld, slurmd, slurm-client and munge"
    if os.geteuid() != 0:
        return "the daemons of Slurm need root"
    return "" if os.path.ismount(GROUPS) else f"slurmd needs control groups, and nothing is mounted on {GROUPS}, as in a bare chroot"


def free_ports(count):
    """The first of so many successive ports that nobody uses."""
    for first in range(17100, 60000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.create_server(("127.0.0.1", port)))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no free ports")


def eventually(condition, what, seconds=DEADLINE):
    """The first true value of `condition`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"{what}: not within {seconds} s")


class ToySlurm:
    def __init__(self, most_tasks=1001):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="toy-slurm-"))
        self.folder.chmod(0o755)
        for name in ("state", "log", *(f"spool/{node}" for node in NODES)):
            (self.folder / name).mkdir(parents=True)
        first = free_ports(1 + len(NODES))
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.read_text().format(folder=self.folder, host=socket.gethostname().split(".")[0], port=first,
                                             first=first + 1, last=first + len(NODES), array=most_tasks))
        (self.folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        try:
            self.start()
        except AssertionError as error:
            said = self.said()
            self.stop()
            raise AssertionError(f"{error}\n{said}") from None

    def start(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.run("munged", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                 f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/log/munged.log",
                 f"--seed-file={self.folder}/munge.seed", "--num-threads=1")
        self.start_controller()
        for node in NODES:
            self.run("slurmd", "-N", node, "-f", self.folder / "slurm.conf")
        eventually(lambda: self.run("sinfo", "-h", "-p", "low", "-o", "%T %D").strip() == f"idle {len(NODES)}", "four idle nodes")

    def start_controller(self):
        self.run("slurmctld", "-f", self.folder / "slurm.conf")

    def said(self):
        """The end of what each daemon has written to its log."""
        return "\n".join(f"{log.name}:\n{''.join(log.read_text(errors='replace').splitlines(True)[-20:])}"
                         for log in sorted((self.folder / "log").iterdir()))

    def run(self, *words, check=True):
        done = subprocess.run([str(word) for word in words], env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def pid(self, daemon):
        return int((self.folder / f"{daemon}.pid").read_text())

    def queue(self):
        """{id: (state, node)} of all jobs, tasks of arrays each by itself."""
        lines = self.run("squeue", "-h", "-r", "-o", "%i|%T|%N").splitlines()
        return {line.split("|")[0]: tuple(line.split("|")[1:]) for line in lines}

    def hurry(self):
        """Lets requeued jobs start now instead of after two minutes."""
        for job, (state, _) in self.queue().items():
            if state == "PENDING":
                self.run("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)

    def wait_until_idle(self, seconds=600):
        def idle():
            self.hurry()
            return not self.queue()
        eventually(idle, "an empty queue", seconds)

    def stop(self):
        if (self.folder / "slurmctld.pid").exists():
            self.run("scancel", "--user=root", check=False)
        for daemon in [*(f"slurmd.{node}" for node in NODES), "slurmctld", "munged"]:
            try:
                os.kill(self.pid(daemon), signal.SIGCONT)
                os.kill(self.pid(daemon), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        shutil.rmtree(self.folder, ignore_errors=True)
