"""Ctrl-C: what terminals and kernels of Jupyter send reaches a program that the package started exactly once, and its work is saved."""

import contextlib
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import textwrap
import time
import unittest

import example

# Says which signals it gets. After the first one it works on, as a run that saves does, in which it would notice another.
PROGRAM = """#!{python}
import os, signal, time
def say(what):
    os.write(said, f"{{os.getpid()}} {{what}}\\n".encode())
said, asked = os.open("{said}", os.O_WRONLY | os.O_APPEND | os.O_CREAT), []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: (say(signal.Signals(number).name), asked.append(number)))
say("ready")
while not asked:
    time.sleep(0.01)
time.sleep(0.5)
while os.path.exists("{busy}"):
    time.sleep(0.01)
say("saved")
"""

CAUGHT = """
try:
    {}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
CALL = CAUGHT.format('ablate_lab.call("run")')
RUN = CAUGHT.format('ablate_lab.run("study.yaml", jobs=2, threads=1)')

POOLED = """
with concurrent.futures.{} as pool:
    begun = [pool.submit({}) for _ in range(2)]
    try:
        begun[0].result()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
PROCESSES = 'ProcessPoolExecutor({}, multiprocessing.get_context("fork"))'
THREAD = POOLED.format("ThreadPoolExecutor(2)", 'ablate_lab.call, "run"')
POOL = POOLED.format(PROCESSES.format(2), 'ablate_lab.call, "run"')
# A pool whose tasks have pools.
NESTED = f"""
def inner():
    with concurrent.futures.{PROCESSES.format(1)} as pool:
        pool.submit(ablate_lab.call, "run").result()
""" + POOLED.format(PROCESSES.format(2), "inner")
# A pool that kills its workers when it is left.
TERMINATED = """
with multiprocessing.get_context("fork").Pool(2) as pool:
""" + textwrap.indent(CAUGHT.format('pool.map(ablate_lab.call, ["run", "run"])'), "    ")


def setUpModule():
    for number in (signal.SIGINT, signal.SIGHUP):  # which are ignored behind nohup and in the background of a script
        signal.signal(number, signal.default_int_handler)


def eventually(holds):
    """Whether it comes to hold, with a patience that no machine needs."""
    deadline = time.monotonic() + 300
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def read(file):
    return file.read_text() if file.exists() else ""


