"""Tests studies on a Slurm of four toy nodes: launch_test.py <build> [names]"""

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
        self.assertEqual(self.status("cancelled")["base"]["state"], "started")
        self.launch(study)
        self.slurm.wait_until_idle()
        self.assertEqual(files_of(run), self.undisturbed("cancelled"))


if __name__ == "__main__":
    main(Launch)
