"""The package is tested where it is installed, or with ABLATE naming the program and PYTHONPATH the package."""

import pathlib

import pytest

import ablate_lab

STUDY = {
    "name": "tiny", "question": "Are positions needed?", "seeds": [1, 2],
    "base": {
        "data": {"task": "reverse", "symbols": 4, "train_length": [1, 3], "test_length": [3], "examples": {"train": 500, "validation": 20, "test": 20}},
        "tokenizer": {"kind": "word"},
        "model": {"d_model": 16, "layers": 1, "attention": {"heads": 2}, "feed_forward": {"kind": "dense", "d_hidden": 16}, "dropout": 0.0},
        "training": {"steps": 8, "tokens_per_batch": 256, "log_every": 4, "evaluate_every": 4, "schedule": {"kind": "constant", "peak": 0.01, "warmup": 1}},
    },
    "arms": {"with": {}, "none": {"model.position.kind": "none"}},
    "compare": {"baseline": "with", "metric": "token_accuracy"},
}


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> ablate_lab.Study:
    """Trained once for all tests."""
    return ablate_lab.run(STUDY, output=tmp_path_factory.mktemp("runs"), show=False, threads=1)


@pytest.fixture(scope="session")
def model(study: ablate_lab.Study, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An exported file of the first arm."""
    file = tmp_path_factory.mktemp("model") / "model.pt"
    ablate_lab.call("export", study.folder / "reverse/with/seed-1", "--to", file)
    return file
