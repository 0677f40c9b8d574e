"""docs/atlas.md, from the claims and the findings of their studies."""

import statistics

import claims
import ladder
import picture
import regime

INTRODUCTION = """# An atlas of claims

What papers say of the parts of the Transformer, asked again on a laptop: each row is a published statement, the study that tests it
here, and the outcome. A model of 0.1 million parameters is not one of 200 million. An outcome says what holds at the scale of its
study, not whether the paper is right at its own.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas and experiments/atlas/claims.yaml, regime.py and history.yaml. -->
"""

RULES = """## The rules

They stand in [claims.yaml](../experiments/atlas/claims.yaml) and in the studies, and were written before any run by them, except where a rule or
a claim's history says otherwise.

1. Each claim says what its source says of the arm, superior, inferior, noninferior or equal, with a margin that follows from the published
   effect and its published spread. The study declares the same, and the program decides by the tests of [statistics.md](statistics.md),
   corrected within the study. A better arm never contradicts "no worse", and only an effect beyond the margin contradicts equality.
2. Arms of studies of text have the rate that suits each, found on other seeds and on text apart from the test text, unless the rate or the
   warm-up is the question or the source compares at one rate. Evaluations of one model share its rate.
3. Over the whole page the rate of false discoveries is held at {level:g} % (Benjamini & Hochberg 1995), on the p values that are corrected
   within their studies. All claims that have been run count, second looks too; those that are undecided count with p = 1.
4. A claim that is inconclusive, although its difference exceeds {share:g} of the smallest one that its study could detect (with 80 % power), is asked
   once more, beside the baseline alone, with {steps:g} times the steps and fresh seeds, unless these steps are outside its source's range, where
   nothing could come of it. Nothing else is asked again. Until 27 November 2026 second looks had all arms of their studies, and were made
   outside of ranges, too.
5. A study outside its source's range neither agrees nor contradicts; the page says what the source predicts there. A range counts as met
   if it is missed by a factor of at most {tolerance}. What is said of a source from memory is shown and
   decides nothing. Ranges of 109 claims were entered or completed on 27 November 2026, after most of the runs; where one changed an outcome,
   the claim's history says so.
6. Intervals cover 95 % and are those of the tests, so that they agree with the outcome; per cents of the baseline have Fieller's kind of
   interval, in which the baseline is estimated, too.
7. The history of a claim stays on the page: its first words, its first verdict, and every change.
"""

METRICS = {"bleu": "BLEU"}  # the others are words

AT_AN_END = ("\\* The best learning rate of the arm or of its baseline was the largest or the smallest of those tried, so another might do better; "
             "the claim's paragraph says which.")

MEANING = "\n".join(f"- **{word}**: {text}." for word, text in claims.OUTCOMES.items())


def rules():
    found = claims.catalogue()["rules"]
    again = found["second_look"]
    tolerance = ", ".join(f"{factor} for {regime.QUANTITIES[quantity]}" for quantity, factor in found["tolerance"].items() if factor != 1)
    return RULES.format(level=100 * found["false_discovery"], share=again["share_of_detectable"], steps=again["steps"], tolerance=tolerance)


def percent(value):
    return f"{value:+.2f} %" if abs(value) < 1 else f"{value:+.1f} %"


def effect_text(finding):
    if finding is None or not finding.effect:
        return ""
    mean, *interval = finding.effect
    low, high = sorted(interval) if interval else (mean, mean)
    metric = "" if finding.metric == "loss" else f" of {metric_text(finding.metric)}"
    return percent(mean) + metric + (f" ({percent(low)[:-2]} to {percent(high)[:-2]})" if interval else "")


def source_of(claim):
    return f"[{claim.source['text']}]({claim.source['url']})"


def arms_of(finding):
    return ((finding.baseline_name, finding.baseline), (finding.name, finding.arm))


def star(finding):
    """A star if a tuned value is at an end of the tried range."""
    return "\\*" * bool(finding and any(arm.get("at_edge") for _, arm in arms_of(finding)))


def outcome_text(claim):
    finding = claim.finding(claim.record)
    margin = f" (margin {claim.margin:g} of {metric_text(finding.metric)})" if claim.first == claims.INCONCLUSIVE else ""
    return claim.first + margin + star(finding)


def second_text(claim):
    """The outcome of the second look; nothing if there was none."""
    return "" if claim.second == claims.NOT_RUN else claim.second + star(claim.finding(claim.again))


def table_row(claim):
    link = f"[{claim.says}](#{claim.id})"
    published = "" if claim.published_effect is None else f"{percent(claim.published_effect)} of {claim.published['metric']}"
    again = "due" if claim.second_look_is_due else second_text(claim)
    return f"| {link} | {outcome_text(claim)} | {effect_text(claim.finding(claim.record))} | {again} | {published} | {source_of(claim)} |"


