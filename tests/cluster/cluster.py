"""What tests of studies on a Slurm of four toy nodes share.

What a cluster does to a run happens at a named point: a run whose checkpoints the test has locked waits where it would
save.
"""

import fcntl
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from toy_slurm import ToySlurm, eventually, why_impossible

PROGRAM = pathlib.Path(sys.argv[1]) / "ablate"
SKIPPED = 77

STUDY = pathlib.Path(__file__).parents[1] / "experiments/tiny.yaml"


class Held:
    """While it lives, a run waits where it would save or remove a checkpoint."""

    def __init__(self, run):
        folder = run / "checkpoints"
        folder.mkdir(parents=True, exist_ok=True)
        self.file = open(folder / ".lock", "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def let_go(self):
        self.file.close()


def files_of(run):
    """{name: bytes} of what a run's training has made, the log without its seconds."""
    names = [f"checkpoints/step-00000060/{name}.safetensors" for name in ("model", "optimizer")]
    return {"metrics.jsonl": log_of(run), **{name: (run / name).read_bytes() for name in names}}


def log_of(run):
    return re.sub(rb'"seconds":[^,}]*', b"", (run / "metrics.jsonl").read_bytes())


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.slurm = ToySlurm()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ablate-cluster-"))

    @classmethod
    def tearDownClass(cls):
        cls.slurm.stop()
        shutil.rmtree(cls.folder)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            print(f"{self.id()} fails; the daemons of Slurm say:\n{self.slurm.said()}", flush=True)
        return result

    def study(self, name, more=""):
        path = self.folder / f"{name}.yaml"
        path.write_text(STUDY.read_text().replace("name: tiny", f"name: {name}") + more)
        return path

    def ablate(self, *words, where=None, environment=None):
        done = subprocess.run([str(PROGRAM), *map(str, words)], cwd=where or self.folder, text=True, stdin=subprocess.DEVNULL,
                              env={**self.slurm.environment, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=600)
        return done.returncode, done.stdout, done.stderr

    def launch(self, study, *words, output="runs", expected=0, **how):
        code, out, err = self.ablate("run", study, "--output", output, "--launcher", "slurm", *words, **how)
        self.assertEqual(code, expected, out + err)
        return err

    def run_folder(self, name, arm="base", output="runs"):
        return self.folder / output / name / "copy" / arm / "seed-1"

    def undisturbed(self, name):
        """The files of the same study, run here."""
        code, out, err = self.ablate("run", f"{name}.yaml", "--output", "local", "--threads", 1)
        self.assertEqual(code, 0, out + err)
        return files_of(self.run_folder(name, output="local"))

    def status(self, name, output="runs"):
        code, out, err = self.ablate("status", f"{output}/{name}", "--json")
        self.assertEqual(code, 0, err)
        return {run["run"].split("/")[1]: run for run in map(json.loads, out.splitlines())}

    def starts(self, run):
        try:
            return json.loads((run / "environment.json").read_text())["starts"]
        except OSError:
            return []

    def until_started(self, run, starts=1):
        eventually(lambda: len(self.starts(run)) >= starts, f"start {starts} of {run}")

    def worker(self, run):
        """The process that trains the run, once it has begun."""
        def find():
            for folder in pathlib.Path("/proc").iterdir():
                try:
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if words[:1] == [b"/proc/self/exe"] and str(run).encode() in words:
                    return int(folder.name)
            return None
        return eventually(find, f"a worker of {run}")


def main(*cases):
    """Runs the tests of these cases, or of those alone whose names hold an argument; ends with SKIPPED where no cluster can be started."""
    reason = why_impossible()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in sys.argv[2:]] or None
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
