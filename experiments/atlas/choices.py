"""docs/atlas/index.md: which part to use, by what the studies measured beside the usual one."""

import dataclasses

import claims
import controls
import cost
import files
import measures

WORDS = {"better": "Also better", "alike": "No difference shown", "worse": "Worse", "depends": "Depends on size or task"}
COLUMNS = ("below 45k", "to 95k", "above", "tasks")


@dataclasses.dataclass
class Option:
    name: str
    claims: list
    measures: list

    @property
    def shown(self):
        return sum(one.is_shown for one in self.measures)

    @property
    def is_sure(self):
        """Whether two settings show a difference, and half of all."""
        return self.shown >= max(2, len(self.measures) / 2)

    @property
    def main(self):
        """The measures of its first metric, which is loss if it has that."""
        metric = min((one.metric for one in self.measures), key=lambda metric: metric != "loss", default="")
        return [one for one in self.measures if one.metric == metric]

    @property
    def word(self):
        """better, worse or alike; depends, if settings disagree; unknown without any."""
        if not self.measures:
            return "unknown"
        up, down = any(one.low > 0 for one in self.measures), any(one.high < 0 for one in self.measures)
        if not (up or down):
            return "alike"
        if up and all(one.mean >= 0 for one in self.measures):
            return "better"
        return "worse" if down and all(one.mean <= 0 for one in self.measures) else "depends"


def options_of(choice, found):
    by_id = {claim.id: claim for claim in found}
    for name, ids in choice["options"].items():
        of = [by_id[one] for one in ids]
        yield Option(name, of, [one for claim in of for one in measures.measures_of(claim)])


def span(values, written, key=None):
    """"1.3 to 1.4": the smallest and the largest; one of them if they are written alike."""
    return " to ".join(dict.fromkeys(written(end(values, key=key)) for end in (min, max)))


def benefit_text(option):
    """What speaks for an option that is better, and what it costs."""
    unit = " nats" if option.main[0].metric == "loss" else measures.UNITS.get(option.main[0].metric, "")
    gains = span(option.main, lambda one: one.gain, key=lambda one: one.mean)
    worth, time = [one.compute for one in option.main if one.compute and one.low > 0], cost.time_of(option.claims)
    return gains + unit + (f", worth {span(worth, '{:.1f}'.format)} times the compute" if worth else "") + (f", {time:.2f} times as long" if time else "")


def by_word(options):
    """Options by their words, the best first."""
    ordered = sorted(options, key=lambda one: (not one.is_sure, -one.shown, -max((measure.mean for measure in one.main), default=0)))
    return {word: [one for one in ordered if one.word == word] for word in WORDS}


def names(options):
    return ", ".join(one.name for one in options)


def advice(choice, options):
    """What to use, and the options that show it."""
    of = by_word(options)
    if of["better"]:
        best = of["better"][0]
        return f"**{'Use' if best.is_sure else 'Perhaps'}: {best.name}.** {benefit_text(best)}.", [best]
    if of["alike"]:
        return f"**No difference shown: take the cheaper** of {choice['usual']}, {names(of['alike'])}.", of["alike"]
    return f"**Use: {choice['usual']}.**", options


def others(options):
    """What the advice leaves unsaid."""
    of = by_word(options)
    best, of["better"] = of["better"][:1], of["better"][1:]
    told = [f"Shown in {one.shown} of {len(one.measures)} settings, {span([round(at.parameters, -3) for at in one.measures], '{:,.0f}'.format)} parameters."
            for one in best]
    return " ".join(told + [f"{said}: {names(of[word])}." for word, said in WORDS.items() if of[word] and (best or word != "alike")])


def column_of(one):
    """The place in COLUMNS of a measure: by the size of the model, or the last one for tasks."""
    return (one.parameters > 45e3) + (one.parameters > 95e3) if one.metric in claims.LOSSES else 3


def cell(options, column):
    """The picture of what a column of the table has of the options; nothing if that is nothing."""
    of = [(option, one) for option in options for one in option.measures if column_of(one) == column]
    told = "; ".join(f"{option.name} {one.sized}" for option, one in of).replace("**", "")
    return measures.picture([one for _, one in of], told) if of else ""


def row(choice, options):
    """A choice's line of the table."""
    told, pictured = advice(choice, options)
    return [f"[{choice['choice']}](#{choice['choice'].lower().replace(' ', '-')})", told, *(cell(pictured, column) for column in range(len(COLUMNS)))]


def line(option):
    """An option's name, picture and numbers."""
    links = " ".join(f"[{option.name if i == 1 else i}](claims/{claim.id}.md)" for i, claim in enumerate(option.claims, 1))
    numbers = ", ".join(one.sized for one in option.measures) or "nothing can be told"
    return f'<div class="option" markdown="span"><span>{links}</span> {measures.picture(option.measures)} <span>{numbers}</span></div>'


def section(choice, options):
    text = f"## {choice['choice']}\n\n{advice(choice, options)[0]} {others(options)}".strip()
    lines = "\n".join(map(line, options))
    return f'<div class="choice" markdown>\n<div markdown>\n\n{text}\n\n</div>\n<div markdown>\n\n{lines}\n\n</div>\n</div>'


def text_of(found):
    choices = [(choice, list(options_of(choice, found))) for choice in files.catalogue()["choices"]]
    return files.page("index", table=files.table(["choice", "what to use", *COLUMNS], (row(*one) for one in choices)), controls=controls.text_of(files.records().values()),
                      sections="\n\n".join(section(*one) for one in choices))
