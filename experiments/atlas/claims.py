"""The claims of claims.yaml with what the records of their studies show."""

import itertools

import files

AGREES, OTHER_SIGN, BEYOND, NO_EFFECT = "agrees", "other sign", "beyond the margin", "no effect of that size here"
UNDECIDED, NOT_LEARNED, OUTSIDE = "undecided", "not learned", "outside the source's regime"
WITHDRAWN, NOT_RUN = "withdrawn", "not run"

# In the order of the page, which explains them.
OUTCOMES = (AGREES, OTHER_SIGN, BEYOND, NO_EFFECT, UNDECIDED, NOT_LEARNED, OUTSIDE, WITHDRAWN, NOT_RUN)
OF_PROGRAM = {"agrees": AGREES, "no_effect_of_that_size": NO_EFFECT, "inconclusive": UNDECIDED, "not_learned": NOT_LEARNED, None: UNDECIDED}
LEVEL = 0.05
SHARES = ("exact_match", "token_accuracy")  # metrics of which 1 is a task solved
LOSSES = ("loss", "divergence")  # metrics whose effects are per cents of the baseline
TESTED = ("better", "worse", "equivalent", "no_worse", "inconclusive")  # verdicts that rest on tests


def metric_text(metric):
    return {"bleu": "BLEU"}.get(metric, metric.replace("_", " "))


def equivalence_interval(differences, factor=1):
    """The interval of the two one-sided sign-flip tests: it lies within a margin exactly if their larger p, times the `factor` of a correction,
    is at most LEVEL. None if so few differences have none. Each end is a mean of some of the differences (Hartigan 1969)."""
    means = sorted(sum(some) / len(some) for size in range(1, len(differences) + 1) for some in itertools.combinations(differences, size))
    left_out = int(LEVEL / factor * 2 ** len(differences) * (1 + 1e-9)) - 1
    return (means[left_out], means[-1 - left_out]) if left_out >= 0 else None


def gain_of(found, scale):
    """A mean of differences and the ends of its interval, if it has one, lowest first, times the scale."""
    return [scale * found["mean"], *sorted(scale * end for end in found.get("interval") or [])]


class Look:
    """A claim's arm beside its baseline in a record of its study; differences are arm less baseline."""

    def __init__(self, claim, record, task):
        self.claim, self.record, self.metric = claim, record, task["metric"]
        self.sign = -1 if task["direction"] == "lower" else 1  # of a difference by which the arm is better
        self.baseline_name = next(name for name, one in task["arms"].items() if "contrast" not in one)
        self.arms = {name: task["arms"][name] for name in (self.baseline_name, claim.arm)}
        self.baseline, self.arm = self.arms.values()
        self.contrast = self.arm["contrast"]
        judged = self.contrast.get("judged", self.contrast)  # records of before the program's present rule were judged by it later
        self.outside = claim.outside + judged.get("outside", [])
        self.shown = OF_PROGRAM.get(judged["outcome"]) or (BEYOND if claim.claim in ("equal", "noninferior") else OTHER_SIGN)
        self.q = None  # by add_q

    @property
    def outcome(self):
        """A word of OUTCOMES; `shown` is what the study shows by itself."""
        if self.outside and self.shown != NOT_LEARNED:
            return OUTSIDE
        return WITHDRAWN if self.claim.withdrawn and self.contrast["outcome"] in ("agrees", "contradicts") else self.shown

    @property
    def effect(self):
        """By how much the arm is better, as mean, lowest and highest of a 95 % interval, or the mean alone: of losses in per cent of the
        baseline's mean, by the program's test of the ratio, of other metrics as it is. Empty where a loss has no ratio."""
        found = self.contrast.get("relative") or {} if self.metric in LOSSES else self.contrast
        return gain_of(found, self.sign * (100 if self.metric in LOSSES else 1)) if found else []

    @property
    def equivalence(self):
        """The interval of the test that a difference is smaller than the margin, corrected as that test is; None if that did not decide."""
        test, differences = self.contrast["within"], self.contrast["differences"]
        if self.contrast["verdict"] not in ("equivalent", "no_worse") or not isinstance(test["p"], float) or len(differences) > 16:
            return None
        return equivalence_interval(differences, test["adjusted_p"] / test["p"])

    @property
    def p(self):
        """The p, corrected within its study, of the test that decided what is shown; 1 if none did."""
        if self.outcome not in (AGREES, OTHER_SIGN, BEYOND):
            return 1.0
        within = self.outcome == AGREES and self.claim.claim in ("equal", "noninferior")
        return self.contrast["beyond" if self.outcome == BEYOND else "within" if within else "difference"]["adjusted_p"]


class Claim:
    """One entry of claims.yaml with what its study declares, and its looks, the first and the second one, which may be None."""

    OPTIONAL = ("task", "size", "guess", "ladder", "part", "published", "spread", "regime", "predicts", "changes", "note", "withdrawn")

    def __init__(self, entry, *records):
        self.__dict__ |= dict.fromkeys(self.OPTIONAL) | entry
        self.looks = tuple(self.look(record) for record in records)

    @property
    def outside(self):
        """A reason for which its studies are outside the source's range, if one is given."""
        return [self.regime["outside"]] if self.regime and "outside" in self.regime else []

    def look(self, record):
        """None if the record has nothing on this claim."""
        task = record and record["tasks"].get(self.setting(record))
        return Look(self, record, task) if task and self.arm in task["arms"] else None

    def setting(self, record):
        """The name that the record has for the claim's task in the claim's size."""
        task = self.task or next(iter(record["tasks"])).split("-")[0]
        return f"{task}-{self.size}" if self.size else task

    @property
    def first(self):
        """The outcome of the first look."""
        return self.looks[0].outcome if self.looks[0] else NOT_RUN

    @property
    def is_published_in_per_cent(self):
        """Whether the published figures are losses, or a ratio to a baseline of 1, rather than scores."""
        return self.published["baseline"] == 1 or any(word in self.published["metric"].lower() for word in ("loss", "perplexity"))

    @property
    def published_effect(self):
        """By how much the published arm was better, in per cent of the baseline or as it is."""
        baseline, arm = self.published["baseline"], self.published["arm"]
        difference = arm - baseline if self.published["better"] == "higher" else baseline - arm
        return 100 * difference / abs(baseline) if self.is_published_in_per_cent else difference


def q_values(p):
    """The smallest rate of false discoveries at which each hypothesis would be rejected (Benjamini & Hochberg 1995)."""
    order, smallest, found = sorted(range(len(p)), key=p.__getitem__), 1.0, [1.0] * len(p)
    for rank in range(len(p), 0, -1):
        i = order[rank - 1]
        smallest = min(smallest, p[i] * len(p) / rank)
        found[i] = smallest
    return found


def add_q(found):
    """Gives each look that decided something its q, over all looks that count."""
    looks = [look for claim in found for look in claim.looks if look and look.outcome not in (NOT_LEARNED, OUTSIDE, WITHDRAWN)]
    for look, q in zip(looks, q_values([look.p for look in looks]), strict=True):
        look.q = q if look.p < 1 else None


def read_claims():
    found = [Claim(files.declared(entry["study"], entry["arm"]) | entry, *(files.read_record(entry["study"], again) for again in (False, True)))
             for entry in files.catalogue()["claims"]]
    add_q(found)
    return found
