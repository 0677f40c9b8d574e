"""Tests what happens to studies on a Slurm of four toy nodes where something goes wrong: faults_test.py <build> [names]"""

import json
import os
import shutil
import signal
import subprocess

from cluster import PROGRAM, Cluster, Held, files_of, log_of, main
from toy_slurm import ToySlurm, eventually

TWO = """
arms:
  first: {}
  second: { training.init_from: { arm: first } }
"""


class Faults(Cluster):
    def finish(self, name, arm="base"):
        self.slurm.wait_until_idle()
        self.assertEqual(files_of(self.run_folder(name, arm)), self.undisturbed(name))

    def occupy(self, nodes=4):
        """A job of the higher partition that takes so many nodes."""
        return self.slurm.run("sbatch", "--parsable", "--partition=high", f"--nodes={nodes}", "--time=10", "--output=/dev/null",
                              "--wrap", "sleep 600").strip()

    def held_run(self, name, *words, more=""):
        """A launched study whose run has begun and waits where it would save."""
        run = self.run_folder(name)
        held = Held(run)
        self.launch(self.study(name, more), *words)
        self.until_started(run)
        return run, held

    def output(self, name):
        """What the task of the study's first run wrote."""
        return "".join(file.read_text() for file in (self.folder / "runs" / name / "launch/wave-1").glob("*_0.out"))

    def until_asked_to_stop(self, name):
        eventually(lambda: "asked to stop" in self.output(name), "a request to stop", 300)

    def test_a_preempted_run_ends_like_an_undisturbed_one(self):
        run, held = self.held_run("preempted", "--slurm", "--partition=low")
        above = self.occupy()
        self.until_asked_to_stop("preempted")
        held.let_go()
        self.slurm.run("scancel", above)
        self.finish("preempted")
        self.assertGreater(len(self.starts(run)), 1)

    def test_a_save_that_takes_longer_than_the_grace_costs_steps_and_no_result(self):
        run, held = self.held_run("slow-save", "--slurm", "--partition=low")
        above = self.occupy()
        # squeue -t R leaves a running job out while it is being signalled, so its end is told by the state that follows.
        eventually(lambda: any("_" in job and state == "PENDING" for job, (state, _) in self.slurm.queue().items()), "a killed run")
        held.let_go()
        self.slurm.run("scancel", above)
        self.finish("slow-save")
        self.assertFalse(self.starts(run)[0]["ended"])

    def test_a_run_at_its_time_limit_goes_on(self):
        run, held = self.held_run("limit", "--slurm", "--time=1", "--grace", "30")
        self.until_asked_to_stop("limit")
        held.let_go()
        self.finish("limit")
        self.assertTrue(self.starts(run)[0]["ended"])

    def test_a_run_that_cannot_save_before_its_time_limit_goes_on(self):
        _, held = self.held_run("late", "--slurm", "--time=1", "--grace", "1")
        eventually(lambda: ("COMPLETING", "n1") in self.slurm.queue().values(), "the end of the job's time", 300)
        held.let_go()
        self.finish("late")

    def test_a_killed_worker_is_tried_once_more(self):
        run, held = self.held_run("killed")
        os.kill(self.worker(run), signal.SIGKILL)
        self.until_started(run, 2)
        held.let_go()
        self.finish("killed")

    def test_a_worker_that_is_killed_each_time_fails(self):
        run, held = self.held_run("hopeless")
        for start in (1, 2):
            self.until_started(run, start)
            os.kill(self.worker(run), signal.SIGKILL)
        self.slurm.wait_until_idle()
        held.let_go()
        status = self.status("hopeless")["base"]
        self.assertEqual(status["state"], "failed")
        self.assertIn("signal 9", status["why"])
        self.assertIn("in 2 attempts", status["why"])

    def test_a_run_whose_whole_job_is_killed_is_part_of_the_next_wave(self):
        run, held = self.held_run("lost-job")
        supervisor = int(open(f"/proc/{self.worker(run)}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[1])
        os.kill(supervisor, signal.SIGKILL)
        self.until_started(run, 2)
        held.let_go()
        self.finish("lost-job")
        self.assertTrue((self.folder / "runs/lost-job/launch/wave-2").exists())

    def test_the_controller_may_be_away(self):
        run, held = self.held_run("restarted")
        controller = self.slurm.pid("slurmctld")
        os.kill(controller, signal.SIGTERM)
        eventually(lambda: not os.path.exists(f"/proc/{controller}"), "the end of the controller")
        held.let_go()
        eventually((run / "result.json").exists, "a result without a controller")
        self.slurm.start_controller()
        self.finish("restarted")
        self.assertTrue((self.folder / "runs/restarted/report.html").exists())

    def test_what_starts_from_a_failed_arm_is_not_started(self):
        broken = TWO.replace("first: {}", "first: { training.schedule.peak: 100, training.optimizer: { kind: sgd }, model.norm.kind: none }")
        self.launch(self.study("dependants", broken))
        self.slurm.wait_until_idle()
        status = self.status("dependants")
        self.assertEqual((status["first"]["state"], status["second"]["state"]), ("failed", "blocked"))
        self.assertIn("did not finish: copy/first/seed-1", (self.folder / "runs/dependants/launch/wave-1/close.out").read_text())

    def test_a_preempted_closing_job_closes_the_wave(self):
        run, held = self.held_run("closing", "--slurm", "--partition=low")
        held.let_go()
        eventually((run / "result.json").exists, "a result")
        above = self.occupy()
        self.slurm.run("scancel", above)
        self.slurm.wait_until_idle()
        self.assertTrue((self.folder / "runs/closing/report.html").exists())

    def test_a_full_disk_fails_one_run_and_not_the_others(self):
        study = self.study("disk", "arms: { first: {}, second: {} }\n")
        full = self.run_folder("disk", "first")
        full.mkdir(parents=True)
        self.slurm.run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full)
        try:
            self.launch(study)
            self.slurm.wait_until_idle()
        finally:
            status = self.status("disk")
            self.slurm.run("umount", full)
        self.assertEqual(status["second"]["state"], "finished")
        self.assertNotEqual(status["first"]["state"], "finished")
        self.assertIn("No space left on device", self.output("disk"))

    def test_a_queue_that_times_out_is_asked_again(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "squeue").write_text('#!/bin/sh\nif [ ! -e "$0.asked" ]; then touch "$0.asked"; echo "squeue: error: Socket timed '
                                      f'out on send/recv operation" >&2; exit 1; fi\nexec {shutil.which("squeue")} "$@"\n')
        (tools / "squeue").chmod(0o755)
        self.launch(self.study("timeout"), environment={"PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertTrue((tools / "squeue.asked").exists())
        self.finish("timeout")

    def test_a_submission_that_times_out_after_it_was_taken_is_not_repeated(self):
        tools = self.folder / "taken"
        tools.mkdir()
        (tools / "sbatch").write_text(f'#!/bin/sh\n{shutil.which("sbatch")} "$@" >/dev/null || exit\n'
                                      'echo "sbatch: error: Socket timed out on send/recv operation" >&2\nexit 1\n')
        (tools / "sbatch").chmod(0o755)
        run = self.run_folder("taken")
        held = Held(run)
        self.launch(self.study("taken"), environment={"PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(len(self.slurm.queue()), 2)
        held.let_go()
        self.finish("taken")

    def test_an_edited_study_is_refused(self):
        study = self.study("edited", TWO)
        run = self.run_folder("edited", "first")
        held = Held(run)
        self.launch(study)
        self.until_started(run)
        study.write_text(study.read_text().replace("steps: 60", "steps: 50"))
        held.let_go()
        self.slurm.wait_until_idle()
        self.assertIn("is the study as it was started", (self.folder / "runs/edited/launch/wave-1/close.out").read_text())
        self.assertEqual(self.status("edited")["second"]["state"], "new")

    def test_a_rebuilt_program_is_refused(self):
        program = self.folder / "ablate"
        shutil.copy(PROGRAM, program)
        run = self.run_folder("rebuilt", "first")
        held = Held(run)
        done = subprocess.run([program, "run", self.study("rebuilt", TWO), "--output", "runs", "--launcher", "slurm"], cwd=self.folder,
                              env=self.slurm.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.until_started(run)
        with open(program, "rb") as file:
            changed = file.read() + b"\0"
        (self.folder / "next").write_bytes(changed)
        (self.folder / "next").chmod(0o755)
        (self.folder / "next").rename(program)
        held.let_go()
        self.slurm.wait_until_idle()
        self.assertIn("was built anew", (self.folder / "runs/rebuilt/launch/wave-1/close.out").read_text())

    def test_an_unwritable_run_folder_fails_alone(self):
        study = self.study("unwritable", "arms: { first: {}, second: {} }\n")
        self.launch(study, "--slurm", "--hold")
        folder = self.run_folder("unwritable", "first")
        self.slurm.run("mount", "--bind", folder, folder)
        self.slurm.run("mount", "-o", "remount,ro,bind", folder)
        try:
            for job in self.slurm.queue():
                self.slurm.run("scontrol", "release", job, check=False)
            self.slurm.wait_until_idle()
        finally:
            self.slurm.run("umount", folder)
        self.assertEqual(self.status("unwritable")["second"]["state"], "finished")
        self.assertNotEqual(self.status("unwritable")["first"]["state"], "finished")
        self.assertIn("Read-only file system", self.output("unwritable"))

    def test_one_cancelled_run_does_not_come_back_with_the_next_wave(self):
        study = self.study("one-cancelled", TWO + "  third: {}\n")
        first, third = self.run_folder("one-cancelled", "first"), self.run_folder("one-cancelled", "third")
        held = Held(first), Held(third)
        self.launch(study)
        self.until_started(first)
        self.until_started(third)
        job = self.starts(third)[0]["job"]
        self.slurm.run("scancel", job)
        for one in held:
            one.let_go()
        self.slurm.wait_until_idle()
        status = self.status("one-cancelled")
        self.assertEqual({arm: run["state"] for arm, run in status.items()},
                         {"first": "finished", "second": "finished", "third": "failed"})
        self.assertIn("cancelled", status["third"]["why"])


    def test_a_silent_node_whose_run_goes_on_shares_it_with_nobody(self):
        run, held = self.held_run("silent")
        node = next(node for _, node in self.slurm.queue().values() if node)
        os.kill(self.slurm.pid(f"slurmd.{node}"), signal.SIGSTOP)

        def started_elsewhere():
            self.slurm.hurry()
            return "waiting for another process" in self.output("silent")
        eventually(started_elsewhere, "a second start", 300)
        held.let_go()
        eventually((run / "result.json").exists, "a result")
        os.kill(self.slurm.pid(f"slurmd.{node}"), signal.SIGCONT)
        self.finish("silent")
        self.assertEqual(len(self.starts(run)), 1)

    def test_ranks_on_two_nodes_give_the_same_bits(self):
        study = self.study("ranks", "    accumulate: 4\n")
        self.launch(study, "--ranks", "2")
        self.finish("ranks")
        self.assertIn('"finished"', self.ablate("status", "runs/ranks", "--json")[1])

    def test_without_common_locks_the_one_that_was_silent_for_longer_than_the_lease_gives_way(self):
        """Two hosts, as far as one machine can show them: no common locks, and process numbers of their own."""
        source = self.folder / "noflock.c"
        source.write_text("int flock(int file, int how) { (void)file, (void)how; return 0; }\n")
        library = self.folder / "noflock.so"
        self.slurm.run("cc", "-shared", "-fPIC", "-o", library, source)
        study = self.study("split")
        study.write_text(study.read_text().replace("steps: 60", "steps: 3000").replace("evaluate_every: 15", "evaluate_every: 1000"))
        self.ablate("run", study, "--output", "runs", "--launcher", "print")
        run = self.run_folder("split")
        command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", PROGRAM, "train", run, "--threads", "1"]
        environment = {**os.environ, "LD_PRELOAD": str(library)}
        first = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        eventually(lambda: (run / "metrics.jsonl").exists() and (run / "metrics.jsonl").read_text(), "a first line")
        stopped = int(self.slurm.run("pgrep", "-P", first.pid).strip())
        os.kill(stopped, signal.SIGSTOP)
        second = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual(second.returncode, 0, second.stderr)
        os.kill(stopped, signal.SIGCONT)
        said = first.communicate()[1]
        self.assertEqual(first.returncode, 75, said)
        self.assertIn("was taken over by", said)
        self.assertEqual([start["ended"] for start in self.starts(run)], [False, True])
        self.ablate("run", study, "--output", "local", "--threads", 1)
        local, weights = self.run_folder("split", output="local"), "checkpoints/step-00003000/model.safetensors"
        self.assertEqual(log_of(run), log_of(local))
        self.assertEqual((run / weights).read_bytes(), (local / weights).read_bytes())


class SmallArrays(Cluster):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm.stop()
        cls.slurm = ToySlurm(most_tasks=2)

    def test_an_array_that_would_be_too_long_becomes_several(self):
        self.launch(self.study("many"), "--seeds", "1,2,3,4,5")
        jobs = json.loads((self.folder / "runs/many/launch/wave-1/jobs.json").read_text())
        self.assertEqual([(array["first"], array["tasks"]) for array in jobs["arrays"]], [(0, 2), (2, 2), (4, 1)])
        self.slurm.wait_until_idle()
        self.assertEqual(len(list((self.folder / "runs/many").glob("copy/base/seed-*/result.json"))), 5)


if __name__ == "__main__":
    main(Faults, SmallArrays)
