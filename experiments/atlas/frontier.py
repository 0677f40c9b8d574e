"""docs/frontier.md: the claims on parts of this year's models, a card each, and what each part costs."""

import cards
import cost
import files
import measures
import page


def text_of(found):
    shown = [page.rebased(cards.card(claim, found), "atlas/") for claim in found if claim.part]
    ladders = [f"- [{study}](results/atlas/{study}.md): {files.read_study(study)['question']}" for study in measures.read_ladders()]
    return files.page("frontier", cards="\n\n".join(shown), ladders="\n".join(ladders), cpu=cost.read_costs(cost.COSTS), gpu=cost.read_costs(cost.COSTS_GPU))