def members_of(group):
    """The processes of a group."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # a process that has ended
            if int(file.read_text().rpartition(")")[2].split()[2]) == group:
                found.append(int(file.parent.name))
    return found


class Terminal:
    """A Python in the foreground of a terminal of its own."""

    def __init__(self, script, folder):
        self.pid, self.keyboard = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execv(sys.executable, [sys.executable, script])

    def interrupt(self):
        os.write(self.keyboard, b"\x03")

    def end(self):
        """All that it has written."""
        written = b""
        try:
            while part := os.read(self.keyboard, 4096):
                written += part
        except OSError:  # how Linux says that the terminal has no other end any more
            pass
        os.waitpid(self.pid, 0)
        os.close(self.keyboard)
        return written.decode()


class Kernel:
    """A Python in a group of processes that is interrupted as a whole, as Jupyter starts its kernels and interrupts them."""

    def __init__(self, script, folder):
        self.process = subprocess.Popen([sys.executable, script], cwd=folder, start_new_session=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.pid = self.process.pid

    def interrupt(self):
        os.killpg(self.pid, signal.SIGINT)

    def end(self):
        return self.process.communicate()[0]


class Alone(Kernel):
    """A Python that is interrupted alone, as by the stop button of an editor."""

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)


class Interrupts(example.Case):
    def script(self, body):
        file = self.folder / "script.py"
        file.write_text("import concurrent.futures, multiprocessing, threading\nimport ablate_lab\n" + body)
        return file

    def start(self, kind, body, programs):
        self.said = self.folder / "said"
        self.said.unlink(missing_ok=True)
        program = self.folder / "program.py"
        program.write_text(PROGRAM.format(python=sys.executable, said=self.said, busy=self.folder / "busy"))
        program.chmod(0o755)
        self.environment(ABLATE=str(program))
        started = kind(self.script(body), self.folder)
        self.assertTrue(self.counted("ready", programs))
        return started

    def words(self):
        """What each program has said, in its order."""
        words = {}
        for line in self.said.read_text().splitlines() if self.said.exists() else ():
            program, word = line.split()
            words.setdefault(program, []).append(word)
        return list(words.values())

    def interrupt(self, started):
        """The programs have time to take a signal of theirs before Python, which waits for it, can send one: the second of two that
        arrive together is lost."""
        programs = {line.split()[0] for line in self.said.read_text().splitlines()}
        pythons = [pid for pid in members_of(started.pid) if str(pid) not in programs]
        for pid in pythons:
            os.kill(pid, signal.SIGSTOP)
        started.interrupt()
        time.sleep(0.2)
        for pid in pythons:
            os.kill(pid, signal.SIGCONT)

    def counted(self, word, programs):
        return eventually(lambda: sum(said.count(word) for said in self.words()) == programs)

    def test_a_program_is_interrupted_once(self):
        for kind in (Terminal, Kernel, Alone):
            for body, programs in (("CALL", 1), ("THREAD", 2), ("POOL", 2), ("NESTED", 2)):
                if kind is Alone and body != "CALL":
                    continue  # nobody else is told
                with self.subTest(kind.__name__, body=body):
                    started = self.start(kind, globals()[body], programs)
                    self.interrupt(started)
                    self.assertIn("interrupted", started.end())
                    self.assertEqual(self.words(), [["ready", "SIGINT", "saved"]] * programs)

    def test_a_pool_that_ends_its_workers_ends_no_program_before_it_has_saved(self):
        started = self.start(Terminal, TERMINATED, 2)
        started.interrupt()
        self.assertIn("interrupted", started.end())
        self.assertTrue(self.counted("saved", 2))
        for said in self.words():
            self.assertLessEqual(said.count("SIGINT"), 1)

    def test_a_second_interrupt_gives_up_the_wait_and_not_the_work(self):
        (self.folder / "busy").touch()
        started = self.start(Terminal, CALL, 1)
        started.interrupt()
        self.assertTrue(self.counted("SIGINT", 1))
        started.interrupt()
        self.assertIn("interrupted", started.end())
        self.assertEqual(self.words()[0][:2], ["ready", "SIGINT"])
        (self.folder / "busy").unlink()
        self.assertTrue(self.counted("saved", 1))
        self.assertEqual(self.words()[0].count("SIGINT"), 1)

    def test_a_program_saves_if_python_is_killed(self):
        started = self.start(Kernel, CALL, 1)
        os.killpg(started.pid, signal.SIGKILL)  # as a kernel is restarted
        started.end()
        self.assertTrue(self.counted("saved", 1))
        self.assertEqual(self.words(), [["ready", "SIGTERM", "saved"]])

    def test_a_program_saves_if_its_terminal_is_closed(self):
        started = self.start(Terminal, CALL, 1)
        os.close(started.keyboard)
        os.waitpid(started.pid, 0)
        self.assertTrue(self.counted("saved", 1))
        self.assertEqual(self.words(), [["ready", "SIGTERM", "saved"]])


class SavedRuns(example.Case):
    """The program itself, with updates so long that a second signal would find it before it has saved."""

    def interrupted(self, kind):
        """The steps of both runs after they have been trained further and then interrupted."""
        files = [self.folder / f"runs/tiny/reverse/only/seed-{seed}/metrics.jsonl" for seed in (1, 2)]
        lengths = [len(read(file)) for file in files]
        started = kind(self.folder / "script.py", self.folder)
        self.assertTrue(eventually(lambda: all(len(read(file)) > length for file, length in zip(files, lengths))))
        started.interrupt()
        said = started.end()
        self.assertIn("interrupted", said)
        self.assertEqual([list((file.parent / "checkpoints").glob("step-*")) != [] for file in files], [True, True], said)
        return [[json.loads(line)["step"] for line in read(file).splitlines()] for file in files]

    def test_interrupted_runs_save_and_the_same_call_continues(self):
        study = {**example.STUDY, "arms": {"only": {}}}
        del study["compare"]
        study["base"] = {**study["base"], "training": {**study["base"]["training"], "steps": 100_000, "tokens_per_batch": 30_000, "log_every": 1,
                                                       "evaluate_every": 100_000}}
        (self.folder / "study.yaml").write_text(json.dumps(study))
        (self.folder / "script.py").write_text("import ablate_lab\n" + RUN)
        for first, then in zip(self.interrupted(Terminal), self.interrupted(Kernel)):
            self.assertEqual(then, list(range(1, len(then) + 1)))
            self.assertGreater(len(then), len(first))


if __name__ == "__main__":
    unittest.main()
