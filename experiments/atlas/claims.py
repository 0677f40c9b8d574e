"""The claims of claims.yaml with what the records of their studies show."""

import itertools

import files

# In the order of the page, which explains them.
OUTCOMES = AGREES, OTHER_SIGN, BEYOND, NO_EFFECT, UNDECIDED, NOT_LEARNED, OUTSIDE, WITHDRAWN, NOT_RUN = (
    "agrees", "other sign", "beyond the margin", "no effect of that size here",
    "undecided", "not learned", "outside the source's regime", "withdrawn", "not run")
OF_PROGRAM = {"agrees": AGREES, "other_sign": OTHER_SIGN, "beyond_margin": BEYOND, "no_effect_of_that_size": NO_EFFECT, "inconclusive": UNDECIDED, "not_learned": NOT_LEARNED, None: UNDECIDED}
SHARES = ("exact_match", "token_accuracy")  # metrics of which 1 is a task solved
LOSSES = ("loss", "divergence")  # metrics whose effects are per cents of the baseline
OF_MARGIN = ("equal", "noninferior")  # claims that a test of the margin decides
TOLERANCE = 4  # the factor by which a study may miss a source's range, as in experiments/analysis/regime.h
WITHIN = ("equivalent", "no_worse")  # verdicts of tests of the margin
TESTED = ("better", "worse", *WITHIN, "inconclusive")  # verdicts that rest on tests


def gain_of(found, scale):
    """A mean of differences and the ends of its interval, if it has one, lowest first, times the scale."""
    return [scale * found["mean"], *sorted(scale * end for end in found.get("interval") or [])]


def shown_by(contrast, outcome="outcome"):
    """What a study shows of its claim by itself; by `reported`, if that is there, as its report said."""
    return OF_PROGRAM.get(contrast.get(outcome, contrast["outcome"])) or (BEYOND if contrast["claim"] in OF_MARGIN else OTHER_SIGN)


class Look:
    """A claim's arm beside its baseline in a record of its study; differences are arm less baseline. What is shown and counts are OUTCOMES."""

    def __init__(self, claim, record, task):
        self.claim, self.record, self.metric = claim, record, task["metric"]
        self.sign = -1 if task["direction"] == "lower" else 1  # of a difference by which the arm is better
        baseline = next(name for name, one in task["arms"].items() if "contrast" not in one)
        self.arms = {name: task["arms"][name] for name in (baseline, claim.arm)}
        self.baseline, self.arm = self.arms.values()
        self.contrast = self.arm["contrast"]
        self.gain = gain_of(self.contrast, self.sign)
        self.relative = gain_of(self.contrast["relative"], 100 * self.sign) if self.contrast.get("relative") else None  # per cent of the baseline
        here = self.baseline.get("regime", {})
        self.outside = [quantity for quantity, (low, high) in claim.ranges.items()
                        if quantity in here and not low / TOLERANCE <= here[quantity][0] <= TOLERANCE * high]
        self.shown = shown_by(self.contrast)
        withdrawn = claim.withdrawn and shown_by(self.contrast, "reported") in (AGREES, OTHER_SIGN, BEYOND)
        self.outcome = WITHDRAWN if withdrawn else OUTSIDE if self.outside and self.shown != NOT_LEARNED else self.shown
        self.q = None  # by add_q

    @property
    def regime(self):
        """The values beside the range of the source; sizes that differ by 2 % at most are equal."""
        tuned = "training.schedule.peak" in files.read_study(self.claim.study).get("tune", {}).get("keys", {})
        matched = abs(self.arm["parameters"] / self.baseline["parameters"] - 1) <= 0.02
        return self.baseline.get("regime", {}) | {"parameters_matched": matched, "rates_tuned": tuned}

    @property
    def p(self):
        """The p, corrected within its study, of the test that decided what is shown; 1 if none did."""
        if self.outcome not in (AGREES, OTHER_SIGN, BEYOND):
            return 1.0
        within = self.outcome == AGREES and self.claim.claim in OF_MARGIN
        return self.contrast["beyond" if self.outcome == BEYOND else "within" if within else "difference"]["adjusted_p"]


class Claim:
    """One entry of claims.yaml with what its study declares, and its looks, the first and the second one, which may be None."""

    OPTIONAL = ("task", "size", "guess", "ladder", "part", "published", "spread", "predicts", "changes", "note", "withdrawn")

    def __init__(self, entry, *records):
        self.__dict__ |= dict.fromkeys(self.OPTIONAL) | {"regime": {}} | entry
        told = set(self.regime) - {"from_memory", *self.regime.get("from_memory", [])}
        self.ranges = {quantity: self.regime[quantity] for quantity in sorted(told) if isinstance(self.regime[quantity], list)}
        registered = (records[0] or {}).get("confirmatory", "after_result" not in self.regime)  # as its study and that range were before the run
        self.after_result = bool(self.regime) and not registered
        self.names = (self.study, f"{self.study}.again")  # of the records of its looks
        self.looks = tuple(self.look(record) for record in records)
        self.first = self.looks[0].outcome if self.looks[0] else NOT_RUN

    @property
    def published_gain(self):
        """Positive if the published arm is better."""
        return (self.published["arm"] - self.published["baseline"]) * (1 if self.published["better"] == "higher" else -1)

    def look(self, record):
        """None if the record has nothing on this claim."""
        tasks = record["tasks"] if record else {}
        name = self.task or next(iter(tasks), "").split("-")[0]
        task = tasks.get(f"{name}-{self.size}" if self.size else name, {"arms": {}})
        return Look(self, record, task) if self.arm in task["arms"] else None


def q_values(p):
    """The smallest rate of false discoveries at which each hypothesis would be rejected (Benjamini & Hochberg 1995)."""
    order = sorted(range(len(p)), key=p.__getitem__, reverse=True)
    smallest = itertools.accumulate((p[i] * len(p) / (len(p) - larger) for larger, i in enumerate(order)), min)
    return [q for _, q in sorted(zip(order, smallest))]


def add_q(found):
    """Gives each look that decided something its q, over all looks that count."""
    looks = [look for claim in found for look in claim.looks if look and look.outcome not in (NOT_LEARNED, OUTSIDE, WITHDRAWN)]
    for look, q in zip(looks, q_values([look.p for look in looks]), strict=True):
        look.q = q if look.p < 1 else None


def read_claims():
    found = [Claim(files.declared(entry), *(files.records().get(entry["study"] + look) for look in ("", ".again"))) for entry in files.catalogue()["claims"]]
    add_q(found)
    return found
