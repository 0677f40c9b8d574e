"""A card for each claim: docs/atlas/claims.md, which a script can filter, and docs/frontier.md with the claims on parts of this year's models."""

import claims
import cost
import files
import measures
import page

READ = {"abstract": "its abstract", "figures": "its figures", "notes": "what others say of it"}


def facts_of(claim):
    """What a card can be filtered by."""
    look, time = claim.looks[0], cost.time_of([claim])
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
    body = files.page(
        "card", claim=claim, source=page.source_of(claim), published=page.published_effect_text(claim) or "no figures",
        here=f"{page.effect_text(first) or 'not measured'}{f'; {page.scale_of(first)}' if first else ''}", outcome=page.outcome_text(first),
        gains=f"{measures.picture(gains)} {', '.join(one.sized for one in gains)}" if gains else None,
        again=f"; second look: {page.outcome_text(second)}" if second else "", cost=cost.cost_text(claim))
    return f'<div class="card" {data} markdown>\n\n{body.replace(chr(10), "  " + chr(10))}\n</div>'


def text_of(found):
    ordered = sorted(found, key=sure_share, reverse=True)
    return files.page("claims", count=len(found), cards="\n\n".join(map(card, ordered)))


def frontier(found):
    """docs/frontier.md: what each part costs stands on its card."""
    shown = [page.rebased(card(claim), "atlas/") for claim in found if claim.part]
    ladders = [f"- [{study}](results/atlas/{study}.md): {files.read_study(study)['question']}" for study in measures.read_ladders()]
    return files.page("frontier", cards="\n\n".join(shown), ladders="\n".join(ladders), cpu=cost.read_costs(cost.COSTS), gpu=cost.read_costs(cost.COSTS_GPU))
