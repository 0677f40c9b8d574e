"""Studies from Python, and their tables beside the files that they are read from."""

import copy
import csv
import html
import io
import json
import math
import os
import pathlib
import shutil
import sys
import unittest
import unittest.mock

import ablate_lab
import example
from ablate_lab import _study
from example import STUDY

try:
    import pandas
except ImportError:
    pandas = None
try:
    import numpy
except ImportError:
    numpy = None

needs_pandas = unittest.skipUnless(pandas, "needs pandas")
needs_numpy = unittest.skipUnless(numpy, "needs numpy")


@needs_pandas
class Tables(example.Case):
    def test_a_dict_is_trained_like_the_file_that_says_the_same(self):
        file = self.folder / "study.yaml"
        file.write_text(json.dumps(STUDY))
        again = ablate_lab.run(file, output=str(self.folder / "runs"), show=False, threads=1)
        self.assertEqual(again.folder, self.folder / "runs/tiny")
        columns = ["task", "arm", "test_set", "metric", "seed"]
        pandas.testing.assert_frame_equal(*(one.scores()[lambda table: table["metric"] != "decode_seconds"].set_index(columns)
                                            for one in (example.study(), again)))

    def test_scores_are_those_of_results_csv(self):
        scores = example.study().scores().set_index(["task", "arm", "test_set", "metric", "seed"])["value"]
        expected = {}
        with (example.study().folder / "results.csv").open() as table:
            for line in csv.DictReader(table):
                for seed in (1, 2):
                    if line[f"seed_{seed}"]:
                        expected[line["task"], line["arm"], line["test_set"], line["metric"], seed] = float(line[f"seed_{seed}"])
        found = scores.to_dict()
        self.assertEqual(found.keys(), expected.keys())
        for name, value in expected.items():
            self.assertTrue(math.isclose(found[name], value, rel_tol=1e-6), name)

    def test_scores_are_those_of_each_run(self):
        scores = example.study().scores().set_index(["arm", "metric", "test_set", "seed"])["value"]
        for arm in ("with", "none"):
            for seed in (1, 2):
                result = json.loads((example.study().folder / f"reverse/{arm}/seed-{seed}/result.json").read_text())
                test = result["tests"][0]
                self.assertEqual(scores[arm, "token_accuracy", test["name"], seed], test["token_accuracy"])

    def test_verdicts_are_the_declared_comparisons_alone(self):
        verdicts = example.study().verdicts()
        self.assertEqual(verdicts[["arm", "metric", "verdict"]].values.tolist(), [["none", "token_accuracy", "too_few_seeds"]])
        accuracy = example.study().scores().query("metric == 'token_accuracy' and test_set == 'length 3'")
        accuracy = accuracy.pivot(index="seed", columns="arm", values="value")
        self.assertAlmostEqual(verdicts["difference"][0], (accuracy["none"] - accuracy["with"]).mean())
        self.assertTrue(math.isnan(verdicts["low"][0]), "two seeds have no interval")

    def test_curves_hold_every_record_of_their_kind(self):
        training = example.study().curves()
        self.assertEqual(training[["arm", "seed", "step"]].values.tolist(),
                         [[arm, seed, step] for arm in ("none", "with") for seed in (1, 2) for step in (4, 8)])
        self.assertTrue(training["loss"].between(0, 10).all())
        self.assertEqual(set(example.study().curves("validation")["step"]), {4, 8})
        self.assertEqual(list(example.study().curves("mixture").columns), ["task", "arm", "seed", "step", "mixture"])
        with self.assertRaisesRegex(ValueError, "there are no 'speed' records; the kinds are training"):
            example.study().curves("speed")

    def test_numbers_that_are_not_finite_are_numbers(self):
        folder = self.folder / "tiny"
        shutil.copytree(example.study().folder, folder)
        file = folder / "reverse/with/seed-1/metrics.jsonl"
        file.write_text('{"loss": "NaN", "step": 1}\n{"loss": "Infinity", "step": 2}\n{"loss": 1.0, "st')
        loss = ablate_lab.Study(folder).curves().query("arm == 'with' and seed == 1")["loss"]
        self.assertTrue(math.isnan(loss.iloc[0]) and loss.iloc[1] == math.inf)
        self.assertEqual(len(loss), 2, "the line that is being written is left out")

    def test_set_seeds_and_flags_reach_the_program(self):
        few = ablate_lab.run(STUDY, set={"training.steps": 2, "training.schedule.kind": "constant"}, seeds=[5], arms=["with"], threads=1,
                             output=self.folder, show=False)
        self.assertEqual((set(few.scores()["arm"]), set(few.scores()["seed"])), ({"with"}, {5}))
        self.assertEqual(set(few.curves()["step"]), {2})


