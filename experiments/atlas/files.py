"""The files of the atlas: studies, claims.yaml, history.yaml and pages beside this one, and the records in docs/results/atlas."""

import contextlib
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


def record_path(study, again=False):
    return RESULTS / f"{study}{'.again' if again else ''}.json"


def read_record(study, again=False):
    path = record_path(study, again)
    return json.loads(path.read_text()) if path.exists() else None


def records():
    """All that are there, by the names of their files."""
    found = {record_path(study, again).stem: read_record(study, again) for study in studies() for again in (False, True)}
    return {name: record for name, record in found.items() if record}


@functools.cache
def catalogue():
    """claims.yaml: notes on studies, choices, claims."""
    return yaml.safe_load((HERE / "claims.yaml").read_text())


@functools.cache
def history():
    """What each claim said and what was found, by id: lists of date, words, verdict and why."""
    return yaml.safe_load((HERE / "history.yaml").read_text())


@functools.cache
def read_study(name):
    return yaml.safe_load((HERE / f"{name}.yaml").read_text())


def studies():
    """Names of all studies: those of the claims in their order, then the others."""
    claimed = dict.fromkeys(entry["study"] for entry in catalogue()["claims"])
    others = sorted(path.stem for path in HERE.glob("*.yaml") if path.stem not in (*claimed, "claims", "history"))
    return [*claimed, *others]


def declared(study, arm):
    """The claim, the margin and the source's range that a study declares of an arm."""
    compare = read_study(study)["compare"]
    return {key: compare.get(key) for key in ("claim", "margin", "regime")} | compare.get("arms", {}).get(arm, {})


class Filled(string.Formatter):
    """Fills templates in whose lines a part that is None is an error."""

    def format_field(self, value, format_spec):
        if value is None:
            raise LookupError
        return super().format_field(value, format_spec)


def page(name, **parts):
    """The text of pages/<name>.md with the parts in their places, but without the lines of which a part is None."""
    lines = []
    for line in (HERE / "pages" / f"{name}.md").read_text().splitlines():
        with contextlib.suppress(LookupError):
            lines.append(Filled().format(line, **parts))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines) + "\n")


def table(head, rows):
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows])
