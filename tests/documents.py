"""Tests the documents, those that `make docs` writes among them: documents.py <source folder> <program>

  links   every relative link leads to a file or folder that exists, and its #anchor to a heading or anchor there. Only generated documents
          link to generated ones, which a reader of the repository does not have.
  index   every page of docs/ is linked from the README, every page of docs/results/ from the README of that folder.
  verbs   docs/commands.md has a heading for every verb of the program. That every key is documented, config_test asks.
"""

import functools
import pathlib
import posixpath
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.M)
ANCHOR = re.compile(r'<a id="([^"]+)">')


def written(root, generated):
    """{path below root: text} of every document that is not generated."""
    files = [*root.glob("*.md"), *root.glob("bench/*.md"), *root.glob("docs/**/*.md")]
    paths = {file.relative_to(root).as_posix(): file for file in files}
    return {path: file.read_text(encoding="utf-8") for path, file in paths.items() if path not in generated}


def without_code(texts):
    return {path: re.sub(r"^```.*?^```", "", text, flags=re.M | re.S) for path, text in texts.items()}


@functools.cache
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


def link_problems(root, texts, generated):
    for document, link, target, anchor in links(texts):
        if target not in generated and not (root / target).exists():
            yield f"{document}: {link} leads nowhere"
        elif target in generated and document not in generated:
            yield f"{document}: {link} leads to what only `make docs` writes; name the command"
        elif anchor and anchor not in anchors(texts.get(target, "")):
            yield f"{document}: {link} leads to no heading of {target}"


def index_problems(texts, generated):
    linked = {(document, target) for document, _, target, _ in links(texts)}
    for path in texts.keys() - generated:
        index = {"docs": "README.md", "docs/results": "docs/results/README.md"}.get(posixpath.dirname(path))
        if index and path != index and (index, path) not in linked:
            yield f"{index}: no link to {path}"


def verb_problems(commands):
    """Verbs of the overview without a section."""
    overview = commands.partition("\n## ")[2].partition("\n## ")[0]
    for verb in re.findall(r"^  ([a-z]+)  ", overview, re.M):
        if not re.search(rf"^## ablate {verb}\b", commands, re.M):
            yield f"docs/commands.md: no section on {verb}"


def main():
    root, program = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    sys.path.insert(0, str(root / "cmake"))
    import docs
    generated = docs.pages(program)
    texts = without_code(written(root, generated) | {path: text for path, text in generated.items() if path.endswith(".md")})
    found = [*link_problems(root, texts, generated), *index_problems(texts, generated.keys()), *verb_problems(generated["docs/commands.md"])]
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
