"""Damages one file of a study's folder."""

import collections
import json

# What may be damaged without a word: nothing that is read back.
NEVER_READ = {".lock", "log.txt", "report.html", "results.csv", "results.json", "results.jsonl", "table.txt", "table.md",
              "table.tex", "failure.json"}


class Damage(collections.namedtuple("Damage", "kind files")):
    def __str__(self):
        return f"{self.kind} of {' and '.join(self.files)}"


def read_back(output):
    return [path for path in sorted(output.rglob("*"))
            if path.is_file() and path.name not in NEVER_READ and not path.name.startswith("events.")
            and not path.name.startswith(".tmp") and "claims" not in path.parts and path.stat().st_size > 0]


# Each damages a file and returns the files that it has changed.


def flip(path, dice, _):
    data = bytearray(path.read_bytes())
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)
    return [path]


def hole(path, dice, _):
    data = bytearray(path.read_bytes())
    start = dice.randrange(len(data))
    end = min(len(data), start + dice.randint(1, 512))
    data[start:end] = bytes(end - start)
    path.write_bytes(data)
    return [path]


def truncate(path, dice, _):
    data = path.read_bytes()
    path.write_bytes(data[:dice.randrange(len(data))])
    return [path]


def extend(path, dice, _):
    path.write_bytes(path.read_bytes() + dice.randbytes(dice.randint(1, 64)))
    return [path]


def empty(path, _, __):
    path.write_bytes(b"")
    return [path]


def swap(path, dice, files):
    other = dice.choice(files)
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)
    return [path, other]


def older(path, dice, files):
    """What a file of the same name has elsewhere, as of another step or another run."""
    others = [other for other in files if other.name == path.name and other != path]
    if not others:
        return truncate(path, dice, files)
    path.write_bytes(dice.choice(others).read_bytes())
    return [path]


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
    path.write_bytes(text.rstrip().removesuffix(b"}").rstrip() + b", " + key + b": 12345}\n")
    return [path]


KINDS = (flip, flip, hole, truncate, extend, empty, swap, older, duplicate_key)


def inflict(output, dice, below):
    """Damages a file that is read back and lies `below`; files are named relative to `output`."""
    files = read_back(below)
    name = dice.choice(sorted({path.name for path in files}))  # a class of files, however many there are
    path, kind = dice.choice([path for path in files if path.name == name]), dice.choice(KINDS)
    changed = kind(path, dice, files)
    return Damage(kind.__name__, sorted({str(one.relative_to(output)) for one in changed}))
