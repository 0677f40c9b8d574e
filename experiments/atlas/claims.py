"""The claims of claims.yaml with the findings of their studies."""

import dataclasses
import functools
import json
import pathlib
import re

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = ROOT / "docs" / "results" / "atlas"

# In the order of the page.
VERDICTS = {
    "reproduced": "the study shows a difference of the published sign, or the equality that was published",
    "reversed": "the study shows a difference of the other sign, or one where equality was published",
    "equivalent": "the study shows that what was published is smaller here than the margin",
    "not distinguishable": "the study shows neither a difference nor equality",
    "not learned": "neither arm came half the way from guessing to a task solved, so nothing can be said",
    "not run": "the study has not been run yet",
}

SHARES = ("exact_match", "token_accuracy")  # metrics of which 1 is a task solved


@dataclasses.dataclass
class Finding:
    """An arm beside its baseline in one record of a study; differences are arm less baseline."""

    task: str
    baseline_name: str  # tuned if the study tunes, like the arm's
    name: str  # of the arm
    metric: str
    lower_is_better: bool
    baseline: dict
    arm: dict
    contrast: dict

    @property
    def effect(self):
        """Per cent of the baseline's mean by which the arm is better: mean and 95 % interval."""
        return [self.better(value) for value in (self.contrast["mean"], *self.contrast.get("interval", []))]

    def better(self, difference):
        sign = -1 if self.lower_is_better else 1
        return sign * 100 * difference / abs(self.baseline["mean"])


@dataclasses.dataclass
class Claim:
    """One entry of claims.yaml, with the records of its study, which may be absent."""

    entry: dict
    record: dict | None = None
    again: dict | None = None  # the same with three times the steps

    def __getattr__(self, name):
        return self.entry.get(name)

    def finding(self, record):
        """The finding on this claim in `record`; None if there is none."""
        if record is None:
            return None
        task = self.task or next(iter(record["tasks"]))
        found = record["tasks"][task]
        arms = found["arms"]
        tuned = f"{self.arm}-tuned"
        name = tuned if tuned in arms else self.arm
        baseline = next(other for other, arm in arms.items() if "contrast" not in arm and arm["tuned"] == arms[name]["tuned"])
        return Finding(task, baseline, name, found["metric"], found["direction"] == "lower", arms[baseline], arms[name],
                       arms[name]["contrast"])

    def expectations(self, record):
        """What the study expected of the arm in the claim's task."""
        named = re.compile(rf"(?<![\w-]){re.escape(self.arm)}(-tuned)?\.")
        elsewhere = tuple(f"{task}: " for task in record["tasks"] if task != self.task)
        return [one for one in record["expectations"] if named.search(one["text"]) and not one["text"].startswith(elsewhere)]

    def verdict(self, record):
        """A word of VERDICTS."""
        found = self.finding(record)
        if found is None:
            return "not run"
        return verdict(self.expect, found.contrast["verdict"]) if self.learned(found) else "not learned"

    def learned(self, found):
        """Whether one of both arms came at least half the way from guessing to 1, if the metric is a share of right answers. Lengths
        beyond the trained one need not be solved: for them the program's own verdict decides whether an arm learned the task."""
        best = max(found.baseline["mean"], found.arm["mean"])
        return found.metric not in SHARES or found.arm["extrapolates"] or best >= (1 + (self.guess or 0)) / 2

    @property
    def published_effect(self):
        """Per cent of the published baseline by which the arm was better; None unless two figures are published."""
        if not self.published:
            return None
        baseline, arm = self.published["baseline"], self.published["arm"]
        sign = 1 if self.published["better"] == "higher" else -1
        return sign * 100 * (arm - baseline) / abs(baseline)


def verdict(expected, shown):
    """What a comparison's verdict (docs/statistics.md) says of a claim that expects better, worse or equivalent."""
    if shown in ("not_learned", "censored", "not_tested"):
        return "not learned"
    if shown not in ("better", "worse", "equivalent"):
        return "not distinguishable"
    if shown == expected:
        return "reproduced"
    return "equivalent" if shown == "equivalent" else "reversed"


def record_path(study, again=False):
    return RESULTS / f"{study}{'.again' if again else ''}.json"


def read_record(study, again=False):
    path = record_path(study, again)
    return json.loads(path.read_text()) if path.exists() else None


def read_claims():
    entries = yaml.safe_load((HERE / "claims.yaml").read_text())
    return [Claim(entry, read_record(entry["study"]), read_record(entry["study"], again=True)) for entry in entries]


@functools.cache
def read_study(name):
    return yaml.safe_load((HERE / f"{name}.yaml").read_text())


def data_of(study, task):
    """The study's data in one of its tasks, in words."""
    data = study["base"].get("data", {}) | study.get("tasks", {}).get(task, {}).get("data", {})
    options = "; ".join(f"{key} {in_words(value)}" for key, value in data.items() if key != "task")
    return f"{data['task']} ({options})" if options else data["task"]


def in_words(value):
    if isinstance(value, dict):
        return " and ".join(f"{inner} {key}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def studies():
    """Names of all studies, in the order of their first claims."""
    return list(dict.fromkeys(entry["study"] for entry in yaml.safe_load((HERE / "claims.yaml").read_text())))
