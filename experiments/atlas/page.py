"""A page for each claim, with a card for docs/atlas/claims.md and docs/frontier.md, one for each record, and the page of the rules."""

import collections
import hashlib
import re
import statistics

import claims
import files
import measures

ALWAYS = {"tokens_per_parameter": "different tokens a parameter", "epochs": "epochs", "parameters_matched": "equal sizes", "rates_tuned": "rates tuned"}
QUANTITIES = {"parameters": "parameters", "depth": "layers", "width": "width", "length": "tokens of the longest sequence"} | ALWAYS  # of a regime
READ = {"abstract": "its abstract", "figures": "its figures", "notes": "what others say of it"}


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
    """By how much the arm is better, with a 95 % interval: losses in per cent of the baseline's mean, shares also as parts of the way from guessing."""
    if look.metric in claims.LOSSES and not look.contrast.get("relative"):
        return "not measured"
    if look.metric in claims.LOSSES:
        mean, *interval = claims.gain_of(look.contrast["relative"], 100 * look.sign)
        return percent(mean) + interval_text(interval, lambda end: percent(end)[:-2])
    mean, *interval = claims.gain_of(look.contrast, look.sign)
    way = way_text(look.claim, look.baseline["mean"], look.arm["mean"]) if look.metric in claims.SHARES else ""
    return f"{mean:+.3g} {claims.metric_text(look.metric)}{interval_text(interval)}{way}"


def published_effect_text(claim):
    """The published effect in the units of effect_text; per cent also of a ratio, whose baseline is 1."""
    if not claim.published:
        return "no figures"
    metric, baseline, arm = (claim.published[key] for key in ("metric", "baseline", "arm"))
    gain = arm - baseline if claim.published["better"] == "higher" else baseline - arm
    if baseline == 1 or any(word in metric.lower() for word in ("loss", "perplexity")):
        return f"{percent(100 * gain / abs(baseline))} of {metric}"
    way = way_text(claim, baseline, arm) if any(word in metric.lower() for word in ("accuracy", "exact match")) else ""
    return f"{gain:+.3g} {metric}{way}"


def outcome_text(look):
    """The outcome, with what the study shows by itself where that does not count, and a star if a tuned value is at an end of the tried range."""
    if look is None:
        return claims.NOT_RUN
    margin = f" (margin {look.claim.margin:g} {claims.metric_text(look.metric)})" if look.outcome == claims.UNDECIDED else ""
    alone = f" ({look.shown})" if look.outcome in (claims.OUTSIDE, claims.WITHDRAWN) else ""
    return look.outcome + margin + alone + "\\*" * any(arm.get("at_edge") for arm in look.arms.values())


def scale_of(look):
    """The baseline's parameters and steps, the arm's where they differ, and the number of seeds."""
    words = []
    for key in ("parameters", "steps"):
        usual, own, arm = look.baseline[key], look.arm[key], f"`{look.claim.arm}`"
        evaluated = f" ({arm} is an evaluation of the model that the baseline trained)" if key == "steps" and own == 0 else f" ({own:,} for {arm})"
        words.append(f"{usual:,} {key}{evaluated if own != usual else ''}")
    return ", ".join([*words, f"{len(look.baseline['values'])} seeds"])


def choices_text(name, arm):
    """The arm's tuned values, and which of them are at an end of the tried range."""
    other, chosen = {"largest": "larger", "smallest": "smaller"}, arm["chosen"]
    ends = [f"{chosen[key]} was the {end} tried, so a {other[end]} one might do better." for key, end in arm["at_edge"].items()]
    return " ".join([f"Chosen for `{name}`: {', '.join(f'`{key}` {value}' for key, value in chosen.items())}.", *ends])


def commit_text(record):
    """The commit of the study, and the program's own if it names another one."""
    program = ", ".join(record["provenance"]["commits"])
    return record["commit"] if record["commit"].startswith(program) else f"{record['commit']}, program {program},"


def look_text(look, what):
    """A paragraph on a look; None if there is none."""
    if look is None:
        return None
    test_set = f" on {look.arm['test_set']}" if look.arm["test_set"] else ""
    of_baseline, of_arm = (f"{arm['mean']:.4g} ± {arm['deviation']:.2g}" for arm in (look.baseline, look.arm))
    within = look.contrast.get("within_interval") if look.contrast["verdict"] in claims.WITHIN else None
    noise = [f"{statistics.median(arm['gradient_noise']):,.0f} target tokens for `{name}`" for name, arm in look.arms.items() if "gradient_noise" in arm]
    return files.page(
        "look", look=look, what=what, outcome=outcome_text(look), scale=scale_of(look), noise=", ".join(noise) or None, commit=commit_text(look.record),
        scores=f"{claims.metric_text(look.metric)}{test_set}: {of_baseline} for the baseline, {of_arm} for `{look.claim.arm}`",
        within=interval_text(within)[2:-1] or None,
        chosen="\n".join(choices_text(name, arm) for name, arm in look.arms.items() if arm.get("chosen")) or None).rstrip()


