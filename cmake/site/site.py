"""Builds the documents as a site of plain files: site.py <program> <zensical> <folder>

The pages that people write and those that docs.py generates go to <folder>/site-source, with links as the site has them; Zensical makes
<folder>/site of them. Beside each page lies its Markdown, for programs, which llms.txt lists. Ends with 1 if a link leads nowhere or a page
needs another host.
"""

import html.parser
import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import docs

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FENCES = {".yaml": "yaml", ".json": "json", ".cff": "yaml", ".py": "python", "": "text"}  # files that become pages, as code


def written():
    """The documents that people write, by path below the root."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("bench/*.md"), *ROOT.glob("docs/**/*.md")]
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True).stdout.split("\n")
    paths = {file.relative_to(ROOT).as_posix(): file for file in files}
    return {path: file.read_text(encoding="utf-8") for path, file in paths.items() if path in tracked}


def place(path):
    """Where the site has a file of the repository: docs/ is its root, and a README the index of its folder."""
    path = path.removeprefix("docs/")
    return path[:-9] + "index.md" if path.endswith("README.md") else path


class Stage:
    """The pages by their place in the site; a file or a folder that a page links to becomes one, too."""

    def __init__(self, texts):
        pages = {path: text for path, text in texts.items() if path.endswith(".md")}
        self.sources = texts.keys()
        self.pages = {place(path): "" for path in pages}
        self.assets = {place(path): text.encode() for path, text in texts.items() if path not in pages} | {name: (HERE / name).read_bytes() for name in ("site.css", "worker.js")}
        for path in pages:
            self.pages[place(path)] = self.with_links(path, pages[path])

    def with_links(self, path, text):
        pieces = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
        pieces[::2] = [LINK.sub(lambda found: found[1] + self.link(path, found[2]) + found[3], piece) for piece in pieces[::2]]
        return "".join(pieces)

    def link(self, path, link):
        if re.match(r"[a-z]+:|#", link):
            return link
        target, _, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        place_of = self.place_of(target)
        relative = posixpath.relpath(place_of, posixpath.dirname(place(path)) or ".")
        return relative + ("#" + anchor if anchor else "")

    def place_of(self, target):
        """Of a page, or of a file or folder of the repository, which this adds."""
        file = ROOT / target
        if target in self.sources:
            return place(target)
        if file.is_dir():
            at = place(target) + "/index.md"
            if at not in self.pages:
                self.pages[at] = ""
                names = sorted(one.name for one in file.iterdir() if one.is_file() and (one.suffix in FENCES or f"{target}/{one.name}" in self.sources))
                listed = "\n".join(f"- [{name}]({self.link(target + '/x', name)})" for name in names)
                self.pages[at] = f"# {posixpath.basename(target)}\n\n{listed}\n"
        elif file.suffix in FENCES and target not in self.assets:
            at = place(target) + ".md"
            self.pages[at] = code_page(target, file.read_text(encoding="utf-8"))
        else:
            at = place(target)
            self.assets[at] = file.read_bytes()
        return at

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        for path, text in [*self.pages.items(), *self.assets.items()]:
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())


def code_page(path, text):
    return f"---\nsearch: {{ exclude: true }}\n---\n\n# {posixpath.basename(path)}\n\n````{FENCES[pathlib.Path(path).suffix]}\n{text.rstrip()}\n````\n"


class Links(html.parser.HTMLParser):
    """What a page links to, what it loads, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("script", "img", "source", "iframe", "image") or (tag == "link" and found.get("rel") not in ("canonical", "prev", "next", "alternate")):
            self.loads += [found[key] for key in ("src", "href") if found.get(key)]


def problems(site):
    """Links of the built pages that lead nowhere, and what pages or styles load from elsewhere."""
    pages = {path.relative_to(site).as_posix(): Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            target, _, anchor = urllib.parse.unquote(link).partition("#")
            if re.match(r"[a-z]+:|//", target):
                if link in page.loads and not target.startswith("data:"):
                    yield f"{path}: loads {link}"
                continue
            at = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if not (site / at).is_file():
                yield f"{path}: {link} leads nowhere"
            elif anchor and at in pages and anchor not in pages[at].ids:
                yield f"{path}: {link} leads to no place of {at}"
    for style in site.rglob("*.css"):
        yield from (f"{style.name}: loads {address}" for address in re.findall(r"url\([\"']?((?:https?:)?//[^)\"']+)", style.read_text(encoding="utf-8")))


def finish(site):
    """Gives pages our worker instead of one from elsewhere, and links to the start its file, which readers of a disk need."""
    (site / "404.html").unlink()  # for servers, whose addresses it would have to know
    for path in site.rglob("*.html"):
        start = "../" * (len(path.relative_to(site).parts) - 1)
        text = path.read_text(encoding="utf-8").replace("https://unpkg.com/iframe-worker/shim", f"{start}worker.js")
        path.write_text(re.sub(r'href="\.?/?((\.\./)*(\.\.)?)"', f'href="{start}index.html"', text), encoding="utf-8")


def title_of(text):
    found = re.search(r"^# (.+)$", text, re.M)
    return found[1] if found else "Ablate"


def write_twins(pages, site):
    """The Markdown of every page beside it, with the titles of pictures, and llms.txt, which lists them."""
    lines = ["# Ablate", "", "> A laboratory for the Transformer: one program turns a YAML file into trained models, tested differences and a report.", "",
             "Every page of this site is Markdown here. [What to use at which size](atlas/index.md); study.schema.json is the schema of a study.", ""]
    for path, text in sorted(pages.items(), key=lambda page: (page[0].count("/"), page[0])):
        plain = re.sub(r"\A---\n.*?\n---\n|</?(?:div|span|svg|title)\b[^>]*>|<(?:g|line|circle|rect) [^>]*>|</g>", "", text, flags=re.S).replace("&nbsp;", " ")
        (site / path).write_text(re.sub(r"\n{3,}", "\n\n", plain).lstrip(), encoding="utf-8")
        if "exclude: true" not in text[:60]:
            lines.append(f"- [{title_of(text)}]({path})")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    program, zensical, folder = (pathlib.Path(argument).absolute() for argument in sys.argv[1:4])
    stage = Stage(written() | docs.pages(program))
    stage.write(folder / "site-source")
    shutil.copy(HERE / "mkdocs.yml", folder / "mkdocs.yml")
    shutil.rmtree(folder / "site", ignore_errors=True)
    subprocess.run([zensical, "build", "--clean", "--config-file", "mkdocs.yml"], cwd=folder, check=True)
    finish(folder / "site")
    write_twins(stage.pages, folder / "site")
    found = sorted(set(problems(folder / "site")))
    print(*found, f"site: {len(stage.pages)} pages in {folder / 'site'}", sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
