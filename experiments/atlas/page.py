"""docs/atlas.md, from the claims and the findings of their studies."""

import claims
import picture

INTRODUCTION = """# An atlas of claims

What papers say of the parts of the Transformer, asked again on a laptop: each row is a published statement, the study that tests it
here, and the verdict. A model of 0.1 million parameters is not one of 200 million. A verdict says what holds at the scale of its
study, not whether the paper is right at its own.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas and experiments/atlas/claims.yaml. -->

**Many of these verdicts are contested** and will be decided anew. A review recomputed every figure and found no mismatch, but not every verdict
follows from its figures. A dagger (†) marks the verdicts that it contests one by one; the claim's paragraph says why. What it found besides:

- "Reversed" means less than it says: here, any significant difference where the paper published equality counts as reversed, even one that is
  smaller than the study's own margin, and even one in the arm's favour. None of the claims called reversed can stand as worded.
- The studies feed_forward, attention, norms, tying, sharing, mixtures, positions and fill_in train every arm at a learning rate of 4e-3, a third of
  the best one known for this model. That costs 0.05 nats, more than most of the effects that they measure.
- The studies of language test on the text that also serves for validation. Where a study chooses rates (optimizers, batch), it chooses them
  on that text.
- The per-cent intervals take the baseline's mean as exact, so the largest effects are less certain than printed, by up to four times. Intervals are
  Student's and verdicts those of an exact test, so the two can disagree: an interval without zero may stand beside "not distinguishable".
- Two comparisons with equal effects can have different verdicts, since the number of other arms in a study decides how much evidence each needs. With
  six seeds and one comparison, 2/64 is the only p value that can be claimed.
- Looks at three times the steps were chosen without a rule stated beforehand, and their p values are not corrected for being second ones.
- Per cents of loss, of accuracy and of BLEU stand side by side in the picture, though they have no common scale, and published figures
  stand without their own spread.

Every study states what it expects before it is run. Five studies were redesigned after a first result (recall and induction, parity,
reversed_addition, fill_in, randomized_positions), each time towards the published claim; "Tried before" tells what had been found. Two arms were
run without an expectation, the quarter rotary and the T5 positions of copy_length, and for recall's delta rule none was stated beside attention.

Arms are compared seed by seed, by the tests of [statistics.md](statistics.md), corrected for all comparisons of the study's task. Equality is claimed
only if two one-sided tests show that the difference is smaller than the study's margin. It then decides the verdict, even if a difference
within the margin is significant, too; if equality is not shown, a significant difference decides, however small. Effects are per
cent of the baseline's mean by which the arm is better, with a 95 % interval; published ones are computed likewise from the two figures
that the paper gives, if it gives two.
"""

AT_AN_END = ("\\* The best learning rate of the arm or of its baseline was the largest or the smallest of those tried, so another might do better; "
             "the claim's paragraph says which.")

CORE_MINUTES = ("Core minutes are what training took by the clock, times its threads. They count too much where a study shared its cores with other "
                "work, most of all randomized_positions and sharing with three times the steps.")

METRICS = {"bleu": "BLEU"}  # the others are words

MEANING = "\n".join(f"- **{word}**: {text}." for word, text in claims.VERDICTS.items())


def percent(value):
    return f"{value:+.2f} %" if abs(value) < 1 else f"{value:+.1f} %"


def effect_text(finding):
    if finding is None:
        return ""
    mean, *interval = finding.effect
    low, high = sorted(interval) if interval else (mean, mean)
    return percent(mean) + (f" ({percent(low)[:-2]} to {percent(high)[:-2]})" if interval else "")


def source_of(claim):
    return f"[{claim.source['text']}]({claim.source['url']})"


def arms_of(finding):
    return ((finding.baseline_name, finding.baseline), (finding.name, finding.arm))


def verdict_text(claim):
    """The verdict, with a star if a tuned rate is at an end of the tried range, and a dagger if it is contested."""
    finding = claim.finding(claim.record)
    starred = finding and any("best_was" in arm for _, arm in arms_of(finding))
    return claim.verdict(claim.record) + "\\*" * bool(starred) + "†" * bool(claim.contested)


def table_row(claim):
    link = f"[{claim.claim}](#{claim.id})"
    found = claim.finding(claim.record)
    published = "" if claim.published_effect is None else percent(claim.published_effect)
    again = claim.verdict(claim.again) if claim.again else ""
    return f"| {link} | {verdict_text(claim)} | {effect_text(found)} | {again} | {published} | {source_of(claim)} |"


def table(found):
    """All claims, sorted by verdict."""
    order = list(claims.VERDICTS)
    rows = sorted(found, key=lambda claim: order.index(claim.verdict(claim.record)))
    head = ["| claim | verdict | effect here | at three times the steps | published effect | source |", "|---|---|---|---|---|---|"]
    return "\n".join(head + [table_row(claim) for claim in rows])


def count_text(finding, key):
    """The baseline's parameters or steps, and the arm's if they differ."""
    words = f"{finding.baseline[key]:,} {key}"
    if finding.arm[key] == finding.baseline[key]:
        return words
    if key == "steps" and finding.arm[key] == 0:
        return f"{words} (`{finding.name}` is an evaluation of the model that the baseline trained)"
    return f"{words} ({finding.arm[key]:,} for `{finding.name}`)"


