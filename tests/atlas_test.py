"""Tests the atlas of claims: atlas_test.py <source folder> <program>"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from atlas_fixtures import claim_of, contrast, phrases, record, with_regime, with_arms_of_the_record

import atlas
import claims
import files
import records

LOOK, CARD = phrases("look.jinja"), phrases("card.jinja")
SOURCE, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]


class Outcomes(unittest.TestCase):
    def test_without_a_record_or_its_arm_a_claim_is_not_run(self):
        found = record(contrast("agrees"))
        for claim in (claim_of(), claim_of(found, arm="other"), claim_of(found, task="u")):
            self.assertEqual((claim.first, claim.looks[0]), ("not run", None))

    def test_a_claim_of_one_size_is_held_against_that_size(self):
        found = record(contrast("agrees"))
        found["tasks"] = {"t-s": record(contrast("inconclusive"))["tasks"]["t"], "t-m": found["tasks"]["t"]}
        for size, outcome in (("s", "undecided"), ("m", "agrees")):
            self.assertEqual(claim_of(found, size=size).first, outcome)

    def test_the_program_decides(self):
        for kind, contradicted in (("superior", "other sign"), ("inferior", "other sign"), ("equal", "beyond the margin"), ("noninferior", "beyond the margin")):
            for said, word in (("agrees", "agrees"), ("contradicts", contradicted), ("inconclusive", "undecided"), ("not_learned", "not learned"),
                               ("no_effect_of_that_size", "no effect of that size here"), (None, "undecided")):
                self.assertEqual(claim_of(record(contrast(said, kind)), claim=kind).first, word)

    def test_outside_the_sources_regime_a_study_neither_agrees_nor_contradicts(self):
        for said, word in (("agrees", "outside the source's regime"), ("contradicts", "outside the source's regime"), ("not_learned", "not learned")):
            claim = claim_of(with_regime(record(contrast(said)), depth=[1, 1]), regime={"depth": [5, 6], "epochs": [1, 1]})
            self.assertEqual((claim.first, claim.looks[0].outside), (word, ["depth"]))

    def test_a_range_is_missed_by_a_factor_above_four_whatever_an_old_record_says(self):
        for here, source, outside in (([1, 1], [4, 8], []), ([1, 1], [4.1, 8], ["depth"]), ([32, 32], [4, 8], []), ([33, 33], [4, 8], ["depth"])):
            found = with_regime(record(contrast("agrees", outside=["Depth 1, in the source 2."])), depth=here)
            self.assertEqual(claim_of(found, regime={"depth": source}).looks[0].outside, outside)
            self.assertEqual(claim_of(found, regime={"depth": source, "from_memory": ["depth"]}).looks[0].outside, [])

    def test_what_is_withdrawn_does_not_count_and_what_is_undecided_need_not_be(self):
        for raw, word in (("agrees", "withdrawn"), ("contradicts", "withdrawn"), ("beyond_margin", "withdrawn"), ("inconclusive", "undecided")):
            claim = claim_of(record(contrast("inconclusive", "equal", reported=raw)), claim="equal", withdrawn="A reason.")
            claims.add_q([claim])
            self.assertEqual((claim.first, claim.looks[0].q), (word, None))

    def test_a_misspelt_name_of_a_claim_is_an_error(self):
        self.assertIsNone(claim_of().guess)
        with self.assertRaisesRegex(AttributeError, "no attribute 'guesss'"):
            claim_of().guesss

    def test_q_is_as_by_benjamini_and_hochberg(self):
        # SciPy 1.17.1: false_discovery_control(p).
        p = [0.041, 0.001, 0.039, 0.08, 0.008, 0.041, 0.06, 0.074]
        for found, wanted in zip(claims.q_values(p), [0.0656, 0.008, 0.0656, 0.08, 0.032, 0.0656, 0.08, 0.08], strict=True):
            self.assertAlmostEqual(found, wanted)
        self.assertEqual(claims.q_values([]), [])

    def test_what_decided_counts_and_the_undecided_count_as_one(self):
        tests = {name: {"adjusted_p": p} for name, p in (("difference", 0.01), ("within", 0.02), ("beyond", 0.03))}
        for kind, said, p in (("superior", "agrees", 0.01), ("superior", "contradicts", 0.01), ("equal", "agrees", 0.02), ("noninferior", "agrees", 0.02),
                              ("equal", "contradicts", 0.03), ("superior", "inconclusive", 1), ("inferior", "no_effect_of_that_size", 1)):
            self.assertEqual(claim_of(record(contrast(said, kind, **tests)), claim=kind).looks[0].p, p, (kind, said))

    def test_second_looks_count_in_q_and_decide_nothing_of_the_first(self):
        alone, twice = claim_of(record(contrast("agrees", p=0.04))), claim_of(record(contrast("agrees", p=0.04)), record(contrast("inconclusive", p=0.2)))
        for claim in (alone, twice):
            claims.add_q([claim])
            self.assertEqual(claim.first, "agrees")
        self.assertEqual([[look and look.q for look in claim.looks] for claim in (alone, twice)], [[0.04, None], [0.08, None]])


class Regime(unittest.TestCase):
    def text(self, source, arm=None, **baseline):
        found = record(contrast("agrees"))
        arms = found["tasks"]["t"]["arms"]
        arms["base"], arms["arm"] = arms["base"] | baseline, arms["arm"] | (arm or {})
        return LOOK.regime(claim_of(found, regime=source))

    def test_the_studys_values_stand_beside_the_sources(self):
        run = {"regime": {"tokens_per_parameter": [22.308, 22.308], "epochs": [8.965, 8.965], "depth": [3, 3]}}
        source = {"tokens_per_parameter": [200, 300], "depth": [0.001, 24], "epochs": [1, 1], "parameters_matched": True, "from_memory": ["epochs"]}
        self.assertEqual(self.text(source, **run), "Regime, here (in the source): layers 3 (at most 24); different tokens a parameter 22.3 (200 to 300); "
                                                   "epochs 8.96 (1, from memory); equal sizes yes (yes); rates tuned yes (unknown).")
        self.assertIn("epochs unknown (unknown)", self.text({}))
        for source, confirmatory, late in (({"after_result": True}, None, True), ({"epochs": [1, 1]}, None, False), ({"epochs": [1, 1]}, False, True),
                                           ({"after_result": True}, True, False), ({}, False, False)):
            found = record(contrast("agrees")) | ({} if confirmatory is None else {"confirmatory": confirmatory})
            self.assertEqual("Regime after result, here" in LOOK.regime(claim_of(found, regime=source)), late, (source, confirmatory))
        self.assertIn("epochs unknown (100 to 200); equal sizes unknown (unknown)", LOOK.regime(claim_of(regime={"epochs": [100, 200]})))

    def test_sizes_that_differ_by_more_than_two_hundredths_are_not_equal(self):
        for parameters, word in ((1019, "yes"), (1021, "no")):
            self.assertIn(f"equal sizes {word} (unknown)", self.text({}, {"parameters": parameters}, parameters=1000))

    def test_what_the_source_predicts_is_told_where_it_is_outside_and_where_not(self):
        for depth, said in ((1, "\n\nOutside the source's regime, by a factor above 4: layers. There the source predicts: a loss.\n\n"),
                            (5, "\n\nFor such a study the source predicts: a loss.\n\n")):
            claim = claim_of(with_regime(record(contrast("agrees")), depth=[depth, depth]), regime={"depth": [5, 6]},
                             predicts="a loss.", checked="", where="", margin_from="")
            with unittest.mock.patch.object(files, "history", lambda: {"one": []}):
                self.assertIn(said, atlas.page("claim.md", claim=claim))


def studies():
    return sorted(path.stem for path in files.HERE.glob("*.yaml") if path.stem not in ("claims", "history"))


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

    def test_the_range_of_a_source_stands_in_the_study_and_what_is_from_memory_beside_it(self):
        for entry in files.catalogue()["claims"]:
            ranges = {key for key, value in entry.get("regime", {}).items() if isinstance(value, list)} - {"from_memory"}
            self.assertLessEqual(ranges, set(entry["regime"]["from_memory"]) if ranges else set(), entry["id"])
        study = {"compare": {"claim": "superior", "regime": {"epochs": [1, 2]}, "arms": {"own": {"margin": 0.1, "regime": {"depth": [3, 4]}}}}}
        with unittest.mock.patch.object(files, "read_study", lambda _: study):
            for arm, found in (("other", {"epochs": [1, 2], "rates_tuned": True}), ("own", {"epochs": [1, 2], "depth": [3, 4], "rates_tuned": True})):
                self.assertEqual(files.declared({"study": "s", "arm": arm, "regime": {"rates_tuned": True}})["regime"], found)

    def test_what_is_said_of_an_arm_stands_in_the_study_unless_it_differs_by_task(self):
        for entry in files.catalogue()["claims"]:
            arm = [one for one in files.catalogue()["claims"] if (one["study"], one["arm"]) == (entry["study"], entry["arm"])]
            self.assertEqual("says" in entry, len(arm) > 1, entry["id"])
            self.assertNotIn("source", entry, entry["id"])
        study = {"compare": {"claim": "superior", "says": "It helps.", "source": "Doe 2020, Table 1, https://doe", "arms": {"own": {"says": "More."}}}}
        with unittest.mock.patch.object(files, "read_study", lambda _: study):
            for arm, more, says in (("other", {}, "It helps."), ("own", {}, "More."), ("own", {"says": "Here."}, "Here.")):
                found = files.declared({"study": "s", "arm": arm} | more)
                self.assertEqual((found["says"], found["source"]), (says, {"text": "Doe 2020, Table 1", "url": "https://doe"}))

    def test_what_a_study_calls_published_is_the_difference_of_the_figures_of_losses_as_it_is_or_as_a_share_of_its_baseline(self):
        stated = 0
        for claim in claims.read_claims():
            compare = files.read_study(claim.study)["compare"]
            published = (compare | compare.get("arms", {}).get(claim.arm, {})).get("published")
            if published is not None:
                look, difference = claim.looks[0], claim.published["arm"] - claim.published["baseline"]
                losses = [look.baseline["mean"], *map(float, re.findall(r"of a loss of (\d\.\d+)", claim.margin_from))]  # what shares are of
                units = (1, *(loss / claim.published["baseline"] for loss in losses)) if look.metric == "loss" else (1,)
                self.assertLess(min(abs(published / (difference * unit) - 1) for unit in units), 0.05, claim.id)
                stated += 1
        self.assertTrue(stated)

    def test_every_study_that_is_noted_exists(self):
        self.assertLessEqual(set(files.catalogue()["studies"]), set(studies()))

    def test_every_claim_says_what_it_needs_to_be_judged(self):
        for claim in claims.read_claims():
            self.assertIn(claim.claim, ("superior", "inferior", "noninferior", "equal"), claim.id)
            for key in ("margin", "margin_from", "says", "checked", "where"):
                self.assertTrue(getattr(claim, key), (claim.id, key))
            self.assertTrue(claim.source["text"] and claim.source["url"].startswith("https://"), claim.id)
            self.assertIn(claim.read, CARD.read, claim.id)
            self.assertLessEqual(set(claim.regime), {*LOOK.quantities, "from_memory", "after_result"}, claim.id)
            self.assertLessEqual(set(claim.regime.get("from_memory", [])), set(claim.regime) & set(LOOK.quantities), claim.id)

    def test_seeds_are_enough_for_the_tests_of_margins(self):
        for name in studies():
            study = files.read_study(name)
            arms = [arm for arm in study["arms"] if arm != study["compare"]["baseline"]]
            margins = sum(files.declared({"study": name, "arm": arm}).get("margin") is not None for arm in arms)
            self.assertGreaterEqual(len(study["seeds"]), 6, name)
            if any(files.declared({"study": name, "arm": arm}).get("claim") in ("equal", "noninferior") for arm in arms):
                self.assertLessEqual(margins / 2 ** len(study["seeds"]), 0.05, name)

    def test_every_claim_has_a_history_that_ends_with_its_words(self):
        self.assertEqual(set(files.history()), {claim.id for claim in claims.read_claims()})
        for claim in claims.read_claims():
            *_, last = (entry["words"] for entry in files.history()[claim.id] if "words" in entry)
            self.assertEqual(last, claim.says, claim.id)

    def test_what_a_redesign_replaced_is_told(self):
        told = {id: [entry["verdict"] for entry in entries] for id, entries in files.history().items()}
        self.assertIn("reversed, -73.2 % (-125.0 to -21.3)", told["reversed_addition"])
        self.assertTrue(any(verdict.startswith("equivalent") for verdict in told["masked_positions"]))
        self.assertIn("Post-norm needs a warm-up.", [entry.get("words") for entry in files.history()["post_norm_cold"]])

    def test_the_program_accepts_every_study(self):
        for path in {*files.HERE.rglob("*.yaml")} - {files.HERE / "claims.yaml", files.HERE / "history.yaml"}:
            done = subprocess.run([PROGRAM, "config", "show", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_results_are_those_of_the_study_as_it_stands(self):
        for name in studies():
            found = files.records().get(name)
            if found:
                study = files.read_study(name)
                self.assertEqual(found["seeds"], study["seeds"], name)
                self.assertEqual(found["question"], study["question"], name)
                self.assertEqual([one["text"] for one in found["expectations"]], study["expect"], name)


def arm_results(name, steps=100.0):
    """What the program writes of one arm."""
    cell = {"primary": True, "metric": "loss", "test_set": "", "extrapolates": False, "direction": "lower", "sample": {"mean": 1.0, "deviation": 0.0, "values": [1.0]}}
    return {"name": name, "parameters": 10, "steps": {"mean": steps}, "control": False, "regime": {}, "cells": [cell]}


def results(*arms):
    """What the program writes of one task t."""
    provenance = {"commits": ["abc", "abd"], "hardware": ["P (AVX2)"], "core_seconds": 180.0, "study_sha256": "s", "data_sha256": ["d"]}
    return {"study": "s", "question": "?", "confirmatory": True, "seeds": [1], "expectations": [], "notes": [], "ladders": [], "provenance": provenance,
            "tasks": [{"name": "t", "metric": "loss", "comparisons": 1, "arms": list(arms)}]}


def arms_of(*arms):
    """What the record keeps of them."""
    return records.task_record(results(*arms)["tasks"][0])["arms"]


class Records(unittest.TestCase):
    def test_a_record_has_what_the_program_says_of_the_runs_and_each_arms_own_steps(self):
        found = records.record_of(results(arm_results("base"), arm_results("short", 10.0), arm_results("evaluated", "NaN")), "0123456789", "a command")
        self.assertEqual({arm: one["steps"] for arm, one in found["tasks"]["t"]["arms"].items()}, {"base": 100, "short": 10, "evaluated": 0})
        self.assertEqual((found["provenance"]["study_sha256"], found["commit"], found["command"], found["confirmatory"]), ("s", "0123456789", "a command", True))

    def test_means_on_other_test_sets_are_kept_of_the_same_metric(self):
        arm = arm_results("base")
        primary, = arm["cells"]
        arm["cells"] += [primary | {"primary": False, "test_set": "longer"}, primary | {"primary": False, "metric": "bleu"}]
        self.assertEqual(arms_of(arm)["base"]["others"], {"": [1.0, 0.0], "longer": [1.0, 0.0]})

    def test_a_control_is_kept_as_one_and_the_regime_of_an_arm(self):
        arms = arms_of(arm_results("base") | {"regime": {"depth": [2, 2]}}, arm_results("control") | {"control": True})
        self.assertEqual([(arm.get("control"), arm.get("regime")) for arm in arms.values()], [(False, {"depth": [2, 2]}), (True, {})])

    def test_chosen_values_and_those_at_an_end_of_what_was_tried_are_kept(self):
        def search(value, **edge):
            return {"chosen": {"peak": value}, "at_edge": edge}

        tasks = {"t": {"arms": {"base": {}, "arm": {}}}}
        records.add_choices(tasks, {"arms": [{"task": "t", "arm": "base"} | search("1.6e-2"),
                                             {"task": "t", "arm": "arm", "seeds": [search("8e-3"), search("1.6e-2", peak="largest"), search("8e-3")]}]})
        self.assertEqual(tasks["t"]["arms"], {"base": {"chosen": {"peak": "1.6e-2"}, "at_edge": {}},
                                              "arm": {"chosen": {"peak": "8e-3 (2), 1.6e-2 (1)"}, "at_edge": {"peak": "largest"}}})


class SecondLooks(unittest.TestCase):
    def setUp(self):
        self.looks = {path.stem: (files.read_study(path.stem), files.read_study(f"again/{path.stem}")) for path in (files.HERE / "again").glob("*.yaml")}

    def test_are_longer_with_fresh_seeds_and_nothing_else_that_is_new(self):
        for name, (first, again) in self.looks.items():
            self.assertEqual(again["base"], {"training": {"steps": 3 * first["base"]["training"]["steps"]}}, name)
            others = [seed + 20 for seed in first["seeds"]]
            self.assertEqual(again["seeds"][:len(others)], others, f"{name}, and as many more as the level of a second look takes")
            for key in ("arms", "tasks"):
                self.assertLessEqual(again.get(key, {}).items(), first.get(key, {}).items(), name)
            self.assertLessEqual(set(again.get("expect", [])), set(first["expect"]), name)
            usual = {arm: said for arm, said in first["compare"].get("arms", {}).items() if arm in again.get("arms", first["arms"])}
            self.assertEqual(again.get("compare", first["compare"]).get("arms", {}), usual, name)
            self.assertLessEqual(set(again), {"extends", "seeds", "base", "arms", "tasks", "expect", "compare"}, name)

    def test_what_is_left_open_by_a_large_difference_is_in_one(self):
        outside = {"bias_balance", "gelu", "independent_decay_low", "recall_lstm"}  # with three times the steps
        due = {claim.id for claim in claims.read_claims() if "The second look of rule 4 is due." in (claim.note or "")}
        open_ = [claim for claim in claims.read_claims() if claim.first in ("undecided", "no effect of that size here") and claim.id not in outside | due]
        asked = [claim for claim in open_ if claim.looks[0].contrast["outcome"] == "inconclusive"
                 and abs(claim.looks[0].contrast["mean"]) > 0.5 * claim.looks[0].contrast.get("detectable", math.inf)]
        self.assertTrue(asked)
        for claim in asked:
            whole = dict.__or__(*self.looks[claim.study])
            self.assertIn(claim.arm, whole["arms"])
            self.assertIn(whole["compare"].get("baseline") or self.looks[claim.study][0]["compare"]["baseline"], whole["arms"])
            self.assertTrue(claim.task is None or claim.task in whole["tasks"])

    def test_no_seed_is_used_twice(self):
        for name in studies():
            study = files.read_study(name)
            used = {*study["seeds"], *study.get("tune", {}).get("seeds", [])}
            self.assertFalse(used & {seed + 20 for seed in study["seeds"]}, name)
            self.assertFalse(set(study["seeds"]) & set(study.get("tune", {}).get("seeds", [])), name)

    def test_make_runs_what_the_record_tells(self):
        for words, file, folder, name in (((), "recall", "runs/atlas", "recall"), (("AGAIN=1",), "again/recall", "runs/second_looks", "recall.again")):
            done = subprocess.run(["make", "-n", "-C", SOURCE, "atlas", "PART=recall", "DATA=d", *words], capture_output=True, text=True)
            command = f"build/ablate run experiments/atlas/{file}.yaml --output {folder} --data"
            self.assertIn(f"{command} d || [ $? = 1 ]\npython3 experiments/atlas/records.py docs/results/atlas/{name}.json {folder}/recall/results.json $(git rev-parse --short=10 HEAD) {command} DIR\n", done.stdout)

    def test_a_run_by_a_program_that_no_commit_has_makes_no_record(self):
        found = results(arm_results("base"))
        found["provenance"]["commits"] = ["abc", "abd-dirty"]
        with self.assertRaisesRegex(SystemExit, "changes that no commit has"):
            records.record_of(found, "abc", "a command")

    def test_a_record_names_the_commit_of_its_study(self):
        shallow = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True).stdout
        if shallow != "false\n":
            self.skipTest("this checkout has no history")
        for name, found in files.records().items():
            if expected := found["provenance"].get("study_sha256"):
                self.assertEqual(expected, records.study_sha256(found["commit"], found["command"].replace("build/ablate", PROGRAM, 1)), name)

    def test_a_study_that_differs_from_its_commit_makes_no_record(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.json"
            file.write_text(json.dumps(results(arm_results("base"))))
            command = [sys.executable, files.HERE / "records.py", pathlib.Path(folder) / "record.json", file, "HEAD", "build/ablate", "run", "experiments/atlas/values.yaml"]
            done = subprocess.run(command, capture_output=True, text=True, cwd=SOURCE)
            self.assertIn("the study that ran is not the one of commit HEAD", done.stderr)
            self.assertFalse((pathlib.Path(folder) / "record.json").exists())

    def test_make_runs_nothing_that_no_commit_has(self):
        with tempfile.TemporaryDirectory() as folder:
            studies = pathlib.Path(folder) / "experiments" / "atlas"
            studies.mkdir(parents=True)
            (studies / "study.yaml").write_text("a: 1\n")
            for words in (("init", "-q"), ("add", "."), ("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "c")):
                subprocess.run(["git", "-C", folder, *words], check=True)
            for changed, text, refused in (("study.yaml", "a: 1\n", False), ("study.yaml", "a: 2\n", True), ("study.yaml", "a: 1\n", False), ("new.yaml", "a: 1\n", True)):
                (studies / changed).write_text(text)
                command = ["make", "-C", folder, "-f", SOURCE.resolve() / "Makefile", "-o", "setup-test", "-o", "build", "atlas", "PART=study"]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual("commit all changes first" in done.stdout, refused, done.stdout + done.stderr)
                self.assertNotEqual("build/ablate" in done.stderr, refused, "whether it came to the run")

    def test_the_list_of_parts_needs_no_build(self):
        for part, builds in ("PART=recall", True), ("PART=", False):
            done = subprocess.run(["make", "-n", "-C", SOURCE, "atlas", part], capture_output=True, text=True)
            self.assertEqual("cmake --build" in done.stdout, builds, part)
        self.assertIn("\nrecall: ", subprocess.run(["make", "-s", "-o", "setup-test", "-C", SOURCE, "atlas"], capture_output=True, text=True).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
