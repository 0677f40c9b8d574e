"""The choices of docs/atlas/index.md: which part to use, by what the studies measured beside the usual one."""

import math

import claims
import files
import measures


class Option:
    def __init__(self, name, found, measured):
        self.name, self.claims, self.measures = name, found, measured
        self.main = [one for one in measured if one.metric == "loss"] or [one for one in measured if one.metric == measured[0].metric]
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


def compared(records):
    """Every arm that was compared; the control of a baseline that several studies have, with the same scores, once."""
    arms = [arm for record in records for task in record["tasks"].values() for arm in task["arms"].values() if "contrast" in arm]
    return list({tuple(arm["values"]) if arm.get("control") else id(arm): arm for arm in arms}.values())


def signs(found):
    """(better there, better here) of each claim with published figures, by the mean of its first look; not of one that does not count."""
    looks = [claim.looks[0] for claim in found if claim.published and claim.published_gain and claim.looks[0]]
    return [(look.claim.published_gain > 0, look.gain[0] > 0) for look in looks
            if look.contrast["verdict"] in claims.TESTED and look.outcome != claims.WITHDRAWN]


def exact_interval(count, trials):
    """That of 95 % of a share, to 0.0001 (Clopper & Pearson 1934)."""
    def end(most, chance):  # the first share at which at most so many have no more than this chance
        shares = (step / 10_000 for step in range(10_000))
        return next((share for share in shares if sum(math.comb(trials, i) * share**i * (1 - share) ** (trials - i) for i in range(most + 1)) <= chance), 1.0)

    return end(count - 1, 0.975), end(count, 0.025)
