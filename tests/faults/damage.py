"""Damages one file of a study's folder."""

import collections
import json

# What may be damaged without a word: nothing that is read back.
NEVER_READ = {".lock", "log.txt", "report.html", "forest.svg", "results.csv", "results.json", "results.jsonl", "table.txt",
              "table.md", "table.tex", "failure.json"}


class Damage(collections.namedtuple("Damage", "kind files before")):
    """Of what kind it is, the names of the files, and path -> what the file held."""

    def __str__(self):
        return f"{self.kind} of {' and '.join(self.files)}"

    def restore(self):
        for path, data in self.before.items():
            path.write_bytes(data)


def read_back(output):
    return [path for path in sorted(output.rglob("*"))
            if path.is_file() and path.name not in NEVER_READ and not path.name.startswith("events.")
            and not path.name.startswith(".tmp") and "claims" not in path.parts and path.stat().st_size > 0]


# Each gives path -> what damaged files hold.


def flip(path, dice, _):
    data = bytearray(path.read_bytes())
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return {path: data}


def hole(path, dice, _):
    data = bytearray(path.read_bytes())
    start = dice.randrange(len(data))
    end = min(len(data), start + dice.randint(1, 512))
    data[start:end] = bytes(end - start)
    return {path: data}


def truncate(path, dice, _):
    data = path.read_bytes()
    return {path: data[:dice.randrange(len(data))]}


def extend(path, dice, _):
    return {path: path.read_bytes() + dice.randbytes(dice.randint(1, 64))}


def empty(path, _, __):
    return {path: b""}


def swap(path, dice, files):
    other = dice.choice(files)
    return {path: other.read_bytes(), other: path.read_bytes()}


def older(path, dice, files):
    """What a file of the same name has elsewhere, as of another step or another run."""
    others = [other for other in files if other.name == path.name and other != path]
    return {path: dice.choice(others).read_bytes()} if others else truncate(path, dice, files)


def duplicate_key(path, dice, files):
    """A key of a JSON object a second time, with another value."""
    text = path.read_bytes()
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not value:
        return flip(path, dice, files)
    key = json.dumps(dice.choice(list(value))).encode()
    return {path: text.rstrip().removesuffix(b"}").rstrip() + b", " + key + b": 12345}\n"}


KINDS = (flip, flip, hole, truncate, extend, empty, swap, older, duplicate_key)


def inflict(output, dice, files):
    """Damages one of these files, so that it differs; they are named relative to `output`."""
    changed = {}
    while not changed:
        name = dice.choice(sorted({path.name for path in files}))  # a class of files, however many there are
        path, kind = dice.choice([path for path in files if path.name == name]), dice.choice(KINDS)
        changed = {one: data for one, data in kind(path, dice, files).items() if one.read_bytes() != data}
    before = {one: one.read_bytes() for one in changed}
    for one, data in changed.items():
        one.write_bytes(data)
    return Damage(kind.__name__, sorted(str(one.relative_to(output)) for one in changed), before)
