"""docs/atlas/rules.md, and a page for each claim in docs/atlas/claims, from the claims and their looks."""

import collections
import hashlib
import re
import statistics

import claims
import files
import measures

ALWAYS = {"tokens_per_parameter": "different tokens a parameter", "epochs": "epochs", "parameters_matched": "equal sizes", "rates_tuned": "rates tuned"}
QUANTITIES = {"parameters": "parameters", "depth": "layers", "width": "width", "length": "tokens of the longest text"} | ALWAYS  # of a regime
SIZE_TOLERANCE = 0.02  # models whose parameters differ by less are of one size


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


def effect_text(look):
    """By how much the arm is better: losses in per cent, shares also as parts of the way from guessing."""
    if look is None or not look.effect:
        return ""
    mean, *interval = look.effect
    if look.metric in claims.LOSSES:
        return percent(mean) + interval_text(interval, lambda end: percent(end)[:-2])
    way = way_text(look.claim, look.baseline["mean"], look.arm["mean"]) if look.metric in claims.SHARES else ""
    return f"{mean:+.3g} {claims.metric_text(look.metric)}{interval_text(interval)}{way}"


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


def outcome_text(look):
    """The outcome of a look, with what the study shows by itself where that does not count, and a star if a tuned value is at an end of the
    tried range."""
    if look is None:
        return claims.NOT_RUN
    margin = f" (margin {look.claim.margin:g} {claims.metric_text(look.metric)})" if look.outcome == claims.UNDECIDED else ""
    alone = f" ({look.shown})" if look.outcome in (claims.OUTSIDE, claims.WITHDRAWN) else ""
    return look.outcome + margin + alone + "\\*" * any(arm.get("at_edge") for arm in look.arms.values())


def count_text(look, key):
    """The baseline's parameters or steps, and the arm's if they differ."""
    words, own, name = f"{look.baseline[key]:,} {key}", look.arm[key], look.claim.arm
    if own == look.baseline[key]:
        return words
    if key == "steps" and own == 0:
        return f"{words} (`{name}` is an evaluation of the model that the baseline trained)"
    return f"{words} ({own:,} for `{name}`)"


def scale_of(look):
    return f"{count_text(look, 'parameters')}, {count_text(look, 'steps')}, {len(look.baseline['values'])} seeds"


def scores_text(look):
    test_set = f" on {look.arm['test_set']}" if look.arm["test_set"] else ""
    of_baseline, of_arm = (f"{arm['mean']:.4g} ± {arm['deviation']:.2g}" for arm in (look.baseline, look.arm))
    return f"{claims.metric_text(look.metric)}{test_set}: {of_baseline} for the baseline, {of_arm} for `{look.claim.arm}`"


def choices_text(name, arm):
    """The arm's tuned values, and which of them are at an end of the tried range."""
    other = {"largest": "larger", "smallest": "smaller"}
    chosen = ", ".join(f"`{key}` {value}" for key, value in arm.get("chosen", {}).items())
    ends = "".join(f" {arm['chosen'][key]} was the {end} tried, so a {other[end]} one might do better." for key, end in arm.get("at_edge", {}).items())
    return f" Chosen for `{name}`: {chosen}.{ends}" if chosen else ""


def noise_text(look):
    """The gradient noise of both arms, if their runs observed it."""
    noise = [f"{statistics.median(arm['gradient_noise']):,.0f} target tokens for `{name}`" for name, arm in look.arms.items() if "gradient_noise" in arm]
    return f" Gradient noise at the end, the median over seeds: {', '.join(noise)}." if noise else ""


def commit_text(record):
    """The commit of the study, and the program's own if it names another one."""
    program = record.get("program", record["commit"])
    return record["commit"] if record["commit"].startswith(program) else f"{record['commit']}, program {program},"


def look_text(look, what):
    """A paragraph on a look; None if there is none."""
    if look is None:
        return None
    chosen = "".join(choices_text(*arm) for arm in look.arms.items())
    within = f" The 90 % interval of the test of the margin, corrected alike, is {interval_text(look.equivalence)[2:-1]}." if look.equivalence else ""
    return (f"{what}: **{outcome_text(look)}**. {scale_of(look)}, {scores_text(look)}. Its report says: {look.contrast['sentence']}."
            f"{within}{noise_text(look)}{chosen} Run at {commit_text(look.record)} by `{look.record['command']}`.")


