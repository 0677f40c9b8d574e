"""Studies from Python, and their tables beside the files that they are read from."""

import copy
import csv
import html
import json
import math
import pathlib
import shutil

import pandas
import pytest
from conftest import STUDY

import ablate_lab


def test_a_dict_is_trained_like_the_file_that_says_the_same(study, tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(json.dumps(STUDY))
    again = ablate_lab.run(file, output=str(tmp_path / "runs"), show=False, threads=1)
    assert again.folder == tmp_path / "runs/tiny"
    columns = ["task", "arm", "test_set", "metric", "seed"]
    pandas.testing.assert_frame_equal(*(one.scores()[lambda table: table["metric"] != "decode_seconds"].set_index(columns)
                                        for one in (study, again)))


def test_the_answer_is_that_of_the_report(study):
    assert study.answer in (study.folder / "table.txt").read_text()
    assert study.answer in repr(study)


def test_scores_are_those_of_results_csv(study):
    scores = study.scores().set_index(["task", "arm", "test_set", "metric", "seed"])["value"]
    expected = {}
    for line in csv.DictReader((study.folder / "results.csv").open()):
        for seed in (1, 2):
            if line[f"seed_{seed}"]:
                expected[line["task"], line["arm"], line["test_set"], line["metric"], seed] = float(line[f"seed_{seed}"])
    assert scores.to_dict() == pytest.approx(expected)


def test_scores_are_those_of_each_run(study):
    scores = study.scores().set_index(["arm", "metric", "test_set", "seed"])["value"]
    for arm in ("with", "none"):
        for seed in (1, 2):
            result = json.loads((study.folder / f"reverse/{arm}/seed-{seed}/result.json").read_text())
            test = result["tests"][0]
            assert scores[arm, "token_accuracy", test["name"], seed] == test["token_accuracy"]


def test_verdicts_are_the_declared_comparisons_alone(study):
    verdicts = study.verdicts()
    assert verdicts[["arm", "metric", "verdict"]].values.tolist() == [["none", "token_accuracy", "too_few_seeds"]]
    accuracy = study.scores().query("metric == 'token_accuracy' and test_set == 'length 3'").pivot(index="seed", columns="arm", values="value")
    assert verdicts["difference"][0] == pytest.approx((accuracy["none"] - accuracy["with"]).mean())
    assert math.isnan(verdicts["low"][0]), "two seeds have no interval"


def test_curves_hold_every_record_of_their_kind(study):
    training = study.curves()
    assert training[["arm", "seed", "step"]].values.tolist() == [[arm, seed, step] for arm in ("none", "with") for seed in (1, 2) for step in (4, 8)]
    assert training["loss"].between(0, 10).all()
    assert set(study.curves("validation")["step"]) == {4, 8}
    assert list(study.curves("mixture").columns) == ["task", "arm", "seed", "step", "mixture"]
    with pytest.raises(ValueError, match="there are no 'speed' records; the kinds are training"):
        study.curves("speed")


def test_numbers_that_are_not_finite_are_numbers(study, tmp_path):
    folder = tmp_path / "tiny"
    shutil.copytree(study.folder, folder)
    file = folder / "reverse/with/seed-1/metrics.jsonl"
    file.write_text('{"loss": "NaN", "step": 1}\n{"loss": "Infinity", "step": 2}\n{"loss": 1.0, "st')
    loss = ablate_lab.Study(folder).curves().query("arm == 'with' and seed == 1")["loss"]
    assert math.isnan(loss.iloc[0]) and loss.iloc[1] == math.inf and len(loss) == 2, "the line that is being written is left out"


def test_jupyter_shows_the_report(study):
    shown = study._repr_html_()
    page = shown.partition('srcdoc="')[2].partition('" style')[0]
    assert html.unescape(page) == (study.folder / "report.html").read_text() and '"' not in page, "the attribute ends where the page does"
    assert shown.startswith("<iframe srcdoc=") and "Are positions needed?" in shown


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}/results.json is missing; `ablate report"):
        ablate_lab.Study(tmp_path)


def test_set_seeds_and_flags_reach_the_program(tmp_path):
    few = ablate_lab.run(STUDY, set={"training.steps": 2, "training.schedule.kind": "constant"}, seeds=[5], arms=["with"], threads=1,
                         output=tmp_path, show=False)
    assert set(few.scores()["arm"]) == {"with"} and set(few.scores()["seed"]) == {5}
    assert set(few.curves()["step"]) == {2}


def test_a_mistake_in_a_study_is_an_error_with_the_message_of_the_program(tmp_path):
    wrong = copy.deepcopy(STUDY)
    wrong["base"]["training"]["stepps"] = 3
    with pytest.raises(ablate_lab.AblateError, match="unknown key 'stepps' in training.*did you mean 'steps'") as raised:
        ablate_lab.run(wrong, output=tmp_path, show=False)
    assert raised.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_an_expectation_that_does_not_hold_is_an_error_beside_results(tmp_path):
    with pytest.raises(ablate_lab.AblateError, match="expectations of the study do not hold") as raised:
        ablate_lab.run({**STUDY, "expect": ["with.token_accuracy > 2"]}, output=tmp_path, show=False, seeds=[1], threads=1)
    assert raised.value.exit_code == 1
    assert ablate_lab.Study(tmp_path / "tiny").results["expectations"][0]["holds"] is False


def test_progress_is_shown_if_asked_for(tmp_path, capfd):
    ablate_lab.run(STUDY, output=tmp_path, seeds=[1], arms=["with"], threads=1)
    assert "reverse/with/seed-1: finished" in capfd.readouterr().err
    ablate_lab.run(STUDY, output=tmp_path, seeds=[1], arms=["with"], threads=1, show=False)
    assert capfd.readouterr() == ("", "")


def test_fetch_is_the_verb(tmp_path):
    with pytest.raises(ablate_lab.AblateError, match="there is no corpus 'multi31k'; did you mean 'multi30k'") as raised:
        ablate_lab.fetch("multi31k", tmp_path, show=False)
    assert raised.value.exit_code == 2


def test_fetch_returns_the_folder_of_the_corpus(tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "$@" >"$(dirname "$0")/words"\n')
    program.chmod(0o755)
    monkeypatch.setenv("ABLATE", str(program))
    assert ablate_lab.fetch("tinyshakespeare", tmp_path / "data") == tmp_path / "data/tinyshakespeare"
    assert (tmp_path / "words").read_text() == f"data fetch tinyshakespeare --to {tmp_path}/data\n"
    assert isinstance(ablate_lab.fetch("tinyshakespeare"), pathlib.Path)
