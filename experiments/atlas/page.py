"""docs/atlas/rules.md, and a page for each claim in docs/atlas/claims, from the claims and the findings of their studies."""

import collections
import hashlib
import math
import re
import statistics

import claims
import files
import ladder
import regime

INTRODUCTION = """# The rules of the atlas

What papers say of the parts of the Transformer, asked again on a laptop: each claim is a published statement, with the study that tests it
here, and the outcome. A model of 0.1 million parameters is not one of 200 million. An outcome says what holds at the scale of its
study, not whether the paper is right at its own.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas and experiments/atlas/claims.yaml, regime.py and history.yaml. -->
"""

RULES = """## How outcomes come about

The rules stand in [claims.yaml](../experiments/atlas/claims.yaml) and in the studies, and were written before any run by them, except where a rule or
a claim's history says otherwise.

1. Each claim says what its source says of the arm, superior, inferior, noninferior or equal, with a margin that follows from the published
   effect and its published spread. The study declares the same, and the tests of [statistics.md](statistics.md), corrected within the study,
   decide. The study's own word for an outcome is in its report; the words of this page follow from its numbers by the legend above.
2. Arms of studies of text have the rate that suits each, found on other seeds and on text apart from the test text, unless the rate or the
   warm-up is the question or the source compares at one rate. Evaluations of one model share its rate. Most studies search with one or two
   seeds, which favours an arm at random, by as much as a margin: no p, q or interval here contains that.
3. q, beside a claim that is decided, is the smallest rate of false discoveries at which it would be kept (Benjamini & Hochberg 1995) among all
   looks of this page that are inside their ranges. It decides nothing.
4. A claim that its study leaves open, although its difference exceeds {share:g} of the smallest one that the study could detect (with 80 % power), is
   asked once more, beside the baseline alone, with {steps:g} times the steps and fresh seeds, unless these steps are outside its source's range,
   where nothing could come of it. Nothing else is asked again by this rule. The first second looks had all arms of their studies, and were made
   outside of ranges, too.
5. A study outside its source's range decides nothing; the page says what the source predicts there, and what the study shows by itself stands
   in brackets. A range counts as met if it is missed by a factor of at most {tolerance}. What is said of a source
   from memory is shown and decides nothing. Ranges of 109 claims were entered or completed after most of the runs; where one changed an outcome,
   the claim's history says so.
6. Intervals of differences cover 95 %, each by itself and not all of a study together. With six seeds that of a single arm runs from the smallest
   seed to the largest. Where a difference is shown to be smaller than the margin, the interval of that test stands beside it. Per cents are of
   losses, with Fieller's kind of interval, in which the baseline is estimated, too; other metrics are compared in their own units, and shares of
   right answers also as the way from guessing to 1.
7. Studies of one contrast that differ in depth, width, steps or search may disagree by more than their intervals: of contrasts that were asked
   twice or more more than half change the sign of their mean, and they deviate by about the usual margin of 0.01 of loss. An outcome is that of
   the study in its row.
8. The history of a claim stays on the page: its first words, its first verdict, and every change. In it "contradicts" and "inconclusive" are
   the words of their time.
"""

AT_AN_END = ("\\* behind an outcome: the best learning rate of the arm or of its baseline was the largest or the smallest of those tried, so another might do better; "
             "the claim's page says which.")

MEANING = "\n".join(f"- **{word}**: {text}." for word, text in claims.OUTCOMES.items())


def rebased(text, up):
    """Links from docs, in which claims are written, as links from a folder below it."""
    return re.sub(r"\]\((?![a-z]+:|#)", f"]({up}", text)


def rules():
    found = files.catalogue()["rules"]
    again = found["second_look"]
    tolerance = ", ".join(f"{factor} for {regime.QUANTITIES[quantity]}" for quantity, factor in found["tolerance"].items() if factor != 1)
    return RULES.format(share=again["share_of_detectable"], steps=again["steps"], tolerance=tolerance)


def percent(value):
    return f"{value:+.2f} %" if abs(value) < 1 else f"{value:+.1f} %"


def interval_text(interval, written="{:+.3g}".format):
    """"+0.1 to +0.3" in brackets; nothing without an interval."""
    return f" ({written(interval[0])} to {written(interval[1])})" if interval else ""


def way_text(claim, baseline, arm):
    """Two shares of right answers as parts of the way from guessing to 1."""
    guess = claim.guess or 0
    return "; {:.0f} and {:.0f} % of the way from guessing to 1".format(*(100 * (share - guess) / (1 - guess) for share in (baseline, arm)))


def effect_text(claim, finding):
    """By how much the arm is better: losses in per cent, shares also as parts of the way from guessing."""
    if finding is None or not finding.effect:
        return ""
    mean, *interval = finding.effect
    if finding.metric in claims.LOSSES:
        return percent(mean) + interval_text(interval, lambda end: percent(end)[:-2])
    way = way_text(claim, finding.baseline["mean"], finding.arm["mean"]) if finding.metric in claims.SHARES else ""
    return f"{mean:+.3g} {claims.metric_text(finding.metric)}{interval_text(interval)}{way}"


