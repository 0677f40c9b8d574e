"""Tests the links between documents: documents.py <source folder>

  links   every relative link of a document leads to a file or folder that exists, and its #anchor to a heading or anchor there.
  index   every page of docs/ is linked from the README, every page of docs/results/ from the README of that folder.
"""

import pathlib
import posixpath
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.M)
ANCHOR = re.compile(r'<a id="([^"]+)">')


def documents(root):
    """{path below root: text} of every document, without blocks of code."""
    files = [*root.glob("*.md"), *root.glob("bench/*.md"), *root.glob("docs/**/*.md")]
    texts = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in files}
    return {path: re.sub(r"^```.*?^```", "", text, flags=re.M | re.S) for path, text in texts.items()}


def anchors(text):
    """What GitHub calls the headings, and anchors of HTML."""
    found = set(ANCHOR.findall(text))
    for heading in HEADING.findall(text):
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        count = sum(1 for other in found if re.fullmatch(re.escape(anchor) + r"(-\d+)?", other))
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(texts):
    """(document, link, path below root, anchor) of every relative link."""
    for document, text in texts.items():
        for link in LINK.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(document), path)) if path else document
            yield document, link, target, anchor


def link_problems(root, texts):
    for document, link, target, anchor in links(texts):
        if not (root / target).exists():
            yield f"{document}: {link} leads nowhere"
        elif anchor and anchor not in anchors(texts.get(target, "")):
            yield f"{document}: {link} leads to no heading of {target}"


def index_problems(texts):
    linked = {(document, target) for document, _, target, _ in links(texts)}
    for path in texts:
        index = {"docs": "README.md", "docs/results": "docs/results/README.md"}.get(posixpath.dirname(path))
        if index and path != index and (index, path) not in linked:
            yield f"{index}: no link to {path}"


def main():
    root = pathlib.Path(sys.argv[1])
    texts = documents(root)
    found = [*link_problems(root, texts), *index_problems(texts)]
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