def pair_text(claim):
    """The published pair, of which a baseline of 1 means a ratio."""
    if not claim.published:
        return ""
    pair = "{arm:g} times the baseline's" if claim.published["baseline"] == 1 else "{baseline:g} for the baseline, {arm:g} for the arm"
    return f"{claim.published['metric']} {pair.format(**claim.published)}; "


def ladder_text(study, sizes, arm):
    """What an arm gains at several sizes, and as factors of the baseline's compute."""
    parameters = ", ".join(f"{rung['x']:,.0f}" for rung in sizes["rungs"])
    times = ", ".join(f"{factor:.2f}" for factor in measures.compute(arm) if factor)
    law = "line between sizes" if "worth" in arm else "power law"
    compute = f" The baseline would need {times} times the compute for the same losses, by its own {law}." if times else ""
    return f"In [{study}](results/atlas/{study}.md), with {parameters} parameters, better by: {measures.sizes_text(sizes, arm)}.{compute}"


def hashes_text(claim):
    """What `git hash-object` says of the study and of its records."""
    paths = [files.HERE / f"{claim.study}.yaml", *(files.RESULTS / f"{name}.json" for name in claim.names)]
    found = [(path.relative_to(files.ROOT), path.read_bytes()) for path in paths if path.exists()]
    return ", ".join(f"`{path}` `{hashlib.sha1(b'blob %d' % len(text) + bytes(1) + text).hexdigest()}`" for path, text in found)


def in_words(value):
    if isinstance(value, bool | None):
        return {True: "yes", False: "no", None: "unknown"}[value]
    low, high = (f"{end:.3g}" for end in value)
    return low if low == high else f"at most {high}" if value[0] <= 0.001 else f"{low} to {high}"


def regime_text(claim):
    """The values of the first look beside the range of the source; sizes that differ by 2 % at most are equal."""
    source, look, here = claim.regime, claim.looks[0], {}
    if look:
        tuned = "training.schedule.peak" in files.read_study(claim.study).get("tune", {}).get("keys", {})
        matched = abs(look.arm["parameters"] / look.baseline["parameters"] - 1) <= 0.02
        here = look.baseline.get("regime", {}) | {"parameters_matched": matched, "rates_tuned": tuned}
    words = [f"{word} {in_words(here.get(quantity))} ({in_words(source.get(quantity))}{', from memory' * (quantity in source.get('from_memory', []))})"
             for quantity, word in QUANTITIES.items() if quantity in source or quantity in ALWAYS]
    return f"Regime{' after result' * claim.after_result}, here (in the source): {'; '.join(words)}."


def section(claim):
    """The claim's own page."""
    first, second = claim.looks
    linked = ", of the second look in ".join(f"[{name}.md](results/atlas/{name}.md)" for name in claim.names if name in files.records())
    q = ", ".join(f"{look.q:.3f} of the {name} look" for name, look in zip(("first", "second"), claim.looks) if look and look.q is not None)
    history = [f"- {one['date']}:" + (f' "{one["words"]}"' if "words" in one else "") + f" **{one['verdict']}**. {one['why']}"
               for one in files.history()[claim.id]]
    return rebased(files.page(
        "claim", claim=claim, published=pair_text(claim), metric=claims.metric_text(files.read_study(claim.study)["compare"]["metric"]),
        setting="".join(f", {key} {value}" for key, value in (("task", claim.task), ("size", claim.size)) if value),
        first=look_text(first, "Here") or "Not run yet.", second=look_text(second, "Second look"), q=q or None, numbers=linked or None,
        ladders="\n\n".join(ladder_text(*one) for one in measures.ladders_of(claim)) or None,
        of_study=first and files.catalogue()["studies"].get(claim.study), regime=regime_text(claim), hashes=hashes_text(claim),
        outside=" ".join((first or claim).outside) or None, predicts=claim.predicts or "nothing that we know of.",
        history="\n".join(history)), "../../")


def facts_of(claim):
    """What a card can be filtered by."""
    look, time = claim.looks[0], measures.time_of([claim])
    parameters = look.baseline["parameters"] if look else 0
    return {"size": "below 45,000 parameters" if parameters < 45e3 else "to 150,000" if parameters < 150e3 else "above 150,000",
            "of": "text" if look and look.metric in claims.LOSSES else "translation" if look and look.metric == "bleu" else "task",
            "time": "not measured" if time is None else "at most 1.1 of the baseline's" if time <= 1.1 else "more than 1.1",
            "asked": "more than once" if len(measures.measures_of(claim)) > 1 else "once", "read": READ[claim.read], "outcome": claim.first}


def sure_share(claim):
    """The end next to zero of the interval of the claim's effect, as a share of the baseline's score."""
    look, gains = claim.looks[0], measures.measures_of(claim)
    return max(gains[0].low, -gains[0].high, 0) / max(abs(look.baseline["mean"]), 0.1) if look and gains else 0


