"""The pages of the atlas of claims, by the templates in pages."""

import math
import re
import statistics

import jinja2

import choices
import claims
import files
import gallery
import measures


def rebased(text, up):
    """Links from docs, in which claims are written, as links from a folder below it."""
    return re.sub(r"\]\((?![a-z]+:|#)", f"]({up}", text)


TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(files.HERE / "pages"), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
TEMPLATES.globals |= {"claims": claims, "files": files, "measures": measures, "exact_interval": choices.exact_interval}
TEMPLATES.filters |= {
    "number": format, "sign": lambda value, scale: (scale * value > 0) - (scale * value < 0), "median": statistics.median, "asinh": math.asinh, "rebased": rebased,
    "each": lambda items, macro: [macro(item) for item in items],
    "linked": lambda text: re.sub(r"arXiv (\d{4}\.\d{5})", r"[\1](https://arxiv.org/abs/\1)", text)}


def page(template, **parts):
    """The text of pages/<template>.jinja of these parts, in which parts that say nothing leave no gap."""
    return re.sub(r"\n{3,}", "\n\n", TEMPLATES.get_template(f"{template}.jinja").render(parts)).strip() + "\n"


def pages(schema):
    """All of them, by path; the gallery is of the parts in the program's schema of studies."""
    found, folder = claims.read_claims(), files.DOCS / "atlas"
    sections, others = gallery.parts(schema, found)
    return {folder / "index.md": page("index.md", choices=(chosen := list(choices.read_choices(found))), signs=choices.signs(found), compared=choices.compared(files.records().values())),
            files.HERE / "advice.json": page("advice.json", choices=chosen),
            folder / "claims.md": page("claims.md", found=sorted(found, key=measures.sure_share, reverse=True)),
            folder / "rules.md": rebased(page("rules.md", found=found), "../"), folder / "cards.js": (files.HERE / "pages" / "cards.js").read_text(),
            files.DOCS / "frontier.md": page("frontier.md", found=found), files.DOCS / "gallery.md": page("gallery.md", sections=sections, others=others),
            **{folder / "claims" / f"{claim.id}.md": rebased(page("claim.md", claim=claim), "../../") for claim in found},
            **{files.RESULTS / f"{name}.md": page("record.md", record=record) for name, record in files.records().items()}}