class Results(example.Case):
    def test_the_answer_is_that_of_the_report(self):
        study = example.study()
        table = (study.folder / "table.txt").read_text()
        self.assertIn(" ".join(study.answer.split()), " ".join(table.split()), "its lines are broken at words")
        self.assertIn(study.answer, repr(study))

    def test_jupyter_shows_the_report(self):
        shown = example.study()._repr_html_()
        page = shown.partition('srcdoc="')[2].partition('" style')[0]
        self.assertEqual(html.unescape(page), (example.study().folder / "report.html").read_text())
        self.assertNotIn('"', page, "the attribute ends where the page does")
        self.assertTrue(shown.startswith("<iframe srcdoc=") and "Are positions needed?" in shown)

    def test_the_file_of_results_stands_for_its_folder(self):
        study = ablate_lab.Study(example.study().folder / "results.json")
        self.assertEqual((study.folder, study.answer), (example.study().folder, example.study().answer))

    def test_a_folder_without_results_is_named(self):
        with self.assertRaisesRegex(FileNotFoundError, f"{self.folder}/results.json is missing; `ablate report"):
            ablate_lab.Study(self.folder)

    def test_without_pandas_a_table_says_how_to_install_it(self):
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "tables need pandas: python -m pip install pandas"):
                _study._table([], [])

    def test_a_mistake_in_a_study_is_an_error_with_the_message_of_the_program(self):
        wrong = copy.deepcopy(STUDY)
        wrong["base"]["training"]["stepps"] = 3
        with self.assertRaisesRegex(ablate_lab.AblateError, "unknown key 'stepps' in training.*did you mean 'steps'") as raised:
            ablate_lab.run(wrong, output=self.folder, show=False)
        self.assertEqual(raised.exception.exit_code, 2)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_expectation_that_does_not_hold_is_an_error_beside_results(self):
        with self.assertRaisesRegex(ablate_lab.AblateError, "expectations of the study do not hold") as raised:
            ablate_lab.run({**STUDY, "expect": ["with.token_accuracy > 2"]}, output=self.folder, show=False, seeds=1, threads=1)
        self.assertEqual(raised.exception.exit_code, 1)
        self.assertIs(ablate_lab.Study(self.folder / "tiny").results["expectations"][0]["holds"], False)

    def test_progress_is_shown_if_asked_for(self):
        for show in (True, False):
            with unittest.mock.patch("sys.stderr", io.StringIO()) as shown:
                ablate_lab.run(STUDY, output=self.folder, seeds=[1], arms=["with"], threads=1, show=show)
            self.assertEqual("reverse/with/seed-1: finished" in shown.getvalue(), show)
            self.assertTrue(show or shown.getvalue() == "")