def published_effect_text(claim):
    """The published effect in the units of effect_text."""
    figures = claim.published
    if not figures:
        return ""
    if claim.is_published_in_per_cent:
        return f"{percent(claim.published_effect)} of {figures['metric']}"
    is_share = any(word in figures["metric"].lower() for word in ("accuracy", "exact match"))
    return f"{claim.published_effect:+.3g} {figures['metric']}{way_text(claim, figures['baseline'], figures['arm']) if is_share else ''}"


def source_of(claim):
    return f"[{claim.source['text']}]({claim.source['url']})"


def arms_of(finding):
    return ((finding.baseline_name, finding.baseline), (finding.name, finding.arm))


def star(finding):
    """A star if a tuned value is at an end of the tried range."""
    return "\\*" * bool(finding and any(arm.get("at_edge") for _, arm in arms_of(finding)))


def outcome_text(claim, record, word):
    """The outcome of a look, with what the study shows by itself where that does not count."""
    finding = claim.finding(record)
    margin = f" (margin {claim.margin:g} {claims.metric_text(finding.metric)})" if word == claims.UNDECIDED else ""
    alone = f" ({claim.shown(finding)})" if word in (claims.OUTSIDE, claims.WITHDRAWN) else ""
    return word + margin + alone + star(finding)


def first_text(claim):
    return outcome_text(claim, claim.record, claim.first)


def second_text(claim):
    """The outcome of the second look; nothing if there was none."""
    return "" if claim.second == claims.NOT_RUN else outcome_text(claim, claim.again, claim.second)


def q_text(claim):
    """The q of the looks that decided something, as a sentence."""
    found = [f"{claim.q[look]:.3f} of the {look} look" for look in ("first", "second") if look in claim.q]
    return f"q: {', '.join(found)}." if found else ""


def count_text(finding, key):
    """The baseline's parameters or steps, and the arm's if they differ."""
    words = f"{finding.baseline[key]:,} {key}"
    if finding.arm[key] == finding.baseline[key]:
        return words
    if key == "steps" and finding.arm[key] == 0:
        return f"{words} (`{finding.name}` is an evaluation of the model that the baseline trained)"
    return f"{words} ({finding.arm[key]:,} for `{finding.name}`)"


def scale_of(finding):
    test_set = f" on {finding.arm['test_set']}" if finding.arm["test_set"] else ""
    return (f"{count_text(finding, 'parameters')}, {count_text(finding, 'steps')}, {len(finding.baseline['values'])} seeds, "
            f"{claims.metric_text(finding.metric)}{test_set}: {finding.baseline['mean']:.4g} ± {finding.baseline['deviation']:.2g} for the baseline, "
            f"{finding.arm['mean']:.4g} ± {finding.arm['deviation']:.2g} for `{finding.name}`")


def detectable_text(finding):
    """What the study could have seen, which its own few differences tell roughly."""
    detectable, seeds = finding.contrast.get("detectable"), len(finding.contrast["differences"])
    return f" About {detectable:.2g} could have been seen with 80 % power, as far as {seeds} differences tell their scatter." if detectable else ""


def signs_text(finding):
    """In how many pairs the arm is better, for arms of whose means nothing can be said."""
    differences = [difference * finding.sign for difference in finding.contrast["differences"]]
    better, worse = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    most, tested = max(better, worse), better + worse
    p = min(1.0, 2 * sum(math.comb(tested, k) for k in range(most, tested + 1)) / 2**tested)
    return (f" Some seeds of an arm broke off, so nothing is said of means: the arm is better in {better} of {len(differences)} pairs and worse in "
            f"{worse} (sign test: p {p:.2g}).")