def card(claim):
    first, second = claim.looks
    data = " ".join(f'data-{key}="{value}"' for key, value in facts_of(claim).items())
    gains = measures.measures_of(claim)
    text = files.page(
        "card", claim=claim, published=published_effect_text(claim),
        here=f"{effect_text(first)}; {scale_of(first)}" if first else "not measured", outcome=outcome_text(first),
        gains=f"{measures.picture(gains)} {', '.join(one.sized for one in gains)}" if gains else None,
        again=f"; second look: {outcome_text(second)}" if second else "", cost=measures.cost_text(claim)).replace("\n", "  \n")
    return f'<div class="card" {data} markdown>\n\n{text}\n</div>'


def cards(found):
    """docs/atlas/claims.md, which a script can filter."""
    return files.page("claims", count=len(found), cards="\n\n".join(map(card, sorted(found, key=sure_share, reverse=True))))


def frontier(found):
    """docs/frontier.md: the cards of the claims on parts of this year's models, with what each costs."""
    shown = [rebased(card(claim), "atlas/") for claim in found if claim.part]
    ladders = [f"- [{study}](results/atlas/{study}.md): {files.read_study(study)['question']}" for study in measures.LADDERS]
    return files.page("frontier", cards="\n\n".join(shown), ladders="\n".join(ladders), cpu=measures.COSTS, gpu=measures.COSTS_GPU)


def contrast_cells(arm):
    """Difference, p, claim and words of an arm; of the baseline that it is one."""
    contrast = arm.get("contrast")
    if not contrast:
        return ["baseline", "", "", "", ""]
    claim = f"{contrast.get('claim', '')} {contrast.get('margin', '')}".strip()
    words = " and ".join(filter(None, (contrast["verdict"], contrast.get("outcome")))).replace("_", " ")
    difference = f"{contrast['mean']:+.3g}{interval_text(contrast.get('interval'))}"
    return [difference, *(f"{float(contrast['difference'][key]):.2g}" for key in ("p", "adjusted_p")), claim, words]


def task_text(record, name):
    task = record["tasks"][name]
    metric = claims.metric_text(task["metric"])
    test_set = next(iter(task["arms"].values()))["test_set"]
    head = ["arm", "parameters", "steps", f"mean ± deviation of {metric}", "difference, 95 % interval", "p", "corrected", "claim", "verdict and outcome", "tuned"]
    rows = []
    for name_of, arm in task["arms"].items():
        chosen = ", ".join(f"{key} {value}{' (at an end)' * (key in arm['at_edge'])}" for key, value in arm.get("chosen", {}).items())
        rows.append([f"`{name_of}`", f"{arm['parameters']:,}", f"{arm['steps']:,}", f"{arm['mean']:.4g} ± {arm['deviation']:.2g}", *contrast_cells(arm), chosen])
    parts = [f"## {name}{f', on {test_set}' if test_set else ''}", files.table(head, rows)]
    others = {arm: found["others"] for arm, found in task["arms"].items() if "others" in found}
    if others:
        sets = list(dict.fromkeys(test_set for arm in others.values() for test_set in arm))
        rows = [[f"`{arm}`", *("{:.4g} ± {:.2g}".format(*found[one]) if one in found else "" for one in sets)] for arm, found in others.items()]
        parts += [f"All test sets, which are not tested, by {metric}:", files.table(["arm", *sets], rows)]
    return "\n\n".join(parts)


def sizes_table(sizes):
    arms = [arm for arm in sizes["arms"] if arm["effects"]]
    rows = [[f"`{arm['name']}`", measures.picture(measures.rungs_of(sizes, arm)), measures.sizes_text(sizes, arm)] for arm in arms]
    rungs = ", ".join(f"{rung['label']}: {rung['x'] / 1000:,.0f} thousand parameters" for rung in sizes["rungs"])
    return f"## At several sizes\n\n{files.table(['arm', 'worse, better', f'{rungs}: better by'], rows)}"


def numbers(record):
    """docs/results/atlas/*.md: all numbers of a record; the program writes the same and more beside the runs."""
    expected = (f"- expected: `{one['text']}`: {'holds' if one['holds'] else 'does not hold'} ({one['numbers']})" for one in record["expectations"])
    provenance = record["provenance"]
    return files.page("record", record=record, tasks="\n\n".join(task_text(record, name) for name in record["tasks"]), expected="\n".join(expected),
                      ladders="\n\n".join(map(sizes_table, record["ladders"])), seeds=", ".join(map(str, record["seeds"])),
                      commit=commit_text(record), hardware=", ".join(provenance["hardware"]), minutes=round(provenance["core_seconds"] / 60, 1))


def rules(found):
    """docs/atlas/rules.md"""
    counts = collections.Counter(claim.first for claim in found)
    counted = ", ".join(f"{word} {counts[word]}" for word in claims.OUTCOMES if word in counts)
    linked = ", ".join(f"[{name}](results/atlas/{name}.md)" for name in files.records())
    return rebased(files.page("rules", claims=len(found), counts=counted, late=sum(claim.after_result for claim in found), studies=linked), "../")