class Folders(example.Case):
    """Relative paths are those of the folder in which they were given."""

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def test_a_study_is_the_same_after_a_change_of_the_folder(self):
        run = self.folder / "runs/tiny/reverse/with/seed-1"
        run.mkdir(parents=True)
        (self.folder / "runs/tiny/results.json").write_text('{"answer": "Yes."}')
        (self.folder / "runs/tiny/report.html").write_text("<p>Yes.</p>")
        (run / "run.json").write_text('{"task": "reverse", "arm": "with", "seed": 1}')
        (run / "metrics.jsonl").write_text('{"step": 4, "loss": 1.5}\n')
        self.patch(_study, "_table", lambda rows, columns: rows)
        self.program("""echo '{"state": "finished", "run": "reverse/with/seed-1", "study": "runs/tiny"}'\n""")
        for study in (ablate_lab.Study("runs/tiny"), ablate_lab.Study(pathlib.Path("runs/../runs/tiny")),
                      ablate_lab.run("study.yaml", show=False), ablate_lab.run("study.yaml", output="./runs/", show=False)):
            os.chdir("/")
            self.assertEqual(study.curves(), [{"task": "reverse", "arm": "with", "seed": 1, "step": 4, "loss": 1.5}])
            self.assertIn("Yes.", study._repr_html_())
            self.assertTrue((study.folder / "results.json").exists())
            os.chdir(self.folder)

    def test_fetch_is_the_verb_and_returns_the_folder_of_the_corpus(self):
        self.program(f'echo "$@" >{self.folder}/words\n')
        self.assertEqual(ablate_lab.fetch("tinyshakespeare", self.folder / "data"), self.folder / "data/tinyshakespeare")
        self.assertEqual((self.folder / "words").read_text(), f"data fetch tinyshakespeare --to {self.folder}/data\n")
        self.assertEqual(ablate_lab.fetch("tinyshakespeare"), self.folder / "data/tinyshakespeare")

    def test_a_corpus_that_is_unknown_is_an_error(self):
        with self.assertRaisesRegex(ablate_lab.AblateError, "there is no corpus 'multi31k'; did you mean 'multi30k'") as raised:
            ablate_lab.fetch("multi31k", self.folder, show=False)
        self.assertEqual(raised.exception.exit_code, 2)


