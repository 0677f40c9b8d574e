"""docs/atlas/index.md: which part to use, by what the studies measured beside the usual one."""

import dataclasses

import claims
import files
import measures

WORDS = {"better": "Also better", "alike": "No difference shown", "worse": "Worse", "depends": "Depends on size or task"}
COLUMNS = ("below 45k", "to 95k", "above", "tasks")


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


def span(values, written, key=None):
    """"1.3 to 1.4": the smallest and the largest; one of them if they are written alike."""
    return " to ".join(dict.fromkeys(written(end(values, key=key)) for end in (min, max)))


def benefit_text(option):
    """What speaks for an option that is better, and what it costs."""
    unit = " nats" if option.main[0].metric == "loss" else measures.UNITS.get(option.main[0].metric, "")
    gains = span(option.main, lambda one: one.gain, key=lambda one: one.mean)
    worth, time = [one.compute for one in option.main if one.compute and one.low > 0], measures.time_of(option.claims)
    return gains + unit + (f", worth {span(worth, '{:.1f}'.format)} times the compute" if worth else "") + (f", {time:.2f} times as long" if time else "")


def advice(usual, options):
    """What to use, the options that show it, and what that leaves unsaid."""
    ordered = sorted(options, key=lambda one: (not one.is_sure, -one.shown, -max((measure.mean for measure in one.main), default=0)))
    of = {word: [one for one in ordered if one.word == word] for word in WORDS}
    best, of["better"] = of["better"][:1], of["better"][1:]
    names = {word: ", ".join(one.name for one in of[word]) for word in WORDS if of[word]}
    unsaid = [f"{WORDS[word]}: {named}." for word, named in names.items() if best or word != "alike"]
    if best:
        one, = best
        sizes = span([round(at.parameters, -3) for at in one.measures], "{:,.0f}".format)
        shown = f"Shown in {one.shown} of {len(one.measures)} settings, {sizes} parameters."
        return f"**{'Use' if one.is_sure else 'Perhaps'}: {one.name}.** {benefit_text(one)}.", best, " ".join([shown, *unsaid])
    if of["alike"]:
        return f"**No difference shown: take the cheaper** of {usual}, {names['alike']}.", of["alike"], " ".join(unsaid)
    return f"**Use: {usual}.**", options, " ".join(unsaid)


def cell(options, column):
    """The picture of what a column of the table has of the options, by the size of the model or the last one of tasks; nothing if that is nothing."""
    of = [(option, one) for option in options for one in option.measures
          if column == ((one.parameters > 45e3) + (one.parameters > 95e3) if one.metric in claims.LOSSES else 3)]
    told = "; ".join(f"{option.name} {one.sized}" for option, one in of).replace("**", "")
    return measures.picture([one for _, one in of], told) if of else ""


def line(option):
    """An option's name, picture and numbers."""
    links = " ".join(f"[{option.name if i == 1 else i}](claims/{claim.id}.md)" for i, claim in enumerate(option.claims, 1))
    numbers = ", ".join(one.sized for one in option.measures) or "nothing can be told"
    return f'<div class="option" markdown="span"><span>{links}</span> {measures.picture(option.measures)} <span>{numbers}</span></div>'


def texts_of(choice, options):
    """A choice's line of the table, and its section."""
    told, shown, unsaid = advice(choice["usual"], options)
    row = [f"[{choice['choice']}](#{choice['choice'].lower().replace(' ', '-')})", told, *(cell(shown, column) for column in range(len(COLUMNS)))]
    return row, files.page("choice", name=choice["choice"], advice=f"{told} {unsaid}".strip(), options="\n".join(map(line, options)))


def controls_text(records):
    """How many baselines that were trained again, with other random numbers alone, are shown to differ; `ablate report --together` says at what rate."""
    verdicts = [arm["contrast"]["verdict"] for record in records for task in record["tasks"].values() for arm in task["arms"].values()
                if arm.get("control") and "contrast" in arm]
    n, alarms = sum(one in claims.TESTED for one in verdicts), sum(one in ("better", "worse") for one in verdicts)
    if not n:
        return "No control has been recorded yet: a baseline with other random numbers, which differs from the other one by chance alone."
    return f"Of {n} controls, baselines with other random numbers, {alarms} {'is' if alarms == 1 else 'are'} shown to differ: false alarms."


def text_of(found):
    by_id, texts = {claim.id: claim for claim in found}, []
    for choice in files.catalogue()["choices"]:
        options = [(name, [by_id[one] for one in ids]) for name, ids in choice["options"].items()]
        texts.append(texts_of(choice, [Option(name, of, [one for claim in of for one in measures.measures_of(claim)]) for name, of in options]))
    return files.page("index", table=files.table(["choice", "what to use", *COLUMNS], (row for row, _ in texts)),
                      controls=controls_text(files.records().values()), sections="\n".join(text for _, text in texts))
