"""A program that is loaded once and then begins for each command in a process of its own: loading it takes longer than
most commands that only read."""

import os
import pathlib
import struct
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


class Server:
    def __init__(self, program, folder):
        library, self.said = folder / "server.so", folder / "server.said"
        subprocess.run(["cc", "-O1", "-std=gnu11", "-shared", "-fPIC", "-o", library, HERE / "server.c"], check=True)
        environment = os.environ | {"LD_PRELOAD": str(library), "FAULTS_SAID": str(self.said), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def run(self, command):
        """The exit code of a command, negative where a signal ended it, and what it said."""
        words = b"".join(os.fsencode(str(word)) + b"\0" for word in command)
        self.process.stdin.write(struct.pack("I", len(words)) + words)
        self.process.stdin.flush()
        status, = struct.unpack("i", self.process.stdout.read(4))
        return os.waitstatus_to_exitcode(status), self.said.read_bytes().decode("utf-8", "backslashreplace")

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