class Arguments(example.Case):
    """What `run` takes; the program writes down its words and the study."""

    def words(self, study="study.yaml", **given):
        self.program('for last in "$@"; do :; done\n'
                     f'[ "$last" = --json ] || {{ printf "%s\\n" "$@" >{self.folder}/words; cp "$2" {self.folder}/study; exit 9; }}\n'
                     f'printf "%s\\n" "$@" >{self.folder}/listed; echo \'{{"study": "{self.folder}/name"}}\'\n')
        with self.assertRaisesRegex(ablate_lab.AblateError, "exit code 9"):
            ablate_lab.run(study, output=self.folder, **given)
        words = (self.folder / "words").read_text().splitlines()
        self.assertIn(f"--output={self.folder}", words)
        return [word for word in words[2:] if not word.startswith("--output=")]

    def setUp(self):
        super().setUp()
        (self.folder / "study.yaml").touch()

    def given(self, **given):
        return self.words(self.folder / "study.yaml", **given)

    def test_flags_are_values_lists_and_switches(self):
        self.assertEqual(self.given(jobs=2, arms=["a", "b"], wait=True), ["--jobs=2", "--arms=a,b", "--wait=true"])
        self.assertEqual(self.given(arms="a", slurm="--time=1:00", prologue=pathlib.Path("lines"), wait=False, threads=None),
                         ["--arms=a", "--slurm=--time=1:00", "--prologue=lines"])
        self.assertEqual(self.given(some_flag=3), ["--some-flag=3"])

    def test_the_runs_are_listed_with_the_flags_that_choose_them_alone(self):
        self.given(jobs=2, arms="a", retries=3, set={"training.steps": 2})
        self.assertEqual((self.folder / "listed").read_text().splitlines()[2:],
                         ["--set", "training.steps=2", f"--output={self.folder}", "--arms=a", "--list", "--json"])

    def test_seeds_are_a_number_or_numbers(self):
        for seeds, words in ((1, "1"), ([1, 2], "1,2"), (range(3), "0,1,2"), ((seed for seed in (4, 5)), "4,5"), ({3, 1, 2}, "1,2,3"),
                             ("1,2", "1,2"), ({7: "x"}.keys(), "7")):
            self.assertEqual(self.given(seeds=seeds), [f"--seeds={words}"])
        self.assertEqual(self.given(seeds=None), [])

    @needs_numpy
    def test_values_of_numpy_are_values(self):
        self.assertEqual(self.given(seeds=numpy.arange(1, 3), jobs=numpy.int64(2), arms=numpy.array(["a", "b"]), wait=numpy.bool_(True)),
                         ["--seeds=1,2", "--jobs=2", "--arms=a,b", "--wait=true"])
        self.assertEqual(self.given(set={"training.steps": numpy.int32(3), numpy.str_("training.peak"): numpy.float64(0.5),
                                         "data.test_length": numpy.array([1, 2]), "data.train": [pathlib.Path("a/b")], "tied": numpy.bool_(False)}),
                         ["--set", "training.steps=3", "--set", "training.peak=0.5", "--set", "data.test_length=[1, 2]",
                          "--set", 'data.train=["a/b"]', "--set", "tied=false"])
        self.words({"seeds": (numpy.int64(1), 2), "base": {"data": {"train": pathlib.Path("a")}, numpy.int64(3): {"x": numpy.float32(0.5)}}})
        self.assertEqual(json.loads((self.folder / "study").read_text()),
                         {"seeds": [1, 2], "base": {"data": {"train": "a"}, "3": {"x": 0.5}}})

    def test_what_has_no_meaning_is_refused_before_anything_starts(self):
        self.program(f"touch {self.folder}/started\n")
        cases = [
            (ValueError, r"and --dry-run prints something else; ablate_lab.call\('run', 'study.yaml', '--dry-run'\) returns", {"dry_run": True}),
            (ValueError, "and --dry-run prints", {"dry-run": True}),
            (ValueError, "and --list prints", {"list": True}),
            (ValueError, "and --json prints", {"json": True}),
            (ValueError, "and --launcher=print prints", {"launcher": "print"}),
            (ValueError, "seeds is empty; leave it out", {"seeds": []}),
            (ValueError, "arms is empty; leave it out", {"arms": ()}),
            (ValueError, r"arms is \['a,b'\], and a comma divides values; give each by itself", {"arms": ["a,b"]}),
            (ValueError, "data is empty; leave it out", {"data": ""}),
            (TypeError, "arms is .*; give one value or a list of them", {"arms": {"a": 1}}),
            (TypeError, "slurm is .*; give one value$", {"slurm": ["--time=1:00", "--mem=8G"]}),
            (TypeError, "jobs is <object.*, a object; give a text, a number", {"jobs": object()}),
            (TypeError, "set.training.peak is 1j, a complex; give a text", {"set": {"training.peak": 1j}}),
            (TypeError, r"set is \['training.steps=2'\]; give a dict of keys and values", {"set": ["training.steps=2"]}),
        ]
        for kind, message, given in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                ablate_lab.run("study.yaml", output=self.folder, **given)
        for study in (None, ["study.yaml"]):
            with self.assertRaisesRegex(TypeError, "study is .*; give a text"):
                ablate_lab.run(study)
        with self.assertRaisesRegex(TypeError, r"study.base.data.train\[1\] is b'a', a bytes; give a text"):
            ablate_lab.run({"base": {"data": {"train": ["x", b"a"]}}}, output=self.folder)
        self.assertFalse((self.folder / "started").exists())

    def test_relative_data_of_a_dict_start_from_the_current_folder(self):
        for given in ({}, {"data": None}):
            self.assertEqual(self.words({"name": "name"}, **given), [f"--data={os.getcwd()}"])
        self.assertEqual(self.words({"name": "name"}, data="there"), ["--data=there"])

    def test_a_dict_extends_a_file_of_the_current_folder(self):
        (self.folder / "base.yaml").write_text(json.dumps(STUDY))
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            study = ablate_lab.run({"extends": "base.yaml", "name": "more"}, seeds=[1], arms=["with"], set={"training.steps": 2}, show=False,
                                   threads=1)
        finally:
            os.chdir(before)
        self.assertEqual(study.folder.name, "more")

    def test_a_switch_takes_no_other_flag_for_its_value(self):
        for given in ("jobs", "arms"):
            with self.assertRaisesRegex(ablate_lab.AblateError, "true"):
                ablate_lab.run(STUDY, output=self.folder, **{given: True})
        with self.assertRaisesRegex(ablate_lab.AblateError, "--wait requires --launcher"):
            ablate_lab.run(STUDY, output=self.folder, wait=True)

    def test_an_unknown_flag_is_an_error_of_the_program(self):
        with self.assertRaisesRegex(ablate_lab.AblateError, "unknown flag '--job' of run; did you mean '--jobs'"):
            ablate_lab.run(STUDY, output=self.folder, job=2)


if __name__ == "__main__":
    unittest.main()
