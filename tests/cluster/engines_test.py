"""Runs the files of docs/engines, for engines other than Slurm, as far as shells run them: engines_test.py <build> [names]"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from cluster import PROGRAM, STUDY, files_of

ENGINES = pathlib.Path(__file__).parents[2] / "docs/engines"
BROKEN = "{ training.schedule.peak: 100, training.optimizer: { kind: sgd }, model.norm.kind: none }"


class Engines(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ablate-engines-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("line.sh", "job.pbs"):
            (self.folder / name).write_text(self.here(name))

    def here(self, name):
        return (ENGINES / name).read_text(encoding="utf-8").replace("/runs/", f"{self.folder}/")

    def jobs(self, index):
        """{engine: its command for the job of that number, with its environment}"""
        kubernetes = re.search(r"command: \[sh, -c, '(.*)'\]", self.here("kubernetes.yaml"))[1]
        condor = dict(re.findall(r"^(\w+) = (.*)$", self.here("condor.sub"), re.M))
        return {"Kubernetes": (["sh", "-c", kubernetes], {"JOB_COMPLETION_INDEX": str(index)}),
                "HTCondor": ([condor["executable"], *condor["arguments"].replace("$(Process)", str(index)).split()], {}),
                "PBS": (["sh", str(self.folder / "job.pbs")], {"PBS_ARRAY_INDEX": str(index)})}

    def start(self, job):
        command, environment = job
        process = subprocess.Popen(command, cwd="/", env={**os.environ, **environment}, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return process, process.communicate()[0]

    def lines(self, *commands):
        (self.folder / "runs.txt").write_text("".join(shlex.join(words) + "\n" for words in commands))

    def ablate(self, *words):
        done = subprocess.run([str(PROGRAM), *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def printed(self, *words, more="", output="it's printed"):
        """A study's commands, which stand in runs.txt, and what was said about them."""
        study = self.folder / "tiny.yaml"
        study.write_text(STUDY.read_text() + more)
        done = self.ablate("run", study, "--output", output, "--launcher", "print", "--threads", 1, *words)
        (self.folder / "runs.txt").write_text(done.stdout)
        return done.stdout.splitlines(), done.stderr

    def run_folder(self, seed=1, arm="base", output="it's printed"):
        return self.folder / output / f"tiny/copy/{arm}/seed-{seed}"

    def test_each_engine_works_on_the_run_of_its_number(self):
        self.assertEqual(len(self.printed("--seeds", "1,2,3")[0]), 3)
        for index, engine in enumerate(("Kubernetes", "HTCondor", "PBS")):
            process, said = self.start(self.jobs(index)[engine])
            self.assertEqual(process.returncode, 0, engine + said)
            finished = [(self.run_folder(seed) / "result.json").exists() for seed in (1, 2, 3)]
            self.assertEqual(finished, [seed <= index for seed in range(3)], engine)
        self.assertEqual(self.printed("--seeds", "1,2,3")[0], [])
        self.ablate("run", "tiny.yaml", "--output", "local", "--threads", 1)
        self.assertEqual(files_of(self.run_folder()), files_of(self.run_folder(output="local")))

    def test_a_job_ends_as_its_command_does(self):
        codes = (0, 75, 2, 4, 137)
        self.lines(*(["sh", "-c", f"exit {code}"] for code in codes))
        for index, code in enumerate(codes):
            for engine, job in self.jobs(index).items():
                self.assertEqual(self.start(job)[0].returncode, code, engine)

    def test_a_request_to_stop_reaches_the_command_itself(self):
        self.lines(["sh", "-c", "echo $$"])
        for engine, job in self.jobs(0).items():
            process, said = self.start(job)
            self.assertEqual(int(said), process.pid, engine)

    def test_a_run_that_has_failed_is_printed_again_once_its_failure_is_removed(self):
        more = f"arms: {{ good: {{}}, bad: {BROKEN} }}\n"
        commands, said = self.printed(more=more)
        self.assertEqual((len(commands), said), (2, ""))
        codes = [subprocess.run(["sh", "-c", command], stderr=subprocess.DEVNULL).returncode for command in commands]
        self.assertEqual(codes, [0, 5])
        commands, said = self.printed(more=more)
        self.assertEqual(commands, [])
        self.assertIn("copy/bad/seed-1 is left out", said)
        (self.run_folder(arm="bad") / "failure.json").unlink()
        self.assertEqual(len(self.printed(more=more)[0]), 1)

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
    def test_gnu_parallel_works_on_every_line(self):
        self.lines(["sh", "-c", "exit 75"], ["touch", str(self.folder / "it's there")], ["sh", "-c", "exit 2"])
        done = subprocess.run(["parallel", "--jobs", "2"], input=(self.folder / "runs.txt").read_text(), text=True)
        self.assertEqual(done.returncode, 2, "parallel counts the commands that failed")
        self.assertTrue((self.folder / "it's there").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"-k{name}" for name in sys.argv[2:])], verbosity=2)
