"""docs/atlas.md, from the claims and what their studies found."""

import claims
import picture

INTRODUCTION = """# An atlas of claims

What papers say of the parts of the Transformer, asked again on a laptop: each row is a published statement, the study that tests it
here, and the verdict. A model of 0.1 million parameters is not one of 200 million. A verdict says what holds at the scale of its
study, not whether the paper is right at its own.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas and experiments/atlas/claims.yaml. -->

Every study states what it expects before it is run, and its results stand here as they came out. Arms are compared seed by seed, by
the tests of [statistics.md](statistics.md), corrected for all comparisons of the study's task; equality is claimed only where two
one-sided tests show that the difference is smaller than the study's margin. Effects are per cent of the baseline's mean by which the
arm is better, with a 95 % interval; published ones are computed likewise from the two figures that the paper gives, if it gives two.
"""

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


def table_row(claim):
    link = f"[{claim.claim}](#{claim.id})"
    found = claim.finding(claim.record)
    published = "" if claim.published_effect is None else percent(claim.published_effect)
    again = claim.verdict(claim.again) if claim.again else ""
    return f"| {link} | {claim.verdict(claim.record)} | {effect_text(found)} | {again} | {published} | {source_of(claim)} |"


def table(found):
    """All claims, sorted by verdict."""
    order = list(claims.VERDICTS)
    rows = sorted(found, key=lambda claim: order.index(claim.verdict(claim.record)))
    head = ["| claim | verdict | effect here | at three times the steps | published effect | source |", "|---|---|---|---|---|---|"]
    return "\n".join(head + [table_row(claim) for claim in rows])


def scale_of(record, finding):
    test_set = f" on {finding.arm['test_set']}" if finding.arm["test_set"] else ""
    return (f"{finding.baseline['parameters']:,} parameters, {record['steps']:,} steps, {len(finding.baseline['values'])} seeds, "
            f"{finding.metric}{test_set}: {finding.baseline['mean']:.4g} ± {finding.baseline['deviation']:.2g} for the baseline, "
            f"{finding.arm['mean']:.4g} ± {finding.arm['deviation']:.2g} for `{finding.name}`")


def outcome(claim, record, what):
    finding = claim.finding(record)
    return f"{what}: **{claim.verdict(record)}**. {scale_of(record, finding)}. The report says: {finding.contrast['sentence']}."


def section(claim):
    """The claim's own paragraph."""
    scale = f"Published: {claim.where}"
    if claim.published:
        scale += f"; {claim.published['metric']} {claim.published['baseline']:g} for the baseline, {claim.published['arm']:g} for the arm"
    lines = [f'<a id="{claim.id}"></a>', f"### {claim.claim}", "", f"{source_of(claim)}. {scale}.", ""]
    if claim.record is None:
        return "\n".join([*lines, f"Not run yet: [{claim.study}.yaml](../experiments/atlas/{claim.study}.yaml)."])
    lines.append(outcome(claim, claim.record, "Here"))
    if claim.again:
        lines.append(outcome(claim, claim.again, "At three times the steps"))
    lines += [f"Tried before: {claim.tried}" if claim.tried else "",
              f"What would change it: {claim.changes}" if claim.changes else "", "",
              f"Study [{claim.study}.yaml](../experiments/atlas/{claim.study}.yaml), all its numbers in "
              f"[{claim.study}.md](results/atlas/{claim.study}.md)."]
    return "\n".join(lines)


def study_row(name, record):
    kept = sum(one["holds"] for one in record["expectations"])
    return (f"| [{name}](results/atlas/{name}.md) | {len(record['seeds'])} | {kept} of {len(record['expectations'])} | "
            f"{record['core_minutes']:g} | {record['processor']}, {record['instructions']} | {record['commit']} | `{record['command']}` |")


def study_table():
    records = [(name, claims.read_record(name)) for name in claims.studies()]
    head = ["| study | seeds | expectations that hold | core minutes | machine | commit | command |", "|---|---|---|---|---|---|---|"]
    return "\n".join(head + [study_row(name, record) for name, record in records if record])


def counts(found):
    words = [claim.verdict(claim.record) for claim in found]
    return ", ".join(f"{words.count(word)} {word}" for word in claims.VERDICTS if word in words)


def text_of(found):
    """The whole page."""
    parts = [INTRODUCTION, f"Of {len(found)} claims: {counts(found)}.", MEANING, f"![{picture.TITLE}](atlas.svg)", table(found),
             "## How to run it again", "`make atlas` lists the parts and what each takes; `make atlas PART=feed_forward DATA=DIR` runs one, with "
             "`multi30k/` and `tinyshakespeare/` below DIR, and writes this page. A part that was cut off goes on.",
             study_table(), "## The claims one by one", *(section(claim) for claim in found)]
    return "\n\n".join(part.strip() for part in parts) + "\n"
