"""The choices of docs/atlas/index.md: which part to use, by what the studies measured beside the usual one."""

import bisect
import dataclasses
import math

import claims
import files
import measures


@dataclasses.dataclass
class Option:
    name: str
    claims: list
    measures: list

    def __post_init__(self):
        metrics = [one.metric for one in self.measures]
        self.main = [one for one in self.measures if one.metric == ("loss" if "loss" in metrics else metrics[0])]
        self.shown = sum(one.is_shown for one in self.measures)
        self.is_sure = self.shown >= max(2, len(self.measures) / 2)  # two settings show a difference, and half of all

    @property
    def word(self):
        """better, worse or alike; depends, if settings disagree; unknown without any."""
        if not self.shown:
            return "alike" if self.measures else "unknown"
        if all(one.mean >= 0 for one in self.measures):
            return "better"
        return "worse" if all(one.mean <= 0 for one in self.measures) else "depends"


class Choice:
    """Options beside the usual one. What to use is the best one; without a better one any of those that are alike, or else the usual one."""

    def __init__(self, name, usual, options):
        self.name, self.usual, self.options = name, usual, options
        ordered = sorted(options, key=lambda one: (not one.is_sure, -one.shown, -max((measure.mean for measure in one.main), default=0)))
        self.by_word = {word: [one for one in ordered if one.word == word] for word in ("better", "alike", "worse", "depends")}
        self.best = self.by_word["better"].pop(0) if self.by_word["better"] else None
        self.pictured = [self.best] if self.best else self.by_word["alike"] or options

    def marks(self, column):
        """(option, measure) of what is pictured in a column of the table: text by the size of the model, and last all other tasks."""
        return [(option, one) for option in self.pictured for one in option.measures
                if column == ((one.parameters > 45e3) + (one.parameters > 95e3) if one.metric in claims.LOSSES else 3)]


def read_choices(found):
    by_id = {claim.id: claim for claim in found}
    for choice in files.catalogue()["choices"]:
        options = [(name, [by_id[one] for one in ids]) for name, ids in choice["options"].items()]
        yield Choice(choice["choice"], choice["usual"], [Option(name, of, [one for claim in of for one in measures.measures_of(claim)]) for name, of in options])


def contrasts(records):
    """(arm, contrast) of every arm that was compared."""
    arms = [arm for record in records for task in record["tasks"].values() for arm in task["arms"].values()]
    return [(arm, arm["contrast"]) for arm in arms if "contrast" in arm]


def controls(records):
    """The verdicts that rest on tests of baselines that were trained again, with other random numbers alone."""
    return [contrast["verdict"] for arm, contrast in contrasts(records) if arm.get("control") and contrast["verdict"] in claims.TESTED]


def forecasts(records):
    """The scores of what studies forecast of their arms' differences."""
    return [contrast["forecast"] for _, contrast in contrasts(records) if contrast.get("forecast")]


def exact_interval(count, trials):
    """That of 95 % of a share (Clopper & Pearson 1934)."""
    def below(share, most):  # the chance of at most so many
        return sum(math.comb(trials, i) * share**i * (1 - share) ** (trials - i) for i in range(most + 1))

    def crossing(most, chance):
        return bisect.bisect_left(range(10_000), -chance, key=lambda share: -below(share / 10_000, most)) / 10_000

    return crossing(count - 1, 0.975) if count else 0.0, crossing(count, 0.025) if count < trials else 1.0
