"""docs/atlas/rules.md, and a page for each claim in docs/atlas/claims, from the claims and the findings of their studies."""

import collections
import hashlib
import re
import statistics

import claims
import files
import measures
import regime


def rebased(text, up):
    """Links from docs, in which claims are written, as links from a folder below it."""
    return re.sub(r"\]\((?![a-z]+:|#)", f"]({up}", text)


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


def outcome_text(claim, record):
    """The outcome of a look, with what the study shows by itself where that does not count, and a star if a tuned value is at an end of the
    tried range; nothing if there was no look."""
    finding, word = claim.finding(record), claim.outcome(record)
    if finding is None:
        return word
    margin = f" (margin {claim.margin:g} {claims.metric_text(finding.metric)})" if word == claims.UNDECIDED else ""
    alone = f" ({claim.shown(finding)})" if word in (claims.OUTSIDE, claims.WITHDRAWN) else ""
    return word + margin + alone + "\\*" * any(arm.get("at_edge") for _, arm in arms_of(finding))


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
    return f"{count_text(finding, 'parameters')}, {count_text(finding, 'steps')}, {len(finding.baseline['values'])} seeds"


def scores_text(finding):
    test_set = f" on {finding.arm['test_set']}" if finding.arm["test_set"] else ""
    return (f"{claims.metric_text(finding.metric)}{test_set}: {finding.baseline['mean']:.4g} ± {finding.baseline['deviation']:.2g} for the baseline, "
            f"{finding.arm['mean']:.4g} ± {finding.arm['deviation']:.2g} for `{finding.name}`")


def equivalence_text(finding):
    """The interval of the test of the margin where that decided."""
    if finding.contrast["verdict"] not in ("equivalent", "no_worse") or not finding.equivalence:
        return ""
    return f" The 90 % interval of the test of the margin, corrected alike, is {interval_text(finding.equivalence)[2:-1]}."


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


def look_text(claim, record, what):
    """A paragraph on one record of the claim's study; nothing if there is none."""
    finding = claim.finding(record)
    if finding is None:
        return ""
    return (f"{what}: **{outcome_text(claim, record)}**. {scale_of(finding)}, {scores_text(finding)}. Its report says: {finding.contrast['sentence']}."
            f"{equivalence_text(finding)}{noise_text(finding)}{''.join(choices_text(*arm) for arm in arms_of(finding))} "
            f"Run at {commit_text(record)} by `{record['command']}`.")


def outside_text(claim):
    """Why the study is outside the source's regime, if it is known to be, and what the source predicts there."""
    finding = claim.finding(claim.record)
    reasons = regime.outside(claim, finding) if finding else [(claim.regime or {}).get("outside")]
    if not any(reasons):
        return ""
    return f"Outside the source's regime: {' '.join(reasons)} There the source predicts: {claim.predicts or 'nothing that we know of.'}"


def published_text(claim):
    """The source with its published pair, of which a baseline of 1 means a ratio."""
    figures, said = claim.published, ""
    if figures:
        pair = "{arm:g} times the baseline's" if figures["baseline"] == 1 else "{baseline:g} for the baseline, {arm:g} for the arm"
        said = f"{figures['metric']} {pair.format(**figures)}; "
    spread = f" Spread: {claim.spread}." if claim.spread else ""
    return f"{source_of(claim)}. Published: {said}{claim.where}.{spread} Source read: {claim.checked}."


def claim_text(claim):
    setting = "".join(f", {key} {value}" for key, value in (("task", claim.task), ("size", claim.size)) if value)
    return (f"Claim: `{claim.arm}` is **{claim.claim}**, margin {claim.margin:g} of {claims.metric_text(files.read_study(claim.study)['compare']['metric'])}. "
            f"{claim.margin_from}. Study [{claim.study}.yaml](../experiments/atlas/{claim.study}.yaml){setting}.")


def numbers_text(claim):
    """Where all numbers of the study are."""
    if claim.record is None:
        return ""
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


def ladder_text(study, sizes, arm):
    """What an arm gains at several sizes, and as factors of the baseline's compute."""
    parameters = ", ".join(f"{rung['x']:,.0f}" for rung in sizes["rungs"])
    times = ", ".join(f"{factor:.2f}" for factor in measures.compute(sizes, arm) if factor)
    compute = f" The baseline would need {times} times the compute for the same losses, by its own line between sizes." if times else ""
    return f"In [{study}](results/atlas/{study}.md), with {parameters} parameters, better by: {measures.sizes_text(sizes, arm)}.{compute}"


def hashes_text(claim):
    """What `git hash-object` says of the study and of its records."""
    paths = [files.HERE / f"{claim.study}.yaml", *(files.record_path(claim.study, again) for again in (False, True))]
    found = [(path.relative_to(files.ROOT), path.read_bytes()) for path in paths if path.exists()]
    hashes = [f"`{path}` `{hashlib.sha1(b'blob %d' % len(text) + bytes(1) + text).hexdigest()}`" for path, text in found]
    return f"By `git hash-object`: {', '.join(hashes)}."


def section(claim):
    """The claim's own page."""
    finding = claim.finding(claim.record)
    ladders = [ladder_text(study, sizes, arm) for study, sizes in measures.read_ladders().items() if (arm := measures.arm_of(claim, sizes))]
    paragraphs = [f"# {claim.says}", f"[What to use](atlas/index.md) · [all claims](atlas/claims.md) · `{claim.id}`", published_text(claim), claim_text(claim),
                  look_text(claim, claim.record, "Here") or "Not run yet.", look_text(claim, claim.again, "Second look"),
                  claim.withdrawn and f"Why it is withdrawn: {claim.withdrawn}", *ladders, finding and files.catalogue()["studies"].get(claim.study), claim.note,
                  regime.table(claim, finding), outside_text(claim), claim.changes and f"What would change it: {claim.changes}", q_text(claim),
                  numbers_text(claim), history_text(claim), hashes_text(claim)]
    return rebased("\n\n".join(filter(None, paragraphs)) + "\n", "../../")


def text_of(found):
    """The page of the rules."""
    rules, counts = files.catalogue()["rules"], collections.Counter(claim.first for claim in found)
    counted = ", ".join(f"{word} {counts[word]}" for word in claims.OUTCOMES if word in counts)
    tolerance = ", ".join(f"{factor} for {regime.QUANTITIES[quantity]}" for quantity, factor in rules["tolerance"].items() if factor != 1)
    return rebased(files.page("rules", claims=len(found), counts=counted, tolerance=tolerance, again=rules["second_look"],
                              studies=", ".join(f"[{name}](results/atlas/{name}.md)" for name in files.records())), "../")
