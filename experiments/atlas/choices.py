"""docs/atlas/index.md: which part to use, by what the studies measured beside the usual one."""

import dataclasses

import claims
import controls
import costs
import files
import ladder

HEAD = """---
hide: [navigation, toc]
---

# What should I use?

What each option gained or lost here beside the usual one, at sizes from 9,000 to 700,000 parameters, mostly in running text: nats of loss
unless a number says otherwise, better to the right, in bold where the 95 % interval leaves out zero. Dots stand out more the larger the
model; squares are tasks and translations. Behind a name is what papers claim of it and how it was tested. Here are [all claims](claims.md) and
[the rules](rules.md).
"""
WIDTH, ROW = 150, 24  # of a picture
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
    def shade(self):
        return 1 + (self.parameters > 45e3) + (self.parameters > 95e3)


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


def time_of(option):
    """Training time for each token beside the baseline's, where it was measured."""
    found = [costs.read_costs().get("arms", {}).get(claim.study, {}).get(claim.arm) for claim in option.claims]
    seconds = [sorted(one["seconds"])[len(one["seconds"]) // 2] for one in found if one]
    return max(seconds) if seconds else None


def benefit_text(option):
    """What speaks for an option that is better."""
    gains = sorted(option.main, key=lambda one: one.mean)
    span = " to ".join(dict.fromkeys(gain_text(one).lstrip("+") for one in (gains[0], gains[-1])))
    unit = UNITS.get(gains[0].metric) or (" nats" if gains[0].metric == "loss" else "")
    sizes = " to ".join(dict.fromkeys(f"{round(end(one.parameters for one in option.measures), -3):,.0f}" for end in (min, max)))
    worth = " to ".join(dict.fromkeys(f"{end([one.compute for one in gains if one.compute and one.low > 0], default=0):.1f}" for end in (min, max)))
    time = time_of(option)
    return (f"{span}{unit} better; shown in {option.shown} of {len(option.measures)} settings, {sizes} parameters"
            + (f"; worth {worth} times the compute" if worth != "0.0" else "") + (f"; takes {time:.2f} times as long" if time else ""))


def advice(choice, options):
    """The first line of a choice: what to use, and what of the other options."""
    of = {word: [one for one in options if one.word == word] for word in ("better", "worse", "alike", "depends", "unknown")}
    best = sorted(of["better"], key=lambda one: (not one.is_sure, -one.shown, -max(measure.mean for measure in one.main)))
    names = {word: ", ".join(one.name for one in found) for word, found in of.items()}
    told = [f"Worse: {names['worse']}."] * bool(of["worse"]) + [f"Depends on size or task: {names['depends']}."] * bool(of["depends"])
    if best:
        others = [f"Also better: {', '.join(one.name for one in best[1:])}."] * bool(best[1:]) + [f"No difference shown: {names['alike']}."] * bool(of["alike"])
        return " ".join([f"**{'Use' if best[0].is_sure else 'Perhaps'}: {best[0].name}.** {benefit_text(best[0])}.", *others, *told])
    if of["alike"]:
        return " ".join([f"**No difference shown: take the cheaper** of {choice['usual']}, {names['alike']}.", *told])
    return " ".join([f"**Use: {choice['usual']}.**", *told])


def place(one, end):
    """Where a gain stands, on the scale of ladders."""
    return WIDTH * ladder.place(end * SCALES.get(one.metric, 0.3))


def mark(one, y):
    x, low, high = (round(place(one, end)) for end in (one.mean, one.low, one.high))
    shape = f'<circle cx="{x}" cy="{y}" r="4"/>' if one.metric == "loss" else f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8"/>'
    return f'<g class="size-{one.shade}"><line x1="{low}" y1="{y}" x2="{high}" y2="{y}"/>{shape}</g>'


def picture(measures):
    step = (ROW - 8) / (len(measures) + 1)
    marks = "".join(mark(one, round(4 + step * (i + 1))) for i, one in enumerate(measures))
    zero = f'<line class="zero" x1="{WIDTH // 2}" y1="0" x2="{WIDTH // 2}" y2="{ROW}"/>'
    return f'<svg class="gains" width="{WIDTH}" height="{ROW}" viewBox="0 0 {WIDTH} {ROW}" aria-hidden="true">{zero}{marks}</svg>'


def line(option):
    """An option's name, picture and numbers."""
    more = "".join(f" [{i}](claims/{claim.id}.md)" for i, claim in enumerate(option.claims[1:], 2))
    numbers = ", ".join(map(number_text, option.measures)) or "nothing can be told"
    return f'<div class="option" markdown="span"><span>{option.link}{more}</span> {picture(option.measures)} <span>{numbers}</span></div>'


def section(choice, found):
    options = list(options_of(choice, found))
    lines = "\n".join(map(line, options))
    return f'<div class="choice" markdown>\n<div markdown>\n\n## {choice["choice"]}\n\n{advice(choice, options)}\n\n</div>\n<div markdown>\n\n{lines}\n\n</div>\n</div>'


def text_of(found):
    return "\n\n".join([HEAD.strip(), controls.text_of(files.records()), *(section(choice, found) for choice in files.catalogue()["choices"])]) + "\n"