def table(found):
    """All claims, sorted by outcome."""
    order = list(claims.OUTCOMES)
    rows = sorted(found, key=lambda claim: order.index(claim.first))
    head = ["| claim | outcome | effect here | second look | published effect | source |", "|---|---|---|---|---|---|"]
    return "\n".join(head + [table_row(claim) for claim in rows])


def count_text(finding, key):
    """The baseline's parameters or steps, and the arm's if they differ."""
    words = f"{finding.baseline[key]:,} {key}"
    if finding.arm[key] == finding.baseline[key]:
        return words
    if key == "steps" and finding.arm[key] == 0:
        return f"{words} (`{finding.name}` is an evaluation of the model that the baseline trained)"
    return f"{words} ({finding.arm[key]:,} for `{finding.name}`)"


def metric_text(metric):
    return METRICS.get(metric, metric.replace("_", " "))


def scale_of(finding):
    test_set = f" on {finding.arm['test_set']}" if finding.arm["test_set"] else ""
    return (f"{count_text(finding, 'parameters')}, {count_text(finding, 'steps')}, {len(finding.baseline['values'])} seeds, "
            f"{metric_text(finding.metric)}{test_set}: {finding.baseline['mean']:.4g} ± {finding.baseline['deviation']:.2g} for the baseline, "
            f"{finding.arm['mean']:.4g} ± {finding.arm['deviation']:.2g} for `{finding.name}`")


def detectable_text(finding):
    detectable = finding.contrast.get("detectable")
    return f" The study could have seen {detectable:.2g} with 80 % power." if detectable else ""


def choices_text(name, arm):
    """The arm's tuned values, and which of them are at an end of the tried range."""
    other = {"largest": "larger", "smallest": "smaller"}
    chosen = ", ".join(f"`{key}` {value}" for key, value in arm.get("chosen", {}).items())
    ends = "".join(f" {arm['chosen'][key]} was the {end} tried, so a {other[end]} one might do better." for key, end in arm.get("at_edge", {}).items())
    return f" Chosen for `{name}`: {chosen}.{ends}" if chosen else ""


def noise_text(finding):
    """The gradient noise of both arms, if their runs observed it."""
    noise = [f"{statistics.median(arm['gradient_noise']):,.0f} target tokens for `{name}`" for name, arm in arms_of(finding) if "gradient_noise" in arm]
    return f" Gradient noise at the end, the median over seeds: {', '.join(noise)}." if noise else ""


def commit_text(record):
    """The commit of the study, and the program's own if it names another one."""
    program = record.get("program", record["commit"])
    return record["commit"] if record["commit"].startswith(program) else f"{record['commit']}, program {program},"


def outcome(claim, record, word, what):
    """A paragraph on one record of the claim's study by the present rule; None if there is none."""
    finding = claim.finding(record)
    if finding is None:
        return None
    decided = finding.contrast["outcome"] in (claims.AGREES, claims.CONTRADICTS)
    corrected = " The correction over this page leaves it open." if decided and word == claims.INCONCLUSIVE else ""
    return (f"{what}: **{word}**. {scale_of(finding)}. The report says: {finding.contrast['sentence']}.{corrected}{detectable_text(finding)}"
            f"{noise_text(finding)}{''.join(choices_text(name, arm) for name, arm in arms_of(finding))} "
            f"Run at {commit_text(record)} by `{record['command']}`.")


def outside_text(claim):
    """Why the study is outside the source's regime, if it is known to be, and what the source predicts there."""
    finding = claim.finding(claim.record)
    reasons = regime.outside(claim, finding) if finding else [(claim.regime or {}).get("outside")]
    if not any(reasons):
        return None
    return f"Outside the source's regime: {' '.join(reasons)} There the source predicts: {claim.predicts or 'nothing that we know of.'}"


def published_text(claim):
    spread = f" Spread: {claim.spread}." if claim.spread else ""
    return f"{source_of(claim)}. Published: {figures_text(claim.published)}{claim.where}.{spread} Source read: {claim.checked}."


def figures_text(figures):
    """The published pair; a baseline of 1 means a ratio."""
    if not figures:
        return ""
    if figures["baseline"] == 1:
        return f"{figures['metric']} {figures['arm']:g} times the baseline's; "
    return f"{figures['metric']} {figures['baseline']:g} for the baseline, {figures['arm']:g} for the arm; "


def claim_text(claim):
    return (f"Claim: `{claim.arm}` is **{claim.claim}**, margin {claim.margin:g} of {metric_text(claims.read_study(claim.study)['compare']['metric'])}. "
            f"{claim.margin_from}. Study [{claim.study}.yaml](../experiments/atlas/{claim.study}.yaml){f', task {claim.task}' if claim.task else ''}"
            f"{f', size {claim.size}' if claim.size else ''}.")


