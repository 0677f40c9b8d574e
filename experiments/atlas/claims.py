"""The claims of claims.yaml with the findings of their studies."""

import dataclasses
import functools
import json
import pathlib

import yaml

import regime

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = ROOT / "docs" / "results" / "atlas"

AGREES, CONTRADICTS, INCONCLUSIVE = "agrees", "contradicts", "inconclusive"
NOT_LEARNED, OUTSIDE, NOT_RUN = "not learned", "outside the source's regime", "not run"

# In the order of the page.
OUTCOMES = {
    AGREES: "the study shows what the source says: a difference of its sign, or one that is smaller than the margin",
    CONTRADICTS: "the study shows the contrary: the other sign, no difference as large as the margin where one was published, or one beyond "
                 "the margin where none was",
    INCONCLUSIVE: "the study shows neither by the margin beside it; the claim's paragraph says what it could have seen",
    NOT_LEARNED: "the arms did not learn the task, so nothing can be said",
    OUTSIDE: "the study lies outside the range for which the source speaks, so it can neither agree nor contradict",
    NOT_RUN: "the study has not been run by the present rule",
}

SHARES = ("exact_match", "token_accuracy")  # metrics of which 1 is a task solved


@dataclasses.dataclass
class Finding:
    """An arm beside its baseline in one record of a study; differences are arm less baseline."""

    task: str
    baseline_name: str
    name: str  # of the arm
    metric: str
    lower_is_better: bool
    baseline: dict
    arm: dict
    contrast: dict

    @property
    def effect(self):
        """Per cent of the baseline's mean by which the arm is better: mean and 95 % interval, which the program takes from a test of
        the ratio; empty without a ratio."""
        relative = self.contrast.get("relative") or {}
        sign = -100 if self.lower_is_better else 100
        return [sign * value for value in (relative["mean"], *(relative.get("interval") or []))] if relative else []


@dataclasses.dataclass
class Claim:
    """One entry of claims.yaml, with the records of its study, which may be absent, and what they say after the correction over the page."""

    entry: dict
    record: dict | None = None
    again: dict | None = None  # the second look
    first: str = NOT_RUN
    second: str = NOT_RUN

    def __getattr__(self, name):
        return self.entry.get(name)

    def finding(self, record):
        """The finding on this claim in `record`; None if there is none by the present rule."""
        if record is None:
            return None
        task = self.setting(record)
        found = record["tasks"].get(task)
        if found is None or "outcome" not in found["arms"].get(self.arm, {}).get("contrast", {}):
            return None
        arms = found["arms"]
        baseline = next(name for name, arm in arms.items() if "contrast" not in arm)
        return Finding(task, baseline, self.arm, found["metric"], found["direction"] == "lower", arms[baseline], arms[self.arm],
                       arms[self.arm]["contrast"])

    def setting(self, record):
        """The name that the record has for the claim's task in the claim's size."""
        task = self.task or next(iter(record["tasks"])).split("-")[0]
        return f"{task}-{self.size}" if self.size else task

    def outcome(self, record):
        """A word of OUTCOMES, before the correction over the page."""
        found = self.finding(record)
        if found is None:
            return NOT_RUN
        word = found.contrast["outcome"]
        if word == "not_learned" or not self.learned(found):
            return NOT_LEARNED
        if regime.outside(self, found):
            return OUTSIDE
        return word if word in (AGREES, CONTRADICTS) else INCONCLUSIVE

    def learned(self, found):
        """Whether one of both arms came at least half the way from guessing to 1, if the metric is a share of right answers. Beyond the
        trained length the program itself asks whether both learned the task within it."""
        best = max(found.baseline["mean"], found.arm["mean"])
        return found.metric not in SHARES or found.arm["extrapolates"] or best >= (1 + (self.guess or 0)) / 2

    @property
    def second_look_is_due(self):
        """Whether the rule of claims.yaml asks for a second look, which has not been run."""
        return self.is_asked_again and self.second == NOT_RUN

    @property
    def is_asked_again(self):
        """Whether the rule of claims.yaml asks for a second look."""
        found, rule = self.finding(self.record), catalogue()["rules"]["second_look"]
        if self.first != INCONCLUSIVE or not found.contrast.get("detectable"):
            return False
        longer = dataclasses.replace(found, baseline=found.baseline | {"steps": rule["steps"] * found.baseline["steps"]})
        return abs(found.contrast["mean"]) > rule["share_of_detectable"] * found.contrast["detectable"] and not regime.outside(self, longer)

    @property
    def published_effect(self):
        """Per cent of the published baseline by which the arm was better; None unless two figures are published."""
        if not self.published:
            return None
        baseline, arm = self.published["baseline"], self.published["arm"]
        sign = 1 if self.published["better"] == "higher" else -1
        return sign * 100 * (arm - baseline) / abs(baseline)


