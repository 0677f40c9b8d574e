"""The files of the atlas: studies, claims.yaml and history.yaml beside this one, and the records in docs/results/atlas."""

import functools
import hashlib
import json
import pathlib

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"
RESULTS = DOCS / "results" / "atlas"


@functools.cache
def records():
    """All of finished studies, by the names of their files."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json")) if not path.stem.startswith("costs")}


@functools.cache
def read_study(name):
    return yaml.safe_load((HERE / f"{name}.yaml").read_text())


catalogue = functools.partial(read_study, "claims")  # claims, notes on their studies, and choices
history = functools.partial(read_study, "history")  # what each claim said and what was found: by id lists of date, words, verdict and why


def declared(entry):
    """An entry of claims.yaml with what its study declares of its arm: the claim, what it says, the margin, the source and the source's range."""
    compare = read_study(entry["study"])["compare"]
    own = compare.get("arms", {}).get(entry["arm"], {})
    regime = compare.get("regime", {}) | own.get("regime", {}) | entry.get("regime", {})
    told = compare | own
    text, _, url = told.get("source", "").rpartition(", ")
    return {key: told.get(key) for key in ("claim", "says", "margin")} | {"source": {"text": text, "url": url}} | entry | {"regime": regime}


def hashes(claim):
    """What `git hash-object` says of the study and of its records, by path."""
    paths = [HERE / f"{claim.study}.yaml", *(RESULTS / f"{name}.json" for name in claim.names)]
    found = {path.relative_to(ROOT): path.read_bytes() for path in paths if path.exists()}
    return {path: hashlib.sha1(b"blob %d" % len(text) + bytes(1) + text).hexdigest() for path, text in found.items()}
