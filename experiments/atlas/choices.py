"""docs/atlas/index.md: which part to use, by what the studies measured beside the usual one."""

import dataclasses

import claims
import controls
import costs
import files
import ladder

WORDS = {"better": "Also better", "alike": "No difference shown", "worse": "Worse", "depends": "Depends on size or task"}
SIZES = ("below 45k", "to 95k", "above", "tasks")  # columns of the table
WIDTH, ROW = 150, 24  # of a picture, which is drawn smaller in the table
SCALES = {"loss": 1, "divergence": 1, "bleu": 0.04, "bits_per_parameter": 0.2}  # by which gains are drawn; others are shares
UNITS = {"loss": "", "divergence": " nats of divergence", "bleu": " BLEU", "bits_per_parameter": " bits"}


@dataclasses.dataclass
class Measure:
    """The gain of an arm in one setting, with the ends of its interval."""

    parameters: float
    metric: str
    mean: float
    low: float
    high: float
    compute: float | None = None  # how many times the compute would give its baseline the same

    @property
    def is_shown(self):
        return self.low > 0 or self.high < 0

    @property
    def column(self):
        """Of the table: below 45,000 parameters, to 95,000, above, tasks."""
        return (self.parameters > 45e3) + (self.parameters > 95e3) if self.metric in claims.LOSSES else 3


@dataclasses.dataclass
class Option:
    name: str
    claims: list
    measures: list

    @property
    def link(self):
        return f"[{self.name}](claims/{self.claims[0].id}.md)"

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


def measures_of(claim):
    """Of the claim's studies and ladders; nothing of an arm of which no mean can be told."""
    found = []
    for finding in filter(None, (claim.finding(claim.record), claim.finding(claim.again))):
        interval = finding.contrast["interval"]
        if finding.contrast["verdict"] in claims.TESTED and isinstance(interval, list):
            ends = sorted(finding.sign * end for end in interval)
            found.append(Measure(finding.baseline["parameters"], finding.metric, finding.sign * finding.contrast["mean"], *ends))
    for sizes in ladder.read_ladders().values():
        arm = ladder.arm_of(claim, sizes)
        found += rungs_of(sizes, arm) if arm else []
    return sorted(found, key=lambda one: one.parameters)


def rungs_of(sizes, arm):
    """What an arm of a ladder gains at its sizes."""
    rungs = zip(sizes["rungs"], ladder.gains(sizes, arm), ladder.compute(sizes, arm), strict=True)
    return [Measure(rung["x"], sizes["metric"], *gain, times) for rung, gain, times in rungs]


def options_of(choice, found):
    by_id = {claim.id: claim for claim in found}
    for name, ids in choice["options"].items():
        of = [by_id[one] for one in ids]
        yield Option(name, of, [one for claim in of for one in measures_of(claim)])


def gain_text(one):
    if one.metric in UNITS:
        return f"{one.mean:+.2f}" if one.metric == "bleu" else f"{one.mean:+.3f}"
    return f"{100 * one.mean:+.0f} points" if one.metric in claims.SHARES else f"{one.mean:+.2f} {claims.metric_text(one.metric)}"


def number_text(one):
    """"28k **+0.019**": the parameters and the gain, in bold if it is shown."""
    text = gain_text(one) + UNITS.get(one.metric, "")
    return f"{one.parameters / 1000:.0f}k&nbsp;" + (f"**{text}**" if one.is_shown else text)


def span(values, written, key=None):
    """"1.3 to 1.4": the smallest and the largest; one of them if they are written alike."""
    return " to ".join(dict.fromkeys(written(end(values, key=key)) for end in (min, max)))


def benefit_text(option):
    """What speaks for an option that is better, and what it costs."""
    unit = UNITS.get(option.main[0].metric) or (" nats" if option.main[0].metric == "loss" else "")
    gains = span(option.main, gain_text, key=lambda one: one.mean)
    worth, time = [one.compute for one in option.main if one.compute and one.low > 0], costs.time_of(option.claims)
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
        return f"**No difference: take the cheaper** of {choice['usual']}, {names(of['alike'])}.", of["alike"]
    return f"**Use: {choice['usual']}.**", options


def others(options):
    """What the advice leaves unsaid."""
    of = by_word(options)
    best, of["better"] = of["better"][:1], of["better"][1:]
    told = [f"Shown in {one.shown} of {len(one.measures)} settings, {span([round(at.parameters, -3) for at in one.measures], '{:,.0f}'.format)} parameters."
            for one in best]
    return " ".join(told + [f"{said}: {names(of[word])}." for word, said in WORDS.items() if of[word] and (best or word != "alike")])


def place(one, end):
    """Where a gain stands, on the scale of ladders."""
    return WIDTH * ladder.place(end * SCALES.get(one.metric, 0.3))


def mark(one, y):
    x, low, high = (round(place(one, end)) for end in (one.mean, one.low, one.high))
    shape = f'<circle cx="{x}" cy="{y}" r="4"/>' if one.metric in claims.LOSSES else f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8"/>'
    return f'<g class="{"shown" if one.is_shown else "open"}"><line x1="{low}" y1="{y}" x2="{high}" y2="{y}"/>{shape}</g>'


def picture(measures, told=""):
    """The gains as dots with intervals; what is told of them is for who does not see them."""
    step = (ROW - 8) / (len(measures) + 1)
    marks = "".join(mark(one, round(4 + step * (i + 1))) for i, one in enumerate(measures))
    zero = f'<line class="zero" x1="{WIDTH // 2}" y1="0" x2="{WIDTH // 2}" y2="{ROW}"/>'
    seen = f'role="img"><title>{told}</title>' if told else 'aria-hidden="true">'
    return f'<svg class="gains" width="{WIDTH}" height="{ROW}" viewBox="0 0 {WIDTH} {ROW}" {seen}{zero}{marks}</svg>'


def cell(options, column):
    """The picture of what a column of the table has of the options; nothing if that is nothing."""
    of = [(option, one) for option in options for one in option.measures if one.column == column]
    told = "; ".join(f"{option.name} {number_text(one)}" for option, one in of).replace("**", "")
    return picture([one for _, one in of], told) if of else ""


def row(choice, options):
    """A choice's line of the table."""
    told, pictured = advice(choice, options)
    return [f"[{choice['choice']}](#{choice['choice'].lower().replace(' ', '-')})", told, *(cell(pictured, column) for column in range(len(SIZES)))]


def line(option):
    """An option's name, picture and numbers."""
    more = "".join(f" [{i}](claims/{claim.id}.md)" for i, claim in enumerate(option.claims[1:], 2))
    numbers = ", ".join(map(number_text, option.measures)) or "nothing can be told"
    return f'<div class="option" markdown="span"><span>{option.link}{more}</span> {picture(option.measures)} <span>{numbers}</span></div>'


def section(choice, options):
    text = f"## {choice['choice']}\n\n{advice(choice, options)[0]} {others(options)}".strip()
    lines = "\n".join(map(line, options))
    return f'<div class="choice" markdown>\n<div markdown>\n\n{text}\n\n</div>\n<div markdown>\n\n{lines}\n\n</div>\n</div>'


def text_of(found):
    choices = [(choice, list(options_of(choice, found))) for choice in files.catalogue()["choices"]]
    return files.page("index", table=files.table(["choice", "what to use", *SIZES], (row(*one) for one in choices)), controls=controls.text_of(files.records()),
                      sections="\n\n".join(section(*one) for one in choices))
