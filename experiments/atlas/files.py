"""The files of the atlas: studies, claims.yaml, history.yaml and pages beside this one, and the records in docs/results/atlas."""

import functools
import json
import pathlib
import re
import string

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"
RESULTS = DOCS / "results" / "atlas"


@functools.cache
def records():
    """All of finished studies, by the names of their files."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    return {name: record for name, record in found.items() if "tasks" in record}


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


def page(template, /, **parts):
    """The text of pages/<template>.md with the parts in their places, but without the lines of which a part is None."""
    formatter, lines = string.Formatter(), []
    for line in (HERE / "pages" / f"{template}.md").read_text().splitlines():
        fields = [formatter.get_field(name, (), parts)[0] for _, name, _, _ in formatter.parse(line) if name]
        if None not in fields:
            lines.append(line.format(**parts))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def table(head, rows):
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows])
