"""What runs of a study have written, and how two numbers are compared."""

import json
import re
import shutil

import yaml
from safetensors.torch import load_file

VARYING = {"sha256", "decode_seconds", "training_seconds", "seconds", "memory_bytes", "files", "hardware"}  # between two starts


class Numbers(yaml.SafeLoader):
    """Reads 1e-05 as a number."""


Numbers.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9.]+e[-+]?[0-9]+$"), list("-+0123456789."))


class Refused(Exception):
    """The program does not take this study."""


class Wrong(Exception):
    """A number is not what it must be."""


def require(holds, *words):
    if not holds:
        raise Wrong(" ".join(str(word) for word in words))


def near(left, right, within):
    return abs(left - right) <= within * max(1.0, abs(left), abs(right))


def same_loss(left, right):
    """Whether these are one loss; one that explodes is known less exactly."""
    return near(left, right, 3e-6 if left < 4 else 1e-3)


def steady(tree):
    """A record without what differs between two starts."""
    if isinstance(tree, dict):
        return {key: steady(value) for key, value in tree.items() if key not in VARYING}
    return [steady(value) for value in tree] if isinstance(tree, list) else tree


def words_of(tree):
    """The keys that are set, and the words among the values."""
    if isinstance(tree, dict):
        return {key for key, value in tree.items() if value} | {word for value in tree.values() for word in words_of(value)}
    return {word for value in tree for word in words_of(value)} if isinstance(tree, list) else {tree}


class Run:
    """A run folder."""

    def __init__(self, folder):
        self.folder, self.log = folder, folder / "metrics.jsonl"
        self.config = yaml.load((folder / "config.yaml").read_text(), Numbers)
        self.training = self.config["training"]

    @property
    def result(self):
        return json.loads((self.folder / "result.json").read_text())

    @property
    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def tensors(self, step, file="model"):
        return load_file(self.folder / f"checkpoints/step-{step:08d}/{file}.safetensors")

    def steps(self):
        return sorted(int(path.name[5:]) for path in (self.folder / "checkpoints").glob("step-*"))

    def return_to(self, last):
        """As if the run had been killed behind this step."""
        (self.folder / "result.json").unlink()
        for step in self.steps():
            if step > last:
                shutil.rmtree(self.folder / f"checkpoints/step-{step:08d}")
        if last == 0:
            self.log.unlink()
