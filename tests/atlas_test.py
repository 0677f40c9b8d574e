"""Tests the atlas of claims: atlas_test.py <source folder> <program>"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(SOURCE / "experiments" / "atlas"))

import atlas  # noqa: E402
import claims  # noqa: E402
import page  # noqa: E402
import records  # noqa: E402


def record(direction, contrast):
    """One task with a baseline that scores 2 and an arm."""
    arm = {"parameters": 10, "steps": 100, "tuned": False, "test_set": "", "extrapolates": False, "mean": 2.0, "deviation": 0.1, "values": [2.0, 2.0]}
    return {"tasks": {"t": {"metric": "loss", "direction": direction, "arms": {"base": arm, "arm": arm | {"contrast": contrast}}}}}


class Verdicts(unittest.TestCase):
    def test_a_claim_is_held_against_what_the_study_shows(self):
        for expected, shown, verdict in [
            ("better", "better", "reproduced"), ("better", "worse", "reversed"), ("worse", "worse", "reproduced"),
            ("worse", "better", "reversed"), ("equivalent", "equivalent", "reproduced"), ("equivalent", "worse", "reversed"),
            ("better", "equivalent", "equivalent"), ("better", "indistinguishable", "not distinguishable"),
            ("equivalent", "undecided", "not distinguishable"), ("worse", "not_learned", "not learned"),
            ("better", "too_few_seeds", "not distinguishable")]:
            self.assertEqual(claims.verdict(expected, shown), verdict, (expected, shown))

    def test_an_effect_is_positive_where_the_arm_is_better(self):
        contrast = {"mean": -0.5, "interval": [-0.6, -0.4], "verdict": "better"}
        claim = claims.Claim({"arm": "arm", "expect": "better"})
        for direction, effect in (("lower", [25, 30, 20]), ("higher", [-25, -30, -20])):
            found = claim.finding(record(direction, contrast)).effect
            for value, wanted in zip(found, effect, strict=True):
                self.assertAlmostEqual(value, wanted)

    def test_nothing_is_said_where_neither_arm_is_half_the_way_from_guessing_to_a_task_solved(self):
        contrast = {"mean": -0.1, "interval": [-0.2, 0], "verdict": "worse", "sentence": ""}
        for guess, mean, verdict in ((None, 0.49, "not learned"), (None, 0.5, "reproduced"), (0.5, 0.74, "not learned"), (0.5, 0.75, "reproduced")):
            task = record("higher", contrast)["tasks"]["t"]
            task["metric"] = "exact_match"
            task["arms"] = {name: arm | {"mean": mean - 0.1 * (name == "arm")} for name, arm in task["arms"].items()}
            claim = claims.Claim({"arm": "arm", "expect": "worse", "guess": guess})
            self.assertEqual(claim.verdict({"tasks": {"t": task}}), verdict, (guess, mean))
            task["arms"]["arm"]["extrapolates"] = True
            self.assertEqual(claim.verdict({"tasks": {"t": task}}), "reproduced", "beyond the trained length the program says so itself")

    def test_arms_at_their_best_rates_are_compared_where_the_study_tunes(self):
        contrast = {"mean": 0.5, "interval": [0.4, 0.6], "verdict": "worse"}
        arms = record("lower", contrast)["tasks"]["t"]["arms"]
        tuned = {f"{name}-tuned": arm | {"tuned": True, "mean": 1.0} for name, arm in arms.items()}
        tuned["arm-tuned"]["contrast"] = contrast | {"mean": -0.5, "verdict": "better"}
        found = claims.Claim({"arm": "arm", "expect": "better"})
        both = {"tasks": {"t": {"metric": "loss", "direction": "lower", "arms": arms | tuned}}}
        self.assertEqual((found.verdict(both), found.finding(both).baseline["mean"]), ("reproduced", 1.0))

    def test_a_published_effect_goes_by_what_is_better(self):
        for better, effect in (("higher", 10), ("lower", -10)):
            claim = claims.Claim({"published": {"baseline": 20, "arm": 22, "better": better}})
            self.assertAlmostEqual(claim.published_effect, effect)


class Entries(unittest.TestCase):
    def test_every_claim_names_an_arm_that_its_study_compares(self):
        found = claims.read_claims()
        self.assertEqual(len({claim.id for claim in found}), len(found))
        for claim in found:
            study = claims.read_study(claim.study)
            baseline = study["compare"]["baseline"].removesuffix("-tuned")
            self.assertIn(claim.arm, set(study["arms"]) - {baseline}, claim.id)
            self.assertIn(claim.expect, ("better", "worse", "equivalent"), claim.id)
            if claim.task:
                self.assertIn(claim.task, study["tasks"], claim.id)
            else:
                self.assertEqual(len(study.get("tasks", {})), 0, claim.id)

    def test_a_claim_of_equality_has_ten_seeds_and_a_margin(self):
        for claim in claims.read_claims():
            study = claims.read_study(claim.study)
            self.assertGreaterEqual(len(study["seeds"]), 10 if claim.expect == "equivalent" else 6, claim.id)
            if claim.expect == "equivalent":
                self.assertIn("margin", study["compare"], claim.id)

    def test_the_program_accepts_every_study(self):
        for name in claims.studies():
            done = subprocess.run([PROGRAM, "config", "show", claims.HERE / f"{name}.yaml"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_results_are_those_of_the_study_as_it_stands(self):
        for name in claims.studies():
            found = claims.read_record(name)
            if found:
                study = claims.read_study(name)
                self.assertEqual(found["seeds"], study["seeds"], name)
                self.assertEqual(found["question"], study["question"], name)
                self.assertEqual([one["text"] for one in found["expectations"]], study["expect"], name)


def results(arms, notes=()):
    """What the program writes of one task t: arms are the name and whether it is tuned."""
    cell = {"primary": True, "test_set": "", "extrapolates": False, "direction": "lower", "sample": {"mean": 1.0, "deviation": 0.0, "values": [1.0]}}
    return {"study": "s", "question": "?", "seeds": [1], "expectations": [], "notes": list(notes), "tasks": [
        {"name": "t", "metric": "loss", "comparisons": 1, "arms": [{"name": name, "parameters": 10, "tuned": tuned, "cells": [cell]}
                                                                   for name, tuned in arms.items()]}]}


def write_study(folder, found, steps):
    """A finished study's folder, as far as the atlas reads it; `steps` by arm."""
    (folder / "results.json").write_text(json.dumps(found))
    (folder / "results.jsonl").write_text("".join(json.dumps({"task": "t", "arm": arm, "seed": 1, "steps": made}) + "\n"
                                                  for arm, made in steps.items()))
    run = folder / "t" / "base" / "seed-1"
    run.mkdir(parents=True)
    (run / "environment.json").write_text(json.dumps({"threads": 2, "starts": [{"processor": "P", "cpu_capability": "AVX2"}]}))
    (run / "result.json").write_text(json.dumps({"training_seconds": 90}))


