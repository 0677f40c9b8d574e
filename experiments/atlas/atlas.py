"""The pages of the atlas of claims."""

import choices
import claims
import files
import gallery
import page


def pages(schema):
    """All of them, by path; the gallery is of the parts in the program's schema of studies."""
    found, folder = claims.read_claims(), files.DOCS / "atlas"
    return {folder / "index.md": choices.text_of(found), folder / "claims.md": page.cards(found), folder / "rules.md": page.rules(found),
            folder / "cards.js": (files.HERE / "pages" / "cards.js").read_text(), files.DOCS / "frontier.md": page.frontier(found),
            files.DOCS / "gallery.md": gallery.text_of(schema, found), **{folder / "claims" / f"{claim.id}.md": page.section(claim) for claim in found},
            **{files.RESULTS / f"{name}.md": page.numbers(record) for name, record in files.records().items()}}
