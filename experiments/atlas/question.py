"""docs/results/position_question.md: sinusoidal against learned positions, from the records of its three studies."""

import claims
import page

STUDIES = {"position_question_translation": "Translation", "position_question_characters": "Running text",
           "position_question_strings": "Copying and reversing, one symbol beyond the trained length"}

HEAD = """# Sinusoidal or learned positions?

Three sizes each, eight seeds, the rate of every arm tuned on other seeds. `learned` has a table that starts as small as unscaled embeddings, a
fifth of the sinusoids' size; the table of `learned_alike` starts at theirs. Vaswani et al. 2017 (Table 3 E) found the two schemes alike in
translation.

**Learned positions translate better by 0.6 to 1.2 BLEU, in running text they are worse by up to 0.06 or undecided, and beyond the trained length
they fail.** One symbol beyond it they copy and reverse 0 to 0.1 %, where sinusoidal positions get 46 to 88 % right; within it, at length 12, every
arm gets all right at every size.

The tables of the learned arms are additional parameters, 3 to 9 % of the models; in running text, where tokens follow the parameters, they have as
many more steps. The translations are far from the best known for this text, 39 BLEU, and [another study](table3.md), of one size and
with one rate for all arms, found -0.1 BLEU (-0.6 to 0.4) for learned ones.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas. -->"""


def rates(arm):
    """The arm's learning rate, marked if a better one may lie beyond those that were tried."""
    return ", ".join(value + (" (at the edge)" if key in arm.get("at_edge", {}) else "") for key, value in arm.get("chosen", {}).items())


def row(setting, name, arm, baseline):
    contrast = arm["contrast"]
    low, high = contrast.get("interval", [contrast["mean"]] * 2)
    cells = [f"{setting}, `{name}`", f"{baseline['parameters']:,}, {arm['parameters']:,}", rates(baseline), rates(arm), f"{baseline['mean']:.4g} ± {baseline['deviation']:.2g}",
             f"{arm['mean']:.4g} ± {arm['deviation']:.2g}", f"{contrast['mean']:+.3g} ({low:+.3g} to {high:+.3g})", f"{contrast['margin']:g}",
             f"{contrast['claim']}: {contrast['outcome'].replace('_', ' ')}"]
    return "| " + " | ".join(cells) + " |"


def compared(record):
    """Setting, arm, the arm's record and its baseline's, of every comparison."""
    for setting, task in record["tasks"].items():
        baseline = next(arm for arm in task["arms"].values() if "contrast" not in arm)
        for name, arm in task["arms"].items():
            if "contrast" in arm:
                yield setting, name, arm, baseline


def answer(record):
    """A sentence for each arm: its verdicts, each with its settings."""
    by_arm = {}
    for setting, name, arm, _ in compared(record):
        by_arm.setdefault(name, {}).setdefault(arm["contrast"]["verdict"].replace("_", " "), []).append(setting)
    return " ".join(f"`{name}` is " + "; ".join(f"{verdict} in {', '.join(settings)}" for verdict, settings in verdicts.items()) + "."
                    for name, verdicts in by_arm.items())


def section(study, title):
    record = claims.read_record(study)
    if not page.is_present(record):
        return f"## {title}\n\nNot run: [{study}.yaml](../../experiments/atlas/{study}.yaml)."
    metric = page.metric_text(next(iter(record["tasks"].values()))["metric"])
    head = [f"| {metric} | parameters of both | rate of sinusoidal | of learned | sinusoidal | learned | difference, 95 % interval | margin | claim |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---|"]
    rows = [row(*comparison) for comparison in compared(record)]
    return "\n".join([f"## {title}", "", answer(record), "", *head, *rows, "", f"Study [{study}.yaml](../../experiments/atlas/{study}.yaml); all numbers are "
                      f"in [{study}.md](atlas/{study}.md). Run at {page.commit_text(record)} by `{record['command']}`."])


def text():
    """The page; None while none of its studies has been run."""
    if not any(page.is_present(claims.read_record(study)) for study in STUDIES):
        return None
    return "\n\n".join([HEAD, *(section(study, title) for study, title in STUDIES.items())]) + "\n"
