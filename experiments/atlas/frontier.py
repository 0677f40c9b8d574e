"""docs/frontier.md: the claims on parts of this year's models, one row each, and what each part costs."""

import json

import claims
import ladder
import page

COSTS = claims.RESULTS / "costs.json"
COSTS_GPU = claims.RESULTS / "costs_gpu.json"
LADDER = "frontier_ladder"  # the study whose arms have the names of claims

HEAD = """# The frontier

Parts that people added to the Transformer in the last years and still argue about, mostly from one seed. Here each of them is one key, and
its claim is tested by the rules of the [atlas](atlas.md): paired seeds, a rate of its own, a margin stated before. Effects are per cents by
which the arm is better than its baseline, and at several sizes, from the smallest to the largest, nats by which its loss is lower, in bold if
the interval leaves out zero.

<!-- experiments/atlas/atlas.py writes this page from docs/results/atlas, experiments/atlas/claims.yaml and frontier_parts.md. -->"""

COST = """## What the times and memories are

Training time for each token and the most memory, in units of the baseline's, by
[cost.py](../experiments/atlas/cost.py): {rounds} rounds in which the arms take turns,
on synthetic sentences, one thread of {processor} beside one other process; in brackets the smallest and the largest of the rounds' ratios.
Arms that `match` makes narrower are measured at the baseline's width. These are models of 64 channels, whose operators are short: what a
part costs in launches it costs less in wider models."""


def read_costs(file=COSTS):
    """What cost.py measured; empty if it has not been run."""
    return json.loads(file.read_text()) if file.exists() else {}


def cost_text(cost, finding):
    """What cost.py measured."""
    if cost is None:
        return "only evaluated | only evaluated" if finding and finding.arm["steps"] == 0 else "not measured | not measured"
    low, high = min(cost["seconds"]), max(cost["seconds"])
    middle = sorted(cost["seconds"])[len(cost["seconds"]) // 2]
    return f"{middle:.2f} ({low:.2f} to {high:.2f}) | {cost['memory']:.2f}"


def size_text(finding):
    return f"{finding.baseline['parameters']:,}" if finding else ""


def sizes_text(claim, sizes):
    """The gain at each size of the ladder; nothing if the claim is not on it."""
    arm = next((arm for arm in sizes["arms"] if arm["name"] == claim.id and arm["effects"]), None) if sizes else None
    gains = ladder.gains(sizes, arm) if arm else []
    return ", ".join(f"**{mean:+.3f}**" if low > 0 or high < 0 else f"{mean:+.3f}" for mean, low, high in gains)


def row(claim, costs, sizes):
    finding = claim.finding(claim.record)
    cost = costs.get("arms", {}).get(claim.study, {}).get(claim.arm)
    return (f"| `{claim.part}` | [{claim.says}](atlas.md#{claim.id}) | {page.source_of(claim)} | {page.outcome_text(claim)} | "
            f"{page.effect_text(finding)} | {size_text(finding)} | {sizes_text(claim, sizes)} | {cost_text(cost, finding)} | "
            f"[{claim.study}](../experiments/atlas/{claim.study}.yaml) |")


def table(found, costs):
    head = ["| key | claim | source | outcome | effect here | parameters | at several sizes | time | memory | study |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    sizes = ladder.read_ladder(LADDER)
    return "\n".join(head + [row(claim, costs, sizes) for claim in found])


def ladder_text():
    """The picture of the parts that are on a ladder."""
    state = f"![{ladder.TITLE}](frontier_ladder.svg)" if ladder.read_ladder(LADDER) else "It was not run."
    return (f"## At several sizes\n\n[{LADDER}](../experiments/atlas/{LADDER}.yaml) asks at three sizes, with 28, 60 and 161 thousand\n"
            f"parameters, 20 tokens for each and the best rate of each arm.\n\n{state}")


def surprises():
    """What claims.yaml says at its end, as a list."""
    return "\n".join(f"- {one}" for one in claims.catalogue().get("surprises", []))


def text_of(found):
    """The whole page."""
    found, costs = [claim for claim in found if claim.part], read_costs()
    cost = COST.format(rounds=costs["rounds"], processor=costs["processor"]) if costs else ""
    again = ("## How to run it again\n\n`make atlas PART=NAME DATA=DIR` runs a study and writes this page. What a key means is in "
             "[configuration.md](configuration.md), and what else can be varied in [parts.md](parts.md).")
    ended = f"## What surprised us\n\n{surprises()}" if surprises() else ""
    parts = (claims.HERE / "frontier_parts.md").read_text().strip()
    return "\n\n".join(filter(None, [HEAD, table(found, costs), ladder_text(), cost, parts, again, ended])) + "\n"