class Records(unittest.TestCase):
    def test_each_arm_keeps_its_own_steps(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            steps = {"base": 100, "short": 10, "evaluated": 0}
            write_study(folder, results(dict.fromkeys(steps, False)), steps)
            found = records.record_of(folder, "a command")
        self.assertEqual({arm: one["steps"] for arm, one in found["tasks"]["t"]["arms"].items()}, steps)
        self.assertEqual((found["core_minutes"], found["command"]), (3, "a command"))

    def test_a_best_value_at_an_end_of_what_was_tried_is_kept(self):
        arms = {"base": False, "base-tuned": True, "arm-tuned": True}
        note = "t: the best training.schedule.peak of arm is 1.6e-2, the largest that was tried, so a better one may lie beyond; add values to tune.values."
        tasks = {"t": records.task_record(results(arms)["tasks"][0], {("t", arm): 1 for arm in arms})}
        records.mark_ends(tasks, ["Token accuracy is teacher-forced.", note])
        self.assertEqual([arm.get("best_was") for arm in tasks["t"]["arms"].values()], [None, None, "largest"])


class ThreeTimes(unittest.TestCase):
    def test_every_length_of_training_is_three_times_as_large_wherever_it_stands(self):
        study = {"name": "s", "base": {"training": {"steps": 10, "save_every": 5}, "data": {"steps": 1}},
                 "tasks": {"a": {"training": {"budget": {"kind": "tokens", "tokens": 100}}}, "b": {"training.budget.tokens": 7}},
                 "arms": {"x": {}, "short": {"training.steps": 2}, "evaluated": {"training.steps": 0}}, "seeds": [1, 2]}
        wanted = {"name": "s", "base": {"training": {"steps": 30, "save_every": 5}, "data": {"steps": 1}},
                  "tasks": {"a": {"training": {"budget": {"kind": "tokens", "tokens": 300}}}, "b": {"training.budget.tokens": 21}},
                  "arms": {"x": {}, "short": {"training.steps": 6}, "evaluated": {"training.steps": 0}}, "seeds": [1, 2]}
        self.assertEqual(atlas.three_times(study), wanted)

    def test_the_command_is_what_a_reader_types(self):
        self.assertEqual(atlas.typed("recall", again=True), "python3 experiments/atlas/atlas.py run recall --again --data DIR")
        done = subprocess.run(["make", "-n", "-C", SOURCE, "atlas", "PART=recall", "AGAIN=1", "DATA=d"], capture_output=True, text=True)
        self.assertIn("python3 experiments/atlas/atlas.py run recall --again --data d\n", done.stdout)

    def test_the_list_of_parts_needs_no_build(self):
        for part, builds in ("PART=recall", True), ("PART=", False):
            done = subprocess.run(["make", "-n", "-C", SOURCE, "atlas", part], capture_output=True, text=True)
            self.assertEqual("cmake --build" in done.stdout, builds, part)

    def test_the_program_accepts_every_study_that_trains_three_times_as_long(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in claims.studies():
                copy = atlas.write_three_times(name, pathlib.Path(folder))
                done = subprocess.run([PROGRAM, "config", "show", copy], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)


class Page(unittest.TestCase):
    def test_steps_are_the_baselines_and_the_arms_where_they_differ(self):
        contrast = {"mean": 0.1, "verdict": "worse"}
        for steps, words in ((100, "100 steps"), (1000, "100 steps (1,000 for `arm`)"),
                             (0, "100 steps (`arm` is an evaluation of the model that the baseline trained)")):
            found = record("lower", contrast)
            found["tasks"]["t"]["arms"]["arm"]["steps"] = steps
            finding = claims.Claim({"arm": "arm", "expect": "worse"}).finding(found)
            self.assertEqual(page.count_text(finding, "steps"), words)

    def test_a_best_value_at_an_end_is_told_of_the_arm_and_of_the_baseline(self):
        for arm in ("base", "arm"):
            found = record("lower", {"mean": 0.1, "verdict": "worse"})
            claim = claims.Claim({"arm": "arm", "expect": "worse"}, found)
            self.assertEqual(page.verdict_text(claim), "reproduced")
            found["tasks"]["t"]["arms"][arm]["best_was"] = "smallest"
            self.assertEqual(page.verdict_text(claim), "reproduced\\*")
            self.assertEqual(page.end_text("batch", arm, found["tasks"]["t"]["arms"][arm]),
                             f" The best `training.schedule.peak` of `{arm}` was the smallest tried, so a smaller one might do better.")

    def test_a_claim_shows_what_its_study_expected_of_its_arm_in_its_task(self):
        texts = ["a: arm.loss < base.loss", "b: arm.loss < base.loss", "arm-tuned.loss < base-tuned.loss", "my_arm.loss < arms.loss", "arm.loss > 0"]
        found = {"tasks": {"a": {}, "b": {}}, "expectations": [{"text": text} for text in texts]}
        claim = claims.Claim({"arm": "arm", "task": "a"})
        self.assertEqual([one["text"] for one in claim.expectations(found)], [texts[0], texts[2], texts[4]])

    def test_the_studies_that_ran_again_have_a_row_of_their_own(self):
        rows = page.study_table().splitlines()
        for name in claims.studies():
            again = claims.read_record(name, again=True)
            found = [row for row in rows if f"results/atlas/{name}.again.md" in row]
            self.assertEqual(len(found), 1 if again else 0, name)
            if again:
                self.assertIn(f" {again['core_minutes']:g} |", found[0])
                self.assertIn(f"| {again['commit']} | `{again['command']}` |", found[0])

    def test_paragraphs_of_a_claim_stand_apart(self):
        claim = next(claim for claim in claims.read_claims() if claim.again and claim.tried)
        beginnings = [paragraph.split(":")[0] for paragraph in page.section(claim).split("\n\n")]
        self.assertEqual([one for one in beginnings[2:] if one not in ("Contested", "Changed since")],
                         ["Here", "At three times the steps", "Tried before", "What would change it", "Data"])

    def test_the_total_is_the_sum_of_what_was_measured(self):
        self.assertEqual(atlas.total([{"core_minutes": 100.5}, {"core_minutes": 79.5}]),
                         "In all 180 core minutes, 1.5 hours on two cores, for the 2 parts that have been run.")

    def test_the_page_is_what_the_results_make_it(self):
        done = subprocess.run([sys.executable, claims.HERE / "atlas.py", "check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_contested_verdict_is_marked_and_says_why(self):
        contrast = {"mean": 0.1, "interval": [0, 0.2], "verdict": "worse", "sentence": ""}
        entry = {"id": "turned", "arm": "arm", "expect": "better", "claim": "", "source": {"text": "", "url": ""}}
        for contested, marked in ((None, "| reversed |"), ("The baseline did not learn.", "| reversed† |")):
            claim = claims.Claim(entry | {"contested": contested}, record("lower", dict(contrast)))
            self.assertIn(marked, page.table([claim]))
        claim = next(claim for claim in claims.read_claims() if claim.contested)
        self.assertIn(f"Contested: {claim.contested}", page.section(claim))

    def test_the_page_names_at_its_top_every_verdict_that_is_contested(self):
        top = page.text_of(claims.read_claims()).split("\n| claim |")[0]
        for claim in claims.read_claims():
            self.assertEqual(f"[{claim.id}](#{claim.id})" in top, bool(claim.contested), claim.id)

    def test_the_front_page_counts_no_verdicts_while_some_are_contested(self):
        self.assertTrue(any(claim.contested for claim in claims.read_claims()))
        self.assertNotRegex((SOURCE / "README.md").read_text(), r"\d+ (reproduced|reversed)")

    def test_claims_stand_in_the_order_of_their_verdicts(self):
        contrast = {"mean": 0.1, "interval": [0, 0.2], "verdict": "worse", "sentence": ""}
        entry = {"arm": "arm", "claim": "", "source": {"text": "", "url": ""}}
        found = [claims.Claim(entry | {"id": name, "expect": expect}, record("lower", json.loads(json.dumps(contrast))))
                 for name, expect in (("turned", "better"), ("held", "worse"))]
        table = page.table(found)
        self.assertLess(table.index("#held"), table.index("#turned"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
