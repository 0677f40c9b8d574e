"""The pages of the atlas of claims."""

import cards
import choices
import claims
import files
import gallery
import page
import tables


def pages(schema):
    """All of them, by path; the gallery is of the parts in the program's schema of studies."""
    found, folder = claims.read_claims(), files.DOCS / "atlas"
    return {folder / "index.md": choices.text_of(found), folder / "claims.md": cards.text_of(found), folder / "rules.md": page.text_of(found),
            folder / "cards.js": (files.HERE / "pages" / "cards.js").read_text(), files.DOCS / "frontier.md": cards.frontier(found),
            files.DOCS / "gallery.md": gallery.text_of(schema, found), **{folder / "claims" / f"{claim.id}.md": page.section(claim) for claim in found},
            **{files.RESULTS / f"{name}.md": tables.text_of(record) for name, record in files.records().items()}}
