"""docs/results/atlas/*.md: all numbers of the record of a study."""

import claims
import files
import measures
import page


def contrast_cells(arm):
    """Difference, p, claim and words of an arm; of the baseline that it is one."""
    contrast = arm.get("contrast")
    if not contrast:
        return ["baseline", "", "", "", ""]
    claim = f"{contrast.get('claim', '')} {contrast.get('margin', '')}".strip()
    words = " and ".join(filter(None, (contrast["verdict"], contrast.get("outcome")))).replace("_", " ")
    difference = f"{contrast['mean']:+.3g}{page.interval_text(contrast.get('interval'))}"
    return [difference, *(f"{float(contrast['difference'][key]):.2g}" for key in ("p", "adjusted_p")), claim, words]


def arm_row(name, arm):
    chosen = ", ".join(f"{key} {value}{' (at an end)' * (key in arm.get('at_edge', {}))}" for key, value in arm.get("chosen", {}).items())
    return [f"`{name}`", f"{arm['parameters']:,}", f"{arm['steps']:,}", f"{arm['mean']:.4g} ± {arm['deviation']:.2g}", *contrast_cells(arm), chosen]


def task_text(record, name):
    task = record["tasks"][name]
    metric = claims.metric_text(task["metric"])
    test_set = next(iter(task["arms"].values()))["test_set"]
    head = ["arm", "parameters", "steps", f"mean ± deviation of {metric}", "difference, 95 % interval", "p", "corrected", "claim", "verdict and outcome", "tuned"]
    parts = [f"## {name}{f', on {test_set}' if test_set else ''}", files.table(head, [arm_row(*arm) for arm in task["arms"].items()])]
    others = {arm: found["others"] for arm, found in task["arms"].items() if "others" in found}
    if others:
        sets = list(dict.fromkeys(test_set for arm in others.values() for test_set in arm))
        rows = [[f"`{arm}`", *("{:.4g} ± {:.2g}".format(*found[one]) if one in found else "" for one in sets)] for arm, found in others.items()]
        parts += [f"All test sets, which are not tested, by {metric}:", files.table(["arm", *sets], rows)]
    return "\n\n".join(parts)


def ladder_text(sizes):
    arms = [arm for arm in sizes["arms"] if arm["effects"]]
    rows = [[f"`{arm['name']}`", measures.picture(measures.rungs_of(sizes, arm)), measures.sizes_text(sizes, arm)] for arm in arms]
    rungs = ", ".join(f"{rung['label']}: {rung['x'] / 1000:,.0f} thousand parameters" for rung in sizes["rungs"])
    return f"## At several sizes\n\n{files.table(['arm', 'worse, better', f'{rungs}: better by'], rows)}"


def text_of(record):
    """The page of a record; the program writes the same and more beside the runs."""
    expected = (f"- expected: `{one['text']}`: {'holds' if one['holds'] else 'does not hold'} ({one['numbers']})" for one in record["expectations"])
    return files.page("record", record=record, tasks="\n\n".join(task_text(record, name) for name in record["tasks"]), expected="\n".join(expected),
                      ladders="\n\n".join(map(ladder_text, record["ladders"])), seeds=", ".join(map(str, record["seeds"])), commit=page.commit_text(record))
