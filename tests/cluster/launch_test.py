"""Tests studies on a Slurm of four toy nodes: launch_test.py <build> [names]"""

import json

from cluster import Cluster, Held, files_of, main
from toy_slurm import eventually

WAVES = """
arms:
  base: {}
  finetuned: { training.init_from: { arm: base } }
  bad: { training.schedule.peak: 100, training.optimizer: { kind: sgd }, model.norm.kind: none }
"""


class Launch(Cluster):
    def test_a_study_of_two_waves_ends_as_it_does_without_a_cluster(self):
        study = self.study("waves", WAVES)
        self.assertIn("wave 1: 2 runs as job", self.launch(study, "--slurm", "--partition=low --time=10"))
        code, _, err = self.ablate("run", study, "--output", "runs", "--launcher", "slurm")
        self.assertEqual(code, 2, err)
        self.assertIn("is being worked on by the jobs", err)
        self.slurm.wait_until_idle()
        said = (self.folder / "runs/waves/launch/wave-2/close.out").read_text()
        status = self.status("waves")
        self.assertEqual({arm: run["state"] for arm, run in status.items()},
                         {"base": "finished", "finetuned": "finished", "bad": "failed"}, said)
        self.assertIn("exit code 5", status["bad"]["why"])
        self.assertEqual(status["bad"]["restarts"], 0)
        self.assertEqual(len(self.starts(self.run_folder("waves", "bad"))), 1)
        self.assertIn("runs that did not finish: copy/bad/seed-1", said)
        self.assertTrue((self.folder / "runs/waves/report.html").exists())
        self.ablate("run", study, "--output", "local", "--threads", 1)
        for arm in ("base", "finetuned"):
            self.assertEqual(files_of(self.run_folder("waves", arm)), files_of(self.run_folder("waves", arm, "local")))

    def test_the_job_that_closes_a_wave_takes_one_core_and_no_gpu(self):
        study = self.study("small-job")
        held = Held(self.run_folder("small-job"))
        self.launch(study, "--slurm", "--gres=gpu:1 --gpus 1 -G1 -G 1 --gpus-per-task=1 --nodes=1-2 --comment gpu", "--threads", 1)
        jobs = json.loads((self.folder / "runs/small-job/launch/wave-1/jobs.json").read_text())
        asked = {job: self.slurm.run("scontrol", "show", "job", job) for job in (jobs["arrays"][0]["job"], jobs["closing"])}
        array, closing = asked.values()
        self.assertRegex(array, "TresPerNode=gres[:/]gpu:1")  # Slurm 22 writes a colon, 24 a slash
        self.assertNotIn("gres", closing)
        self.assertRegex(closing, r"NumNodes=1\b.* NumTasks=1\b")
        self.assertIn("Comment=gpu", closing)
        held.let_go()
        self.slurm.wait_until_idle()
        self.assertEqual(self.status("small-job")["base"]["state"], "finished")

    def test_cancelled_work_does_not_come_back_before_it_is_launched_again(self):
        study = self.study("cancelled")
        run = self.run_folder("cancelled")
        held = Held(run)
        self.launch(study)
        self.until_started(run)
        code, out, err = self.ablate("cancel", "runs/cancelled")
        self.assertEqual(code, 0, err)
        held.let_go()
        eventually(lambda: not self.slurm.queue(), "an empty queue")
        eventually(lambda: self.status("cancelled")["base"]["state"] == "interrupted", "an interrupted run")
        self.assertEqual(self.ablate("status", "--watch", "runs/cancelled")[0], 0, "nothing can come further")
        self.launch(study)
        self.slurm.wait_until_idle()
        self.assertEqual(files_of(run), self.undisturbed("cancelled"))


if __name__ == "__main__":
    main(Launch)
