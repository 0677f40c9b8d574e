"""Exported files in PyTorch, beside what the program makes of the same run."""

import sys

import pytest
from conftest import STUDY

import ablate_lab

LINES = ["a b c", "", "d", "c c a b"]


@pytest.mark.parametrize("beams", [1, 3])
def test_translate_gives_what_the_program_gives(study, model, beams):
    loaded = ablate_lab.load_model(model)
    expected = ablate_lab.call("translate", study.folder / "reverse/with/seed-1", "--beam", beams, input="\n".join(LINES) + "\n")
    assert loaded.translate(LINES, beams=beams) == expected.splitlines()
    assert loaded.translate(LINES, beams=beams, batch=1) == expected.splitlines()


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    """A run of a language model, and its exported file."""
    folder = tmp_path_factory.mktemp("language")
    (folder / "text.txt").write_text("the cat sat on the mat\nthe dog sat on the cat\n" * 40)
    base = {**STUDY["base"], "data": {"task": "language", "train": str(folder / "text.txt"), "held_out": 0.1, "block": 16},
            "model": {**STUDY["base"]["model"], "family": "decoder_only"}}
    study = ablate_lab.run({"name": "language", "seeds": [1], "base": base, "arms": {"ours": {}}, "question": "?"}, output=folder, show=False, threads=1)
    run = next(study.folder.glob("*/ours/seed-1"))
    ablate_lab.call("export", run, "--to", folder / "model.pt")
    return run, ablate_lab.load_model(folder / "model.pt")



@pytest.mark.parametrize("prompt", ["the cat", "", "the dog sat\nthe"])
def test_generate_gives_what_the_program_gives(language, prompt):
    run, model = language
    given = {"input": prompt + "\n"} if "\n" not in prompt else {}
    words = [] if given else [f"--prompt={prompt}"]
    said = ablate_lab.call("generate", run, "--beam", 1, "--max-length", 12, "--one-line", *words, **given)
    assert prompt + model.generate(prompt, max_length=12) == said.removesuffix("\n")


def test_a_drawn_continuation_follows_the_seed_of_torch(language):
    import torch
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(language[1].generate("the", max_length=30, temperature=2.0, top_k=20))
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_translator_does_not_generate(model):
    with pytest.raises(ValueError, match="generate takes a decoder_only model, and this one is encoder_decoder; use translate"):
        ablate_lab.load_model(model).generate("a b")


def test_without_sentencepiece_ids_still_work(model, monkeypatch):
    import torch
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    loaded = ablate_lab.load_model(model)
    with pytest.raises(ImportError, match="text needs sentencepiece: python -m pip install sentencepiece"):
        loaded.translate(["a b"])
    ids, scores = loaded.module.greedy(torch.tensor([[4, 5, loaded.facts["eos"]]]))
    assert ids.shape[0] == scores.shape[0] == 1