def pair_text(claim):
    """The published pair, of which a baseline of 1 means a ratio."""
    if not claim.published:
        return ""
    pair = "{arm:g} times the baseline's" if claim.published["baseline"] == 1 else "{baseline:g} for the baseline, {arm:g} for the arm"
    return f"{claim.published['metric']} {pair.format(**claim.published)}; "


def history_text(claim):
    """The first words and verdict, and every change."""
    said = ((entry, f' "{entry["words"]}"' if "words" in entry else "") for entry in files.history()[claim.id])
    return "\n".join(f"- {entry['date']}:{words} **{entry['verdict']}**. {entry['why']}" for entry, words in said)


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
    return ", ".join(f"`{path}` `{hashlib.sha1(b'blob %d' % len(text) + bytes(1) + text).hexdigest()}`" for path, text in found)


def numbers_text(claim):
    """The pages with all numbers of the study."""
    paths = [f"[{path.stem}.md](results/atlas/{path.stem}.md)" for again in (False, True) if (path := files.record_path(claim.study, again)).exists()]
    return ", of the second look in ".join(paths) or None


def in_words(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " to ".join(dict.fromkeys(f"{end:.3g}" for end in value)) if value else "unknown"


def regime_text(claim):
    """The values of the first look beside the range of the source; without a look only the source's."""
    source, look = claim.regime or {}, claim.looks[0]
    words = {quantity: word for quantity, word in QUANTITIES.items() if quantity in source or look and quantity in ALWAYS}
    of_source = {quantity: in_words(source.get(quantity)) + ", from memory" * (quantity in source.get("from_memory", [])) for quantity in words}
    if look is None:
        return f"The source's regime: {'; '.join(f'{word} {of_source[quantity]}' for quantity, word in words.items()) or 'unknown'}."
    tuned = "training.schedule.peak" in files.read_study(claim.study).get("tune", {}).get("keys", {})
    matched = abs(look.arm["parameters"] / look.baseline["parameters"] - 1) <= SIZE_TOLERANCE
    here = look.baseline.get("regime", {}) | {"parameters_matched": matched, "rates_tuned": tuned}
    values = (f"{word} {in_words(here.get(quantity))} ({of_source[quantity]})" for quantity, word in words.items())
    return f"Regime{' after result' * source.get('after_result', False)}, here (in the source): {'; '.join(values)}."


def section(claim):
    """The claim's own page."""
    first, second = claim.looks
    setting = "".join(f", {key} {value}" for key, value in (("task", claim.task), ("size", claim.size)) if value)
    text = files.page(
        "claim", claim=claim, source=source_of(claim), published=pair_text(claim), spread=f" Spread: {claim.spread}." if claim.spread else "",
        metric=claims.metric_text(files.read_study(claim.study)["compare"]["metric"]), setting=setting, first=look_text(first, "Here") or "Not run yet.",
        second=look_text(second, "Second look"), ladders="\n\n".join(ladder_text(*one) for one in measures.ladders_of(claim)) or None,
        of_study=first and files.catalogue()["studies"].get(claim.study), regime=regime_text(claim), outside=" ".join((first or claim).outside) or None,
        predicts=claim.predicts or "nothing that we know of.", numbers=numbers_text(claim), history=history_text(claim), hashes=hashes_text(claim),
        q=", ".join(f"{look.q:.3f} of the {name} look" for name, look in zip(("first", "second"), claim.looks) if look and look.q is not None) or None)
    return rebased(text, "../../")


def text_of(found):
    """The page of the rules."""
    counts = collections.Counter(claim.first for claim in found)
    counted = ", ".join(f"{word} {counts[word]}" for word in claims.OUTCOMES if word in counts)
    linked = ", ".join(f"[{name}](results/atlas/{name}.md)" for name in files.records())
    late = sum("after_result" in (claim.regime or {}) for claim in found)
    return rebased(files.page("rules", claims=len(found), counts=counted, late=late, studies=linked), "../")
