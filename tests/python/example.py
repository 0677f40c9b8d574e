"""A study and an exported model for all tests. The package is tested where it is installed, or with ABLATE naming the program and
PYTHONPATH the package."""

import functools
import os
import pathlib
import tempfile
import unittest.mock

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
FOLDER = tempfile.TemporaryDirectory()


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def patch(self, target, name, value):
        patcher = unittest.mock.patch.object(target, name, value)
        patcher.start()
        self.addCleanup(patcher.stop)

    def environment(self, **variables):
        patcher = unittest.mock.patch.dict(os.environ, variables)
        patcher.start()
        self.addCleanup(patcher.stop)

    def program(self, lines):
        """A shell script in place of the program."""
        file = self.folder / "program"
        file.write_text("#!/bin/sh\n" + lines)
        file.chmod(0o755)
        self.environment(ABLATE=str(file))


@functools.cache
def study() -> ablate_lab.Study:
    """Trained once for all tests."""
    return ablate_lab.run(STUDY, output=f"{FOLDER.name}/runs", show=False, threads=1)


@functools.cache
def model() -> pathlib.Path:
    """An exported file of the first arm."""
    file = pathlib.Path(FOLDER.name) / "model.pt"
    ablate_lab.call("export", study().folder / "reverse/with/seed-1", "--to", file)
    return file