def shown_text(finding):
    """The difference with its test, and with that of the margin where it is shown to be smaller."""
    contrast = finding.contrast
    if contrast["verdict"] == "unstable":
        return signs_text(finding)
    if contrast["verdict"] not in claims.TESTED:
        return ""
    test = contrast["difference"]
    said = f" Difference {contrast['mean']:+.3g}{interval_text(contrast['interval'])}, p {test['p']:.2g}, corrected in the study {test['adjusted_p']:.2g}."
    if contrast["verdict"] not in ("equivalent", "no_worse"):
        return said
    what = "a loss smaller than the margin" if contrast["verdict"] == "no_worse" else "a difference smaller than the margin"
    own = finding.equivalence
    own = f"; the 90 % interval of this test, corrected alike, is {interval_text(own)[2:-1]}" if own else "; its interval is not known"
    return f"{said} Corrected p of {what}: {contrast['within']['adjusted_p']:.2g}{own}."


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
    return (f"{what}: **{outcome_text(claim, record, word)}**. {scale_of(finding)}.{shown_text(finding)}{detectable_text(finding)} "
            f"In the words of its report: {' and '.join(finding.contrast[key].replace('_', ' ') for key in ('verdict', 'outcome'))}."
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
    return (f"Claim: `{claim.arm}` is **{claim.claim}**, margin {claim.margin:g} of {claims.metric_text(files.read_study(claim.study)['compare']['metric'])}. "
            f"{claim.margin_from}. Study [{claim.study}.yaml](../experiments/atlas/{claim.study}.yaml){f', task {claim.task}' if claim.task else ''}"
            f"{f', size {claim.size}' if claim.size else ''}.")


def numbers_text(claim):
    """Where all numbers of the study are."""
    if claim.record is None:
        return None
    again = f", of the second look in [{claim.study}.again.md](results/atlas/{claim.study}.again.md)" if claim.again else ""
    return f"All numbers of the study are in [{claim.study}.md](results/atlas/{claim.study}.md){again}."


def history_text(claim):
    """The first words and verdict, and every change."""
    lines, words = [], None
    for entry in files.history()[claim.id]:
        said = "" if entry["words"] == words else f' "{entry["words"]}"'
        lines.append(f"- {entry['date']}:{said} **{entry['verdict']}**. {entry['why']}")
        words = entry["words"]
    return "\n".join(["History, by the rules of the time:", "", *lines])


def ladders_text(claim):
    """What the claim's arm gains at several sizes, for each ladder that has it."""
    found = {study: sizes for study, sizes in ladder.read_ladders().items() if ladder.arm_of(claim, sizes)}
    return "\n\n".join(f"In [{study}](results/atlas/{study}.md), with {parameters_text(sizes)} parameters, better by: "
                       f"{ladder.sizes_text(claim.ladder or claim.id, sizes)}.{compute_text(claim, sizes)}" for study, sizes in found.items())


def parameters_text(sizes):
    return ", ".join(f"{rung['x']:,.0f}" for rung in sizes["rungs"])


def compute_text(claim, sizes):
    """The gains as factors of the baseline's compute."""
    times = [f"{factor:.2f}" for factor in ladder.compute(sizes, ladder.arm_of(claim, sizes)) if factor]
    return f" The baseline would need {', '.join(times)} times the compute for the same losses, by its own line between sizes." if times else ""


def hashes_text(claim):
    """What `git hash-object` says of the study and of its records."""
    paths = [files.HERE / f"{claim.study}.yaml", *(files.record_path(claim.study, again) for again in (False, True))]
    found = [(path.relative_to(files.ROOT), path.read_bytes()) for path in paths if path.exists()]
    hashes = [f"`{path}` `{hashlib.sha1(b'blob %d' % len(text) + bytes(1) + text).hexdigest()}`" for path, text in found]
    return f"By `git hash-object`: {', '.join(hashes)}."


def section(claim):
    """The claim's own page."""
    head = f"# {claim.says}\n\n[What to use](atlas/index.md) · [all claims](atlas/claims.md) · `{claim.id}`"
    finding = claim.finding(claim.record)
    paragraphs = [head, published_text(claim), claim_text(claim), outcome(claim, claim.record, claim.first, "Here") or "Not run by the present rule.",
                  outcome(claim, claim.again, claim.second, "Second look"), claim.withdrawn and f"Why it is withdrawn: {claim.withdrawn}", ladders_text(claim),
                  finding and files.catalogue()["studies"].get(claim.study), claim.note, regime.table(claim, finding), outside_text(claim),
                  claim.changes and f"What would change it: {claim.changes}", q_text(claim), numbers_text(claim), history_text(claim), hashes_text(claim)]
    return rebased("\n\n".join(filter(None, paragraphs)) + "\n", "../../")


def studies_text():
    """Where all numbers, seeds, machines and commands are."""
    names = [name + again * ".again" for name in files.studies() for again in (False, True) if claims.is_present(files.read_record(name, again))]
    return (f"Tables, seeds, machines and commands of the studies: {', '.join(f'[{name}](results/atlas/{name}.md)' for name in names)}. A program with "
            "`-dirty` was built from files that the commit beside it was made of afterwards.")


def text_of(found):
    """The page of the rules."""
    counts = collections.Counter(claim.first for claim in found)
    counted = ", ".join(f"{word} {counts[word]}" for word in claims.OUTCOMES if word in counts)
    parts = [INTRODUCTION, f"Outcomes of {len(found)} claims: {counted}.", MEANING, AT_AN_END, rules(),
             "## How to run it again", "`make atlas` lists the parts and what each takes; `make atlas PART=feed_forward DATA=DIR` runs one, with "
             "`multi30k/` and `tinyshakespeare/` below DIR, and takes its results over. With `AGAIN=1` it takes the second look "
             "that rule 4 asks for. An interrupted part resumes. Only its record in docs/results/atlas is kept of a run.",
             studies_text()]
    return rebased("\n\n".join(filter(None, (part.strip() for part in parts))) + "\n", "../")
