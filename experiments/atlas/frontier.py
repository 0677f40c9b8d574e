"""docs/frontier.md: the claims on parts of this year's models, one row each, and what each part costs."""

import functools
import json

import files
import ladder
import page

COSTS = files.RESULTS / "costs.json"
COSTS_GPU = files.RESULTS / "costs_gpu.json"

HEAD = """# The frontier

Parts that people added to the Transformer in the last years and still argue about, mostly from one seed. Here each of them is one key, and
its claim is tested by the rules of the [atlas](atlas.md): paired seeds, a rate of its own, a margin stated before. At
several sizes, from the smallest to the largest, stand nats by which the loss is lower (of capacity, bits a parameter that it holds more), in bold
if the interval leaves out zero; they are rising or falling if the interval of their slope over the logarithm of the size leaves out zero.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas and experiments/atlas/claims.yaml. -->"""

COST = """## What the times and memories are

Training time for each token and the most memory, in units of the baseline's, by
[cost.py](../experiments/atlas/cost.py): {rounds} rounds in which the arms take turns,
on random tokens in rows as long as the study's, one thread of {processor}; in brackets the smallest and the largest of the rounds' ratios.
Arms that `match` makes narrower are measured at the baseline's width. These are models of 64 channels, whose operators are short: what a
part costs in launches it costs less in wider models."""

COST_GPU = """On a GPU, {processor}, the same models are wider and train in bf16: {rounds} round, as [gpu.md](results/gpu.md#parts-of-the-frontier) tells."""


@functools.cache
def read_costs(file=COSTS):
    """What cost.py measured; empty if it has not been run."""
    return json.loads(file.read_text()) if file.exists() else {}


def time_text(cost):
    low, high = min(cost["seconds"]), max(cost["seconds"])
    middle = sorted(cost["seconds"])[len(cost["seconds"]) // 2]
    return f"{middle:.2f}" if low == high else f"{middle:.2f} ({low:.2f} to {high:.2f})"


def cost_text(cost, gpu, finding):
    """What cost.py measured on a processor and on a GPU."""
    if finding and finding.arm["steps"] == 0:
        return "only evaluated | only evaluated | only evaluated"
    return (f"{time_text(cost)} | {cost['memory']:.2f} | " if cost else "not measured | not measured | ") + \
        (f"{time_text(gpu)}, {gpu['memory']:.2f}" if gpu else "not measured")


def outcomes_text(claim):
    """The outcome, and that of the second look if there was one."""
    return page.first_text(claim) + (f"; second look: {second}" if (second := page.second_text(claim)) else "")


def row(claim):
    finding = claim.finding(claim.record)
    size = f"{finding.baseline['parameters']:,}" if finding else ""
    costs = [read_costs(file).get("arms", {}).get(claim.study, {}).get(claim.arm) for file in (COSTS, COSTS_GPU)]
    return (f"| `{claim.part}` | [{claim.says}](atlas.md#{claim.id}) | {page.source_of(claim)} | {outcomes_text(claim)} | "
            f"{page.effect_text(claim, finding)} | {size} | {page.gains_text(claim, ladder.LADDERS)} | {cost_text(*costs, finding)} | "
            f"[{claim.study}](../experiments/atlas/{claim.study}.yaml): `make atlas PART={claim.study} DATA=DIR` |")


def table(found):
    head = ["| key | claim | source | outcome | better here by | parameters | at several sizes | time | memory | both on a GPU | study |",
            "|---|---|---|---|---|---|---|---|---|---|---|"]
    return "\n".join(head + [row(claim) for claim in found])


def ladder_text(study):
    """The question of a ladder and its picture."""
    state = f"![{ladder.TITLE}]({study}.svg)" if study in ladder.read_ladders() else "It was not run."
    return f"[{study}](../experiments/atlas/{study}.yaml): {files.read_study(study)['question']}\n\n{state}"


def ladders_text():
    """The parts that are on a ladder."""
    head = ("## At several sizes\n\nEach arm has its baseline's parameters and its own best rate, unless the rate is the question, and reads 20 tokens for each\n"
            "parameter, or of capacity every person a thousand times.")
    return "\n\n".join([head, *map(ladder_text, ladder.LADDERS)])


def text_of(found):
    """The whole page."""
    found, costs = [claim for claim in found if claim.part], (read_costs(COSTS), read_costs(COSTS_GPU))
    cost = "\n\n".join(text.format(**of) for text, of in zip((COST, COST_GPU), costs) if of)
    again = ("## How to run it again\n\n`make atlas PART=NAME DATA=DIR` runs a study and writes this page. What a key means is in "
             "[frontier_parts.md](frontier_parts.md), and what else can be varied in [parts.md](parts.md).")
    return "\n\n".join(filter(None, [HEAD, table(found), ladders_text(), cost, again])) + "\n"
