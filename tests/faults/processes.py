"""The processes of a trial: of a program that is loaded for each, or of one that is loaded once and then begins for each
command in a copy of that process. Loading it takes longer than most commands that only read, or than the start of a run."""

import os
import pathlib
import select
import signal
import struct
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 600  # seconds after which a command that takes seconds counts as one that does not end


class Wrong(Exception):
    """What must not be: lost, different or undiagnosed."""


class Loaded:
    """A program that is loaded for its command."""

    def __init__(self, shim, said):
        self.shim, self.said = shim, said

    def begin(self, command, variables):
        environment = os.environ | {"LD_PRELOAD": str(self.shim), "OMP_NUM_THREADS": "1"}
        environment |= dict(variable.split("=", 1) for variable in variables)
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen([str(part) for part in command], stdout=said, stderr=said, env=environment,
                                            start_new_session=True)

    def poll(self, seconds):
        """The exit code of the command, or nothing if it has not ended within these seconds."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def family(self):
        """Its processes, each with its state."""
        return [(self.process.pid, state_of(self.process.pid)), *below(self.process.pid)]

    def said_by(self, _):
        return self.said.read_bytes().decode("utf-8", "backslashreplace")


class Server:
    """`shim` is loaded, too, and `folder` holds what processes say."""

    def __init__(self, program, folder, shim):
        library, self.said = folder / "server.so", folder / "server.said"
        subprocess.run(["cc", "-O1", "-std=gnu11", "-shared", "-fPIC", "-o", library, HERE / "server.c"], check=True)
        environment = os.environ | {"LD_PRELOAD": f"{library}:{shim}", "FAULTS_SAID": str(self.said), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                        start_new_session=True)

    def run(self, command):
        """The exit code of a command, negative where a signal ended it, and what it said."""
        return self.run_at_once(command, 1)[0]

    def run_at_once(self, command, starts):
        """The same of each of so many starts of one command, none of which begins before all are there."""
        self.begin(command, starts=starts)
        return [(self.code(), self.said_by(number)) for number in range(starts)]

    def begin(self, command, variables=(), starts=1):
        words = b"".join(os.fsencode(str(word)) + b"\0" for word in (*variables, *command))
        self.process.stdin.write(struct.pack("3I", starts, len(variables), len(words)) + words)
        self.process.stdin.flush()

    def code(self):
        status, = struct.unpack("i", self.process.stdout.read(4))
        return os.waitstatus_to_exitcode(status)

    def poll(self, seconds):
        ended, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.code() if ended else None

    def family(self):
        return list(below(self.process.pid))

    def said_by(self, number):
        return pathlib.Path(f"{self.said}{number}").read_bytes().decode("utf-8", "backslashreplace")

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def read(path):
    """What a file of the kernel holds; nothing where its process has ended."""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def state_of(pid):
    return read(f"/proc/{pid}/stat").rpartition(b")")[2][1:2].decode()


def below(pid):
    """The processes that one has begun, and those that they have, each with its state."""
    for child in read(f"/proc/{pid}/task/{pid}/children").split():
        yield int(child), state_of(int(child))
        yield from below(int(child))


def send(pid, what):
    try:
        os.kill(pid, what)
    except OSError:
        pass  # it has ended


def wait_and_wake(program, meanwhile):
    """The exit code of a command; whichever of its processes was stopped is woken after what happens meanwhile."""
    end = time.monotonic() + PATIENCE
    while (code := program.poll(0.02)) is None:
        if time.monotonic() > end:
            for pid, _ in program.family():
                send(pid, signal.SIGKILL)
            program.poll(PATIENCE)
            raise Wrong(f"does not end within {PATIENCE} s")
        for pid, state in program.family():
            if state == "T":
                meanwhile()
                send(pid, signal.SIGCONT)
    return code


def wait_for_orphans(variable):
    """Until no process is left that has this variable in its environment."""
    wanted = f"{variable}\0".encode()
    while left := [int(entry) for entry in os.listdir("/proc")
                   if entry.isdigit() and wanted in read(f"/proc/{entry}/environ")]:
        for pid in left:
            send(pid, signal.SIGCONT)
        time.sleep(0.01)
