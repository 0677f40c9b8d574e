"""Tests the atlas of claims: atlas_test.py <source folder> <program>"""

import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from atlas_fixtures import claim_of, contrast, record, with_arms_of_the_record

import atlas
import claims
import files
import page
import records
import regime

SOURCE, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]


class Outcomes(unittest.TestCase):
    def setUp(self):
        with_arms_of_the_record(self)

    def test_an_effect_is_positive_where_the_arm_is_better_and_in_per_cent_of_losses_alone(self):
        for metric, direction, effect in (("loss", "lower", [25, 20, 30]), ("bleu", "higher", [-0.5, -0.6, -0.4]), ("exact_match", "higher", [-0.5, -0.6, -0.4])):
            found = claim_of().finding(record(contrast("agrees"), direction, metric=metric)).effect
            for value, wanted in zip(found, effect, strict=True):
                self.assertAlmostEqual(value, wanted)

    def test_without_a_record_or_its_arm_a_claim_is_not_run(self):
        for claim, found in ((claim_of(), None), (claim_of(arm="other"), record(contrast("agrees"))), (claim_of(task="u"), record(contrast("agrees")))):
            self.assertEqual(claim.outcome(found), "not run")

    def test_a_claim_of_one_size_is_held_against_that_size(self):
        found = record(contrast("agrees"))
        found["tasks"] = {"t-s": record(contrast("inconclusive"))["tasks"]["t"], "t-m": found["tasks"]["t"]}
        for size, outcome in (("s", "undecided"), ("m", "agrees")):
            self.assertEqual(claim_of(size=size).outcome(found), outcome)

    def test_what_a_study_shows_of_a_difference_goes_by_its_numbers(self):
        published = {"baseline": 1.0, "better": "lower"}
        for kind, mean, p, figures, word in (
                ("superior", 0.5, 0.01, None, "other sign"), ("inferior", -0.5, 0.01, None, "other sign"), ("superior", -0.5, 0.01, None, "undecided"),
                ("superior", -0.5, 0.2, None, "undecided"), ("superior", -0.5, 0.2, {"arm": 0.6, "metric": "loss"}, "no effect of that size here"),
                ("superior", -0.5, 0.2, {"arm": 0.8, "metric": "loss"}, "undecided"), ("superior", -0.5, 0.2, {"arm": 0.6, "metric": "BLEU"}, "undecided"),
                ("inferior", -0.5, 0.2, {"arm": 1.1, "metric": "loss"}, "no effect of that size here")):
            claim = claim_of(claim=kind, published=figures and published | figures)
            for raw in ("contradicts", "inconclusive"):
                self.assertEqual(claim.outcome(record(contrast(raw, kind, mean, p))), word, (kind, mean, p, figures))

    def test_the_program_decides_what_agrees_and_what_is_beyond_a_margin(self):
        for kind in ("equal", "noninferior"):
            for raw, word in (("agrees", "agrees"), ("contradicts", "beyond the margin"), ("inconclusive", "undecided"), ("not_learned", "not learned"), (None, "undecided")):
                self.assertEqual(claim_of(claim=kind).outcome(record(contrast(raw, kind))), word)
        self.assertEqual(claim_of().outcome(record(contrast("agrees"))), "agrees")
        self.assertEqual(claim_of().outcome(record(contrast("inconclusive", mean=0.5, verdict="unstable"))), "undecided")

    def test_what_is_withdrawn_does_not_count_and_what_is_undecided_need_not_be(self):
        for raw, word in (("agrees", "withdrawn"), ("contradicts", "withdrawn"), ("inconclusive", "undecided")):
            claim = claim_of(record(contrast(raw, "equal")), claim="equal", withdrawn="A reason.")
            claims.add_q([claim])
            self.assertEqual((claim.first, claim.q), (word, {}))

    def test_a_misspelt_name_of_a_claim_is_an_error(self):
        self.assertIsNone(claim_of().guess)
        with self.assertRaisesRegex(AttributeError, "a claim has no guesss"):
            claim_of().guesss

    def test_the_interval_of_equivalence_is_within_a_margin_exactly_if_its_test_rejects(self):
        differences = [0.1, -0.2, 0.35, 0.05, -0.15, 0.3]
        signs = list(itertools.product((1, -1), repeat=6))
        for factor in (1, 2):
            low, high = claims.equivalence_interval(differences, factor)
            for margin in (high - 1e-6, high + 1e-6, 1 - 1e-6, -low):
                distances = [margin - one for one in differences]
                p = sum(sum(s * d for s, d in zip(sign, distances, strict=True)) >= sum(distances) for sign in signs) / len(signs)
                self.assertEqual(factor * p <= 0.05, high < margin, (factor, margin))
        self.assertIsNone(claims.equivalence_interval(differences[:4]))

    def test_nothing_is_said_where_neither_arm_is_half_the_way_from_guessing_to_a_task_solved(self):
        for guess, mean, outcome in ((None, 0.49, "not learned"), (None, 0.5, "agrees"), (0.5, 0.74, "not learned"), (0.5, 0.75, "agrees")):
            found = record(contrast("agrees"), "higher", metric="exact_match")
            arms = found["tasks"]["t"]["arms"]
            arms["base"] = arms["base"] | {"mean": mean}
            arms["arm"] = arms["arm"] | {"mean": mean - 0.1}
            self.assertEqual(claim_of(guess=guess).outcome(found), outcome, (guess, mean))
            arms["arm"]["extrapolates"] = True
            self.assertEqual(claim_of(guess=guess).outcome(found), "agrees", "beyond the trained length the program says so itself")

    def test_q_is_as_by_benjamini_and_hochberg(self):
        # SciPy 1.17.1: false_discovery_control(p).
        p = [0.041, 0.001, 0.039, 0.08, 0.008, 0.041, 0.06, 0.074]
        for found, wanted in zip(claims.q_values(p), [0.0656, 0.008, 0.0656, 0.08, 0.032, 0.0656, 0.08, 0.08], strict=True):
            self.assertAlmostEqual(found, wanted)
        self.assertEqual(claims.q_values([]), [])

    def test_what_decided_counts_and_the_undecided_count_as_one(self):
        found = {name: {"adjusted_p": p} for name, p in (("difference", 0.01), ("within", 0.02), ("beyond", 0.03))}
        for kind, word, p in (("superior", "agrees", 0.01), ("superior", "other sign", 0.01), ("equal", "agrees", 0.02), ("noninferior", "agrees", 0.02),
                              ("equal", "beyond the margin", 0.03), ("superior", "undecided", 1), ("inferior", "no effect of that size here", 1)):
            self.assertEqual(claims.deciding_p(word, found | {"claim": kind}), p, (kind, word))

    def test_second_looks_count_in_q_and_decide_nothing_of_the_first(self):
        alone, twice = claim_of(record(contrast("agrees", p=0.04))), claim_of(record(contrast("agrees", p=0.04)), record(contrast("inconclusive", p=0.2)))
        for claim in (alone, twice):
            claims.add_q([claim])
            self.assertEqual(claim.first, "agrees")
        self.assertEqual((alone.q, twice.q), ({"first": 0.04}, {"first": 0.08}))

    def test_a_second_look_is_due_where_a_large_difference_is_inconclusive(self):
        for outcome, mean, again, due in (("inconclusive", -0.21, None, True), ("inconclusive", 0.19, None, False), ("agrees", -0.3, None, False),
                                          ("inconclusive", -0.3, record(contrast("agrees")), False)):
            claim = claim_of(record(contrast(outcome, mean=mean, p=0.2)), again)
            self.assertEqual(claim.second_look_is_due, due, (outcome, mean))

    def test_a_published_effect_goes_by_what_is_better(self):
        for better, effect in (("higher", 10), ("lower", -10)):
            for metric, wanted in (("perplexity", effect), ("BLEU", effect / 5)):
                claim = claims.Claim({"published": {"baseline": 20, "arm": 22, "better": better, "metric": metric}})
                self.assertAlmostEqual(claim.published_effect, wanted)