def deciding_p(kind, contrast):
    """The p, corrected within its study, of the test that decided the outcome; 1 if nothing was decided."""
    if contrast["outcome"] not in (AGREES, CONTRADICTS):
        return 1.0
    if kind in ("equal", "noninferior"):
        test = "within" if contrast["outcome"] == AGREES else "beyond"
    else:
        test = "within" if contrast["verdict"] == "equivalent" else "difference"
    return contrast[test]["adjusted_p"]


def benjamini_hochberg(p, level):
    """Which hypotheses are rejected with a false discovery rate of at most `level` (Benjamini & Hochberg 1995)."""
    order = sorted(range(len(p)), key=p.__getitem__)
    last = max((rank for rank, i in enumerate(order, 1) if p[i] <= level * rank / len(p)), default=0)
    return [i in order[:last] for i in range(len(p))]


def judge(found):
    """Sets the outcomes of all claims, corrected over all that have been run, second looks included."""
    looks = [(claim, name, record) for claim in found for name, record in (("first", claim.record), ("second", claim.again))
             if claim.finding(record)]
    p = [deciding_p(claim.claim, claim.finding(record).contrast) for claim, _, record in looks]
    kept = benjamini_hochberg(p, catalogue()["rules"]["false_discovery"])
    for (claim, name, record), holds in zip(looks, kept, strict=True):
        word = claim.outcome(record)
        setattr(claim, name, INCONCLUSIVE if word in (AGREES, CONTRADICTS) and not holds else word)


def record_path(study, again=False):
    return RESULTS / f"{study}{'.again' if again else ''}.json"


def read_record(study, again=False):
    path = record_path(study, again)
    return json.loads(path.read_text()) if path.exists() else None


@functools.cache
def catalogue():
    """claims.yaml: rules, texts, claims."""
    return yaml.safe_load((HERE / "claims.yaml").read_text())


def read_claims():
    found = [Claim(entry, read_record(entry["study"]), read_record(entry["study"], again=True)) for entry in catalogue()["claims"]]
    judge(found)
    return found


@functools.cache
def history():
    """What each claim said and what was found, by id: lists of date, words, verdict and why."""
    return yaml.safe_load((HERE / "history.yaml").read_text())


def setting_name(study, key, value):
    """The program's name of a study's only task at one value of its grid: language-peak=0.004."""
    return f"{study['base']['data']['task']}-{key.rpartition('.')[2]}={value:g}"


def task_names(study):
    """The tasks of a study by name, or the settings of its grid; none if it has one task alone."""
    return {*study.get("tasks", {}), *(setting_name(study, key, value) for key, values in study.get("grid", {}).items() for value in values)}


@functools.cache
def read_study(name):
    return yaml.safe_load((HERE / f"{name}.yaml").read_text())


def declared(study, arm):
    """The claim and the margin that a study declares of an arm."""
    compare = study["compare"]
    return {key: compare.get(key) for key in ("claim", "margin")} | compare.get("arms", {}).get(arm, {})


def disagreements(entries):
    """Where claims.yaml and the studies do not state the same claim and margin."""
    found = []
    for entry in entries:
        said = declared(read_study(entry["study"]), entry["arm"])
        found += [f"claims.yaml says {key} {entry[key]} of {entry['id']}, but {entry['study']}.yaml says {said[key]} of {entry['arm']}; make "
                  "them the same before the study is run" for key in ("claim", "margin") if entry[key] != said[key]]
    return found


def studies():
    """Names of all studies: those of the claims in their order, then the others."""
    claimed = dict.fromkeys(entry["study"] for entry in catalogue()["claims"])
    others = sorted(path.stem for path in HERE.glob("*.yaml") if path.stem not in (*claimed, "claims", "history"))
    return [*claimed, *others]
