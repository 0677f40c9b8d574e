"""docs/atlas/claims.md: a card for each claim, which a script can filter."""

import claims
import cost
import files
import measures
import page

READ = {"abstract": "its abstract", "figures": "its figures", "notes": "what others say of it"}


def reading_of(claim, found):
    """How far the source was read: a key of READ."""
    words = claim.checked.lower()
    other = next((one for one in found if words.startswith("as ") and one.id == words[3:].split(";")[0].split(",")[0].strip()), None)
    if other:
        return reading_of(other, [])
    if any(word in words for word in ("note", "secondary", "excerpt", "by quotations", "could not be opened", "summar", "digest")):
        return "notes"
    return "abstract" if words.startswith("abstract") else "figures"


def facts_of(claim, found):
    """What a card can be filtered by."""
    finding = claim.finding(claim.record)
    parameters, time = finding.baseline["parameters"] if finding else 0, cost.time_of([claim])
    return {"size": "below 45,000 parameters" if parameters < 45e3 else "to 150,000" if parameters < 150e3 else "above 150,000",
            "of": "text" if finding and finding.metric in claims.LOSSES else "translation" if finding and finding.metric == "bleu" else "task",
            "time": "not measured" if time is None else "at most 1.1 of the baseline's" if time <= 1.1 else "more than 1.1",
            "asked": "more than once" if len(measures.measures_of(claim)) > 1 else "once", "read": READ[reading_of(claim, found)], "outcome": claim.first}


def sure_share(claim):
    """The end next to zero of the interval of the claim's effect, as a share of the baseline's score."""
    finding = claim.finding(claim.record)
    shares = [max(one.low, -one.high, 0) / max(abs(finding.baseline["mean"]), 0.1) for one in measures.measures_of(claim)[:1]] if finding else []
    return max(shares, default=0)


def card(claim, found):
    finding = claim.finding(claim.record)
    data = " ".join(f'data-{key}="{value}"' for key, value in facts_of(claim, found).items())
    scale = f"; {page.scale_of(finding)}" if finding else ""
    again = f"; second look: {page.outcome_text(claim, claim.again)}" if claim.finding(claim.again) else ""
    gains = measures.measures_of(claim)
    lines = [f"**[{claim.says}](claims/{claim.id}.md)**", f"{page.source_of(claim)}: {page.published_effect_text(claim) or 'no figures'}; {claim.where}",
             f"Here: {page.effect_text(claim, finding) or 'not measured'}{scale}",
             f"{measures.picture(gains)} {', '.join(one.sized for one in gains)}" if gains else "",
             f"Outcome: **{page.outcome_text(claim, claim.record)}**{again}",
             f"Would change it: {claim.changes}" if claim.changes else "",
             f"Key: `{claim.part}`. {cost.cost_text(claim)}" if claim.part else ""]
    body = "\n".join(f"{line}  " for line in lines if line)
    return f'<div class="card" {data} markdown>\n\n{body}\n\n</div>'


def text_of(found):
    ordered = sorted(found, key=sure_share, reverse=True)
    return files.page("claims", count=len(found), cards="\n\n".join(card(claim, found) for claim in ordered))