class Regime(unittest.TestCase):
    def setUp(self):
        study = {"base": {"data": {"train": "tinyshakespeare/input.txt", "held_out": 0.05, "test_held_out": 0.93}, "tokenizer": {"kind": "character"},
                          "training": {"tokens_per_batch": 1000}}, "arms": {"base": {}, "arm": {}}}
        self.enterContext(unittest.mock.patch.object(files, "read_study", lambda _: study))
        self.study = study

    def values(self, steps=200, **arm):
        found = record(contrast("agrees"))
        found["tasks"]["t"]["arms"]["base"] |= {"parameters": 1000, "steps": steps}
        found["tasks"]["t"]["arms"]["arm"] |= {"parameters": 1000} | arm
        return regime.values_of(claim_of(), claim_of().finding(found))

    def test_tokens_that_repeat_count_as_epochs_not_as_tokens_a_parameter(self):
        # 2 % of 1,115,394 characters are 22,308, read 200,000 / 22,308 = 8.97 times by 1,000 parameters.
        found = self.values()
        self.assertAlmostEqual(found["tokens_per_parameter"], 22.308, places=3)
        self.assertAlmostEqual(found["epochs"], 8.965, places=3)

    def test_a_text_that_is_not_read_to_its_end_counts_as_far_as_it_is_read(self):
        self.study["base"]["data"] |= {"held_out": 0.0, "test_held_out": 0.0}
        self.assertAlmostEqual(self.values()["tokens_per_parameter"], 200)

    def test_a_model_that_is_only_evaluated_reads_no_text(self):
        found = self.values(steps=0)
        self.assertEqual((found["tokens_per_parameter"], found["epochs"]), (None, None))

    def test_no_second_look_is_due_whose_steps_would_be_outside_the_sources_range(self):
        # 100,000 tokens are 4.48 epochs, and three times as many 13.4, where four times the source's may be read.
        for epochs, due in (([0, 3], False), ([0, 4], True)):
            claim = claim_of(record(contrast("inconclusive", p=0.2)), regime={"epochs": epochs})
            self.assertEqual((claim.first, claim.second_look_is_due), ("undecided", due))

    def test_sizes_rates_and_the_distance_to_the_best_are_the_studys_own(self):
        self.assertEqual(self.values()["parameters_matched"], True)
        self.assertEqual(self.values(parameters=1021)["parameters_matched"], False)
        self.assertEqual(self.values()["rates_tuned"], False)
        self.assertAlmostEqual(self.values()["distance_to_best"], 2.0 - 1.544)

    def test_a_study_is_outside_a_range_that_it_misses_by_more_than_the_tolerance(self):
        for quantity, value, known, holds in (("tokens_per_parameter", 19, [200, 300], False), ("tokens_per_parameter", 20, [200, 300], True),
                                              ("epochs", 4, [0, 1], True), ("epochs", 4.1, [0, 1], False), ("epochs", 9, None, True),
                                              ("epochs", None, [0, 1], True), ("rates_tuned", False, True, False), ("rates_tuned", True, False, True),
                                              ("parameters_matched", False, False, True)):
            self.assertEqual(regime.inside(quantity, value, known), holds, (quantity, value, known))

    def test_outside_the_sources_regime_a_study_neither_agrees_nor_contradicts(self):
        for word in ("agrees", "contradicts"):
            for known in ({"outside": "Too small."}, {"epochs": [100, 200]}):
                claim = claim_of(record(contrast(word)), regime=known, predicts="a loss.")
                self.assertEqual(claim.first, "outside the source's regime")
                self.assertIn("There the source predicts: a loss.", page.outside_text(claim))

    def test_what_is_known_of_a_source_from_memory_is_shown_and_decides_nothing(self):
        claim = claim_of(record(contrast("agrees")), regime={"epochs": [100, 200], "from_memory": ["epochs"]})
        self.assertEqual(claim.first, "agrees")
        self.assertIn("(100 to 200, from memory)", regime.table(claim, claim.finding(claim.record)))
        self.assertEqual(regime.table(claim, None), "The source's regime: epochs 100 to 200, from memory.")


