"""docs/frontier.md: the claims on parts of this year's models, a card each, and what each part costs."""

import cards
import costs
import files
import measures
import page


def text_of(found):
    shown = [page.rebased(cards.card(claim, found), "atlas/") for claim in found if claim.part]
    ladders = [f"- [{study}](results/atlas/{study}.md): {files.read_study(study)['question']}" for study in measures.read_ladders()]
    return files.page("frontier", cards="\n\n".join(shown), ladders="\n".join(ladders), cpu=costs.read_costs(costs.COSTS), gpu=costs.read_costs(costs.COSTS_GPU))
