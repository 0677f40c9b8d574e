"""docs/frontier.md: the claims on parts of this year's models, a card each, and what each part costs."""

import cards
import costs
import files
import ladder
import page

HEAD = """# The frontier

Parts that people added to the Transformer in the last years and still argue about, mostly from one seed. Here each of them is one key, and
its claim is tested by the rules of the [atlas](atlas/rules.md): paired seeds, a rate of its own, a margin stated before. Beside
each picture stand parameters and gains, in nats of loss unless they say otherwise, in bold if the interval leaves out zero.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas and experiments/atlas/claims.yaml. -->"""

COST = """## What the times and memories are

Training time for each token and the most memory, in units of the baseline's, by
[cost.py](../experiments/atlas/cost.py): {rounds} rounds in which the arms take turns,
on random tokens in rows as long as the study's, one thread of {processor}; in brackets the smallest and the largest of the rounds' ratios.
Arms that `match` makes narrower are measured at the baseline's width. These are models of 64 channels, whose operators are short: what a
part costs in launches it costs less in wider models."""

COST_GPU = """On a GPU, {processor}, the same models are wider and train in bf16: {rounds} round, as [gpu.md](results/gpu.md#parts-of-the-frontier) tells."""


def ladders_text():
    """The parts that are on a ladder."""
    head = ("## At several sizes\n\nEach arm has its baseline's parameters and its own best rate, unless the rate is the question, and reads 20 tokens for each\n"
            "parameter, or of capacity every person a thousand times.")
    return "\n".join([head, "", *(f"- [{study}](results/atlas/{study}.md): {files.read_study(study)['question']}" for study in ladder.read_ladders())])


def text_of(found):
    """The whole page."""
    shown = [page.rebased(cards.card(claim, found), "atlas/") for claim in found if claim.part]
    cost = "\n\n".join(text.format(**of) for text, of in zip((COST, COST_GPU), map(costs.read_costs, (costs.COSTS, costs.COSTS_GPU))) if of)
    again = ("## How to run it again\n\n`make atlas PART=NAME DATA=DIR` runs a study. What a key means is in "
             "[frontier_parts.md](frontier_parts.md), and what else can be varied in [parts.md](parts.md).")
    return "\n\n".join(filter(None, [HEAD, *shown, ladders_text(), cost, again])) + "\n"