def settings_of(study):
    """The tasks of a study by name, or the settings of its grid as the program names them; none if it has one task alone."""
    grid = {f"{study['base']['data']['task']}-{key.rpartition('.')[2]}={value:g}" for key, values in study.get("grid", {}).items() for value in values}
    return {*study.get("tasks", {}), *grid}


class Entries(unittest.TestCase):
    def test_every_claim_names_an_arm_that_its_study_compares(self):
        found = claims.read_claims()
        self.assertEqual(len({claim.id for claim in found}), len(found))
        for claim in found:
            study = files.read_study(claim.study)
            self.assertIn(claim.arm, set(study["arms"]) - {study["compare"]["baseline"]}, claim.id)
            if claim.task:
                self.assertIn(claim.task, settings_of(study), claim.id)
            else:
                self.assertEqual(settings_of(study), set(), claim.id)

    def test_every_study_that_is_noted_exists(self):
        self.assertLessEqual(set(files.catalogue()["studies"]), set(files.studies()))

    def test_every_claim_says_what_it_needs_to_be_judged(self):
        for claim in claims.read_claims():
            self.assertIn(claim.claim, ("superior", "inferior", "noninferior", "equal"), claim.id)
            for key in ("margin", "margin_from", "says", "source", "checked", "where"):
                self.assertTrue(claim.entry.get(key), (claim.id, key))
            self.assertLessEqual(set(claim.regime), {*regime.QUANTITIES, "outside", "from_memory"}, claim.id)
            self.assertLessEqual(set(claim.regime.get("from_memory", [])), set(claim.regime) & set(regime.QUANTITIES), claim.id)
            self.assertTrue(claim.predicts or "outside" not in claim.regime, claim.id)

    def test_seeds_are_enough_for_the_tests_of_margins(self):
        for name in files.studies():
            study = files.read_study(name)
            arms = [arm for arm in study["arms"] if arm != study["compare"]["baseline"]]
            margins = sum(files.declared(name, arm).get("margin") is not None for arm in arms)
            self.assertGreaterEqual(len(study["seeds"]), 6, name)
            if any(files.declared(name, arm)["claim"] in ("equal", "noninferior") for arm in arms):
                self.assertLessEqual(margins / 2 ** len(study["seeds"]), 0.05, name)

    def test_every_claim_has_a_history_that_ends_with_its_words(self):
        self.assertEqual(set(files.history()), {claim.id for claim in claims.read_claims()})
        for claim in claims.read_claims():
            last = files.history()[claim.id][-1]
            self.assertEqual(last["words"], claim.says, claim.id)

    def test_what_a_redesign_replaced_is_told(self):
        told = {id: [entry["verdict"] for entry in entries] for id, entries in files.history().items()}
        self.assertIn("reversed, -73.2 % (-125.0 to -21.3)", told["reversed_addition"])
        self.assertTrue(any(verdict.startswith("equivalent") for verdict in told["masked_positions"]))
        self.assertEqual(files.history()["post_norm_cold"][2]["words"], "Post-norm needs a warm-up.")

    def test_the_program_accepts_every_study(self):
        for path in {*files.HERE.rglob("*.yaml")} - {files.HERE / "claims.yaml", files.HERE / "history.yaml"}:
            done = subprocess.run([PROGRAM, "config", "show", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_results_are_those_of_the_study_as_it_stands(self):
        for name in files.studies():
            found = files.read_record(name)
            if found:
                study = files.read_study(name)
                self.assertEqual(found["seeds"], study["seeds"], name)
                self.assertEqual(found["question"], study["question"], name)
                self.assertEqual([one["text"] for one in found["expectations"]], study["expect"], name)


def results(arms):
    """What the program writes of one task t."""
    cell = {"primary": True, "metric": "loss", "test_set": "", "extrapolates": False, "direction": "lower", "sample": {"mean": 1.0, "deviation": 0.0, "values": [1.0]}}
    return {"study": "s", "question": "?", "seeds": [1], "expectations": [], "notes": [], "tasks": [
        {"name": "t", "metric": "loss", "comparisons": 1, "arms": [{"name": name, "parameters": 10, "cells": [cell]} for name in arms]}]}


def write_study(folder, found, steps, commit="abc"):
    """A finished study's folder, as far as the atlas reads it; `steps` by arm."""
    (folder / "results.json").write_text(json.dumps(found))
    (folder / "study.yaml").write_text("name: s\n")
    (folder / "results.jsonl").write_text("".join(json.dumps({"task": "t", "arm": arm, "seed": 1, "steps": made, "data_sha256": "d"}) + "\n"
                                                  for arm, made in steps.items()))
    run = folder / "t" / "base" / "seed-1"
    run.mkdir(parents=True)
    (run / "environment.json").write_text(json.dumps({"threads": 2, "starts": [{"processor": "P", "cpu_capability": "AVX2", "commit": commit}]}))
    (run / "result.json").write_text(json.dumps({"training_seconds": 90}))


class Records(unittest.TestCase):
    def test_each_arm_keeps_its_own_steps(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            steps = {"base": 100, "short": 10, "evaluated": 0}
            write_study(folder, results(steps), steps)
            found = records.record_of(folder, "a command")
        self.assertEqual({arm: one["steps"] for arm, one in found["tasks"]["t"]["arms"].items()}, steps)
        self.assertEqual((found["core_minutes"], found["command"], found["program"]), (3, "a command", "abc"))
        self.assertEqual((found["study_sha256"], found["data_sha256"]), (hashlib.sha256(b"name: s\n").hexdigest(), ["d"]))

    def test_what_no_commit_has_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_study(folder, results(["base"]), {"base": 1}, commit="abc-dirty")
            with self.assertRaisesRegex(SystemExit, "built from changes that are not committed .abc-dirty."):
                records.record_of(folder, "a command")
        with tempfile.TemporaryDirectory() as name:
            atlas = pathlib.Path(name) / "experiments" / "atlas"
            atlas.mkdir(parents=True)
            for words in (("init", "-q"), ("config", "user.email", "e"), ("config", "user.name", "n")):
                records.git(*words, root=name)
            for file in ("claims.yaml", "gates.yaml"):
                (atlas / file).write_text("a: 1\n")
            records.git("add", ".", root=name)
            records.git("commit", "-qm", "c", root=name)
            (atlas / "claims.yaml").write_text("a: 2\n")
            records.refuse_changed_studies(root=name)
            (atlas / "gates.yaml").write_text("a: 2\n")
            with self.assertRaisesRegex(SystemExit, "M experiments/atlas/gates.yaml"):
                records.refuse_changed_studies(root=name)

    def test_means_on_other_test_sets_are_kept_of_the_same_metric(self):
        found = results(["base"])["tasks"][0]
        primary, = found["arms"][0]["cells"]
        found["arms"][0]["cells"] += [primary | {"primary": False, "test_set": "longer"}, primary | {"primary": False, "metric": "bleu"}]
        self.assertEqual(records.task_record(found, {("t", "base"): 1})["arms"]["base"]["others"], {"": [1.0, 0.0], "longer": [1.0, 0.0]})

    def test_a_control_is_kept_as_one(self):
        found = results(["base", "control"])["tasks"][0]
        found["arms"][1]["control"] = True
        arms = records.task_record(found, {("t", arm): 1 for arm in ("base", "control")})["arms"]
        self.assertEqual([arm.get("control") for arm in arms.values()], [None, True])

    def test_chosen_values_and_those_at_an_end_of_what_was_tried_are_kept(self):
        arms = ("base", "arm")
        tuning = {"arms": [{"task": "t", "arm": arm, "chosen": {"training.schedule.peak": "1.6e-2"}, "at_edge": edge}
                           for arm, edge in zip(arms, ({}, {"training.schedule.peak": "largest"}), strict=True)]}
        tasks = {"t": records.task_record(results(arms)["tasks"][0], {("t", arm): 1 for arm in arms})}
        records.add_choices(tasks, tuning)
        self.assertEqual([arm["at_edge"] for arm in tasks["t"]["arms"].values()], [{}, {"training.schedule.peak": "largest"}])
        self.assertEqual(tasks["t"]["arms"]["base"]["chosen"], {"training.schedule.peak": "1.6e-2"})

    def test_gradient_noise_is_kept_where_it_was_observed(self):
        tasks = {"t": {"arms": {"base": {}, "arm": {}}}}
        records.add_noise(tasks, [{"task": "t", "arm": "base", "gradient_noise": 10.04}, {"task": "t", "arm": "base", "gradient_noise": 30.0},
                                  {"task": "t", "arm": "arm", "gradient_noise": "NaN"}, {"task": "t", "arm": "base-peak=0.1", "gradient_noise": 1.0},
                                  {"task": "t", "arm": "arm"}])
        self.assertEqual(tasks, {"t": {"arms": {"base": {"gradient_noise": [10.0, 30.0]}, "arm": {}}}})


class SecondLooks(unittest.TestCase):
    def setUp(self):
        self.rule = files.catalogue()["rules"]["second_look"]
        self.looks = {path.stem: (files.read_study(path.stem), files.read_study(f"again/{path.stem}")) for path in (files.HERE / "again").glob("*.yaml")}

    def test_are_longer_with_fresh_seeds_and_nothing_else_that_is_new(self):
        for name, (first, again) in self.looks.items():
            self.assertEqual(again["base"], {"training": {"steps": self.rule["steps"] * first["base"]["training"]["steps"]}}, name)
            self.assertEqual(again["seeds"], [seed + self.rule["seeds"] for seed in first["seeds"]], name)
            for key in ("arms", "tasks"):
                self.assertLessEqual(again.get(key, {}).items(), first.get(key, {}).items(), name)
            self.assertLessEqual(set(again.get("expect", [])), set(first["expect"]), name)
            self.assertLessEqual(again.get("compare", {}).get("arms", {}).items(), first["compare"].get("arms", {}).items(), name)
            self.assertLessEqual(set(again), {"extends", "seeds", "base", "arms", "tasks", "expect", "compare"}, name)

    def test_what_is_asked_again_is_in_one(self):
        asked = [claim for claim in claims.read_claims() if claim.is_asked_again]
        self.assertTrue(asked)
        for claim in asked:
            whole = dict.__or__(*self.looks[claim.study])
            self.assertIn(claim.arm, whole["arms"])
            self.assertIn(whole["compare"].get("baseline") or self.looks[claim.study][0]["compare"]["baseline"], whole["arms"])
            self.assertTrue(claim.task is None or claim.task in whole["tasks"])

    def test_no_seed_is_used_twice(self):
        for name in files.studies():
            study = files.read_study(name)
            used = {*study["seeds"], *study.get("tune", {}).get("seeds", [])}
            self.assertFalse(used & {seed + self.rule["seeds"] for seed in study["seeds"]}, name)
            self.assertFalse(set(study["seeds"]) & set(study.get("tune", {}).get("seeds", [])), name)

    def test_a_study_is_run_as_its_record_tells(self):
        for again, file, folder in ((False, "norms", "atlas"), (True, "again/norms", "second_looks")):
            with tempfile.TemporaryDirectory() as results, unittest.mock.patch.object(files, "RESULTS", pathlib.Path(results)), \
                    unittest.mock.patch.object(records, "refuse_changed_studies"), unittest.mock.patch.object(records, "record_of") as taken, \
                    unittest.mock.patch("subprocess.run") as ran:
                ran.return_value.returncode, taken.return_value = atlas.EXPECTATION_FAILED, {"a": 1}
                atlas.run("norms", again, "d")
                self.assertEqual(files.read_record("norms", again), {"a": 1})
            self.assertEqual(" ".join(ran.call_args.args[0]), f"build/ablate run experiments/atlas/{file}.yaml --output runs/{folder} --data d")
            taken.assert_called_with(files.ROOT / "runs" / folder / "norms", f"build/ablate run experiments/atlas/{file}.yaml --output runs/{folder} --data DIR")

    def test_make_runs_what_is_asked_for(self):
        done = subprocess.run(["make", "-n", "-C", SOURCE, "atlas", "PART=recall", "AGAIN=1", "DATA=d"], capture_output=True, text=True)
        self.assertIn("python3 experiments/atlas/atlas.py recall --again --data d\n", done.stdout)

    def test_the_list_of_parts_needs_no_build(self):
        for part, builds in ("PART=recall", True), ("PART=", False):
            done = subprocess.run(["make", "-n", "-C", SOURCE, "atlas", part], capture_output=True, text=True)
            self.assertEqual("cmake --build" in done.stdout, builds, part)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
