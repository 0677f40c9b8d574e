"""Lists the keys of a study that nothing which ships sets: unused_keys.py <source folder> <program>

A key is a row of the page that `ablate config docs` prints, below the section that it stands in. It is set by a study, an example, a part
of the atlas, an architecture, a configuration of bench/, or by a block of YAML or a --set of a document that is written by hand. A key that
nobody sets has no user whom we know: it goes with its code, or gets a line in an example, which examples_run.py runs.

Names are compared with the section that they stand in, not with whole paths: `attention.heads` of a decoder is that of a model.
"""

import pathlib
import re
import subprocess
import sys

import yaml

STUDIES = tuple(f"experiments/{folder}/*.yaml" for folder in ("studies", "examples", "atlas", "architectures")) + ("bench/*.yaml",)
DOCUMENTS = ("README.md", "bench/*.md", "docs/*.md", "docs/results/*.md")
GENERATED = ("docs/configuration.md", "docs/commands.md", "docs/gallery.md", "docs/frontier.md")
SECTION = re.compile(r"^#{2,3} ([\w.]+)")
ROW = re.compile(r"^\| `(\w+)` \|")
CHOICE = re.compile(r"^`(\w+)` selects")
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.M | re.S)
PATH = re.compile(r"(?:--set\s+|`)([a-z_]+(?:\.\w+)+)\s*[=:]")
ROOT = "The"  # of "The study"


def keys(page):
    """(section, key) of every row; the section is the last part of its path."""
    section = ""
    for line in page.splitlines():
        if found := SECTION.match(line):
            section = found[1].rsplit(".", 1)[-1]
        elif (found := ROW.match(line) or CHOICE.match(line)) and section not in (ROOT, "Metrics"):
            yield section, found[1]


def load(text):
    """Every scalar as text, since the key `on` would be a truth value."""
    return yaml.load(text, yaml.BaseLoader)


def pairs(value, section=""):
    """(section, key) of everything that a configuration sets; a key with dots stands for a path."""
    if isinstance(value, list):
        for item in value:
            yield from pairs(item, section)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        path = [section, *str(key).split(".")]
        yield from zip(path, path[1:])
        yield from pairs(inner, path[-1])
        if not isinstance(inner, dict):  # a word in the place of a section is its kind, and a list may hold such words
            yield path[-1], "kind"


def paths(text):
    for path in PATH.findall(text):
        parts = path.split(".")
        yield from zip(parts, parts[1:])


def blocks(text):
    for block in BLOCK.findall(text):
        try:
            yield load(block)
        except yaml.YAMLError:
            continue  # a part of a file, shown with marks


def files(root, patterns):
    found = {file.relative_to(root).as_posix(): file for pattern in patterns for file in root.glob(pattern)}
    return {name: file.read_text(encoding="utf-8") for name, file in found.items() if name not in GENERATED}


def unused(root, page):
    used = set()
    for text in files(root, STUDIES).values():
        used.update(pairs(load(text)))
    for text in files(root, DOCUMENTS).values():
        used.update(paths(text))
        for block in blocks(text):
            used.update(pairs(block))
    return [key for key in dict.fromkeys(keys(page)) if key not in used]


def main():
    root = pathlib.Path(sys.argv[1])
    page = subprocess.run([sys.argv[2], "config", "docs"], capture_output=True, text=True, check=True).stdout
    found = unused(root, page)
    for section, key in found:
        print(f"{section}.{key} is set by no study, architecture or example")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