def scale_of(record, finding):
    metric = METRICS.get(finding.metric, finding.metric.replace("_", " "))
    test_set = f" on {finding.arm['test_set']}" if finding.arm["test_set"] else ""
    return (f"{count_text(finding, 'parameters')}, {count_text(finding, 'steps')}, {len(finding.baseline['values'])} seeds, "
            f"{metric}{test_set}: {finding.baseline['mean']:.4g} ± {finding.baseline['deviation']:.2g} for the baseline, "
            f"{finding.arm['mean']:.4g} ± {finding.arm['deviation']:.2g} for `{finding.name}`")


def end_text(study, name, arm):
    """A warning if the arm's tuned value is at an end of the tried range."""
    if "best_was" not in arm:
        return ""
    direction = {"largest": "larger", "smallest": "smaller"}[arm["best_was"]]
    return f" The best `{claims.read_study(study)['tune']['key']}` of `{name}` was the {arm['best_was']} tried, so a {direction} one might do better."


def expected_text(claim, record):
    expected = [f"`{one['text']}` {'holds' if one['holds'] else 'does not hold'} ({one['numbers']})" for one in claim.expectations(record)]
    return f"The study expected: {'; '.join(expected)}." if expected else "The study stated no expectation of this arm."


def outcome(claim, record, what):
    """A paragraph on one record of the claim's study."""
    finding = claim.finding(record)
    ends = "".join(end_text(claim.study, name, arm) for name, arm in arms_of(finding))
    return (f"{what}: **{claim.verdict(record)}**. {scale_of(record, finding)}. The report says: {finding.contrast['sentence']}.{ends} "
            f"{expected_text(claim, record)} Run at {record['commit']} by `{record['command']}`.")


def published_text(claim):
    return f"{source_of(claim)}. Published: {figures_text(claim.published)}{claim.where}."


def figures_text(figures):
    """The published pair; a baseline of 1 means a ratio."""
    if not figures:
        return ""
    if figures["baseline"] == 1:
        return f"{figures['metric']} {figures['arm']:g} times the baseline's; "
    return f"{figures['metric']} {figures['baseline']:g} for the baseline, {figures['arm']:g} for the arm; "


def files_of(claim):
    """The study's data and where its numbers are."""
    task = claim.finding(claim.record).task
    again = f", with three times the steps in [{claim.study}.again.md](results/atlas/{claim.study}.again.md)" if claim.again else ""
    return (f"Data: {claims.data_of(claims.read_study(claim.study), task)}. Study [{claim.study}.yaml](../experiments/atlas/{claim.study}.yaml), "
            f"task {task}; all its numbers are in [{claim.study}.md](results/atlas/{claim.study}.md){again}.")


def section(claim):
    """The claim's own paragraphs."""
    head = f'<a id="{claim.id}"></a>\n### {claim.claim}'
    if claim.record is None:
        return "\n\n".join([head, published_text(claim), f"Not run yet: [{claim.study}.yaml](../experiments/atlas/{claim.study}.yaml)."])
    paragraphs = [head, published_text(claim), outcome(claim, claim.record, "Here"),
                  claim.again and outcome(claim, claim.again, "At three times the steps"),
                  claim.contested and f"Contested: {claim.contested}", claim.since and f"Changed since: {claim.since}",
                  claim.tried and f"Tried before: {claim.tried}", claim.changes and f"What would change it: {claim.changes}", files_of(claim)]
    return "\n\n".join(filter(None, paragraphs))


def study_row(name, again):
    record = claims.read_record(name, again)
    kept = sum(one["holds"] for one in record["expectations"])
    link = f"[{name}, three times the steps](results/atlas/{name}.again.md)" if again else f"[{name}](results/atlas/{name}.md)"
    return (f"| {link} | {len(record['seeds'])} | {kept} of {len(record['expectations'])} | "
            f"{record['core_minutes']:g} | {record['processor']}, {record['instructions']} | {record['commit']} | `{record['command']}` |")


def study_table():
    head = ["| study | seeds | expectations that hold | core minutes | machine | commit | command |", "|---|---|---|---|---|---|---|"]
    rows = [study_row(name, again) for name in claims.studies() for again in (False, True) if claims.read_record(name, again)]
    return "\n".join(head + rows)


def counts(found):
    words = [claim.verdict(claim.record) for claim in found]
    return ", ".join(f"{words.count(word)} {word}" for word in claims.VERDICTS if word in words)


def contested_text(found):
    """Which verdicts are contested, by name."""
    contested = [claim for claim in found if claim.contested]
    return f"Contested one by one: {len(contested)} ({', '.join(f'[{claim.id}](#{claim.id})' for claim in contested)})."


def text_of(found):
    """The whole page."""
    parts = [INTRODUCTION, f"Of {len(found)} claims: {counts(found)}.", contested_text(found), MEANING, f"![{picture.TITLE}](atlas.svg)", table(found), AT_AN_END,
             "## How to run it again", "`make atlas` lists the parts and what each takes; `make atlas PART=feed_forward DATA=DIR` runs one, with "
             "`multi30k/` and `tinyshakespeare/` below DIR, and writes this page. With `AGAIN=1` it trains three times as long, with all else "
             "as it is, as `python3 experiments/atlas/atlas.py run feed_forward --again --data DIR` does. An interrupted part resumes.",
             study_table(), CORE_MINUTES, "## The claims one by one", *(section(claim) for claim in found)]
    return "\n\n".join(part.strip() for part in parts) + "\n"