def numbers_text(claim):
    """Where all numbers of the study are."""
    if claim.record is None:
        return None
    if not claim.finding(claim.record):
        return f"Numbers of before the present rule are in [{claim.study}.md](results/atlas/{claim.study}.md)."
    again = f", of the second look in [{claim.study}.again.md](results/atlas/{claim.study}.again.md)" if claim.finding(claim.again) else ""
    return f"All numbers of the study are in [{claim.study}.md](results/atlas/{claim.study}.md){again}."


def history_text(claim):
    """The first words and verdict, and every change."""
    lines, words = [], None
    for entry in claims.history()[claim.id]:
        said = "" if entry["words"] == words else f' "{entry["words"]}"'
        lines.append(f"- {entry['date']}:{said} **{entry['verdict']}**. {entry['why']}")
        words = entry["words"]
    return "\n".join(["History, by the rules of the time:", "", *lines])


def section(claim):
    """The claim's own paragraphs."""
    head = f'<a id="{claim.id}"></a>\n### {claim.says}'
    finding = claim.finding(claim.record)
    paragraphs = [head, published_text(claim), claim_text(claim), outcome(claim, claim.record, claim.first, "Here") or "Not run by the present rule.",
                  outcome(claim, claim.again, claim.second, "Second look"), regime.table(claim, finding), outside_text(claim),
                  claim.changes and f"What would change it: {claim.changes}", numbers_text(claim), history_text(claim)]
    return "\n\n".join(filter(None, paragraphs))


def study_row(name, again):
    record = claims.read_record(name, again)
    kept = sum(one["holds"] for one in record["expectations"])
    link = f"[{name}, second look](results/atlas/{name}.again.md)" if again else f"[{name}](results/atlas/{name}.md)"
    return (f"| {link} | {len(record['seeds'])} | {kept} of {len(record['expectations'])} | "
            f"{record['core_minutes']:g} | {record['processor']}, {record['instructions']} | {commit_text(record)} | `{record['command']}` |")


def study_table():
    head = ["| study | seeds | expectations that hold | core minutes | machine | commit | command |", "|---|---|---|---|---|---|---|"]
    rows = [study_row(name, again) for name in claims.studies() for again in (False, True) if is_present(claims.read_record(name, again))]
    note = ("\n\nA program with `-dirty` was built from files that the commit beside it was made of afterwards. c2537b79d6 and f34e48b9ae were rewritten "
            "before they were published.")
    return "\n".join(head + rows) + note if rows else "No study has been run by the present rule."


def is_present(record):
    """Whether the record is by the present rule."""
    return record is not None and any("outcome" in arm.get("contrast", {}) for task in record["tasks"].values() for arm in task["arms"].values())


def counts(found):
    words = [claim.first for claim in found]
    return ", ".join(f"{word} {words.count(word)}" for word in claims.OUTCOMES if word in words)


def pictures(found):
    """The ladder over sizes, which comes first, and the effects; those that are there."""
    sizes = (f"![{ladder.TITLE}](ladder.svg)\n\nEvery arm of [the ladder](results/atlas/ladder.md) has its baseline's parameters, 20 tokens for each, "
             "and the best rate of its size; six seeds. Studies below of other layers and steps may differ from it: biases and the placement of norms, "
             "which matter here, cost nothing in three layers.\n\n" if ladder.read_ladder() else "")
    return sizes + (f"![{picture.TITLE}](atlas.svg)" if picture.shown(found) else "")


def question_text():
    """Where sinusoidal and learned positions are compared, if they have been."""
    run = any(is_present(claims.read_record(name)) for name in claims.studies() if name.startswith("position_question"))
    return "[One page](results/position_question.md) compares sinusoidal and learned positions." if run else ""


def text_of(found):
    """The whole page."""
    parts = [INTRODUCTION, pictures(found), f"Outcomes of {len(found)} claims: {counts(found)}.", MEANING, table(found), AT_AN_END, rules(),
             "## How to run it again", "`make atlas` lists the parts and what each takes; `make atlas PART=feed_forward DATA=DIR` runs one, with "
             "`multi30k/` and `tinyshakespeare/` below DIR, and writes this page. With `AGAIN=1` it takes the second look "
             "that rule 4 asks for, as `python3 experiments/atlas/atlas.py run feed_forward --again --data DIR` does. An interrupted part resumes. "
             "Only what stands in docs/results/atlas is kept of a run, not its curves and outputs.",
             study_table(), question_text(), "## The claims one by one", *(section(claim) for claim in found)]
    return "\n\n".join(filter(None, (part.strip() for part in parts))) + "\n"
