"""What documents hold: archives their files, and indexes, catalogues, dictionaries and pages their pairs of (document, source, target)."""

import bz2
import gzip
import html.parser
import io
import lzma
import re
import struct
import tarfile
import xml.etree.ElementTree
import zipfile
from typing import NamedTuple

from text import aligned, normalized

UNPACK = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}


def text_in(name, data):
    """The text of a compressed file."""
    return UNPACK[name[name.rindex("."):]](data).decode(errors="replace")


def files_in_package(package, folder, ending):
    """The regular files that a Debian package installs below `folder`, by their paths there, in order."""
    at = len("!<arch>\n")
    while not package[at:].startswith(b"data.tar", 0, 8):
        at += 60 + int(package[at + 48:at + 58]) + 1 & ~1
    with tarfile.open(fileobj=io.BytesIO(package[at + 60:at + 60 + int(package[at + 48:at + 58])])) as archive:
        found = {member.name.removeprefix("./"): archive.extractfile(member).read() for member in archive
                 if member.isfile() and member.name.removeprefix("./").startswith(folder) and member.name.endswith(ending)}
    return {name[len(folder):]: found[name] for name in sorted(found)}


def files_in_wheel(wheel, folder):
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        return {name[len(folder):]: archive.read(name) for name in archive.namelist() if name.startswith(folder)}


class Description(NamedTuple):
    package: str
    digest: str  # of the English text that this is, or translates
    title: str
    paragraphs: list  # an item of a list is one


def paragraphs_in(lines):
    """Of the lines of a description without their first space."""
    paragraphs = [""]
    for line in lines:
        item = re.match(" +[-*+o] ", line)
        if item or line.strip() == ".":
            paragraphs.append("")
        paragraphs[-1] += " " + (line[item.end():] if item else line if line.strip() != "." else "")
    return [text for text in map(normalized, paragraphs) if text]


def descriptions_in(index):
    """The descriptions of a Translation-<language> index of Debian, each digest once, in their order."""
    found = {}
    for block in index.split("\n\n"):
        text = re.search(r"^Description-(?!md5:).*?: (.*)((?:\n .*)*)", block, re.M)
        if not text:
            continue
        fields = dict(re.findall(r"^(Package|Description-md5): (.*)", block, re.M))
        digest = fields.get("Description-md5", "")
        if digest not in found and normalized(text[1]):
            lines = [line[1:] for line in text[2].split("\n")[1:]]
            found[digest] = Description(fields.get("Package", ""), digest, normalized(text[1]), paragraphs_in(lines))
    return list(found.values())


def packages_in(index):
    """{package: (its source package, its section)} of a Packages index of Debian."""
    packages = {}
    for block in index.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Source|Section): ([^ \n]*)", block, re.M))
        if "Package" in fields:
            packages[fields["Package"]] = fields.get("Source", fields["Package"]), fields.get("Section", "")
    return packages


def string_at(catalogue, table, index):
    length, place = struct.unpack_from("<II", catalogue, table + 8 * index)
    return catalogue[place:place + length].split(b"\0")[0].decode(errors="replace")


def without_shortcut(text):
    return normalized(re.sub(r"(?<!\w)[_~&](?=\w)|(?<=\w)[_~](?=\w)", "", text))


def messages_in(name, catalogue):
    """The messages of a GNU gettext catalogue (.mo) and their translations, without contexts, marks of keyboard shortcuts and further
    plural forms. Each message is its own document."""
    count, sources, targets = struct.unpack_from("<III", catalogue, 8)
    for index in range(count):
        source = without_shortcut(string_at(catalogue, sources, index).split("\4", 1)[-1])
        target = without_shortcut(string_at(catalogue, targets, index))
        if source and target and source != target:
            yield f"{name}/{source}", source, target


def without_remarks(text):
    return normalized(normalized(re.sub(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|<[^>]*>|/[^/ ]*/", "", text)).split(";")[0])


def dictionary_entries(dictionary):
    """The first translations of the entries of Ding's dictionary, one "German | forms :: English | forms" a line, without remarks in
    brackets. Each line is its own document."""
    for line in dictionary.split("\n"):
        german, _, english = (side.split("|") for side in line.partition("::"))
        if line.startswith("#") or "::" not in line or len(german) != len(english):
            continue
        for target, source in zip(map(without_remarks, german), map(without_remarks, english)):
            if source and target and source != target:
                yield "ding/" + line, source, target


DIVIDING = frozenset("SH SS PP P LP TP IP HP RS RE nf fi EX EE TH sp br in ad hy TS TE ti ta ft so".split())
SILENT = frozenset("br ad hy in ta TH fi nf".split())  # they divide, but are no block
SPACED, JOINED = frozenset("B I SM R".split()), frozenset("BR RB IR RI BI IB SB".split())
BEGINS = {"EX": "example", "nf": "example", "TS": "table"}
ENDS = {"EE": "example", "fi": "example", "TE": "table"}
SHOWN = {"aq": "'", "dq": '"', "co": "©", "lq": '"', "rq": '"', "ti": "~", "ha": "^", "bu": "•", "Bq": "„", "em": "—", "en": "–"}
ESCAPE = re.compile(r"\\(?:f\(..|f.|([-&/,c ~e])|\(({0})|\[({0})\])".format("|".join(SHOWN)))
SHOWN.update({"-": "-", " ": " ", "~": " ", "e": "\\"})


def without_escapes(text):
    """Without troff's escapes; an unknown one stays unchanged."""
    return normalized(ESCAPE.sub(lambda escape: SHOWN.get(escape[escape.lastindex], "") if escape.lastindex else "", text))


def arguments_of(text, between):
    """Words, or text in quotation marks, joined by `between`."""
    return between.join(quoted + word for quoted, word in re.findall('"([^"]*)"?|([^ ]+)', text))


def man_blocks(page):
    """[request, text] of the parts of a man page in troff, without examples and tables: paragraphs have no request, and requests that
    divide them no text unless they are headings."""
    blocks, inside = [["", ""]], set()
    for line in page.split("\n"):
        if line.startswith(("'", '.\\"')):
            continue
        name, rest = re.match(r"\. *([0-9A-Za-z]*)(.*)|", line).groups("")
        if name in DIVIDING:
            inside = inside - {ENDS.get(name)} | {BEGINS.get(name)} - {None}
            heading = without_escapes(arguments_of(rest, " ")) if name in ("SH", "SS") else ""
            blocks += [["." + name, heading]] * (name not in SILENT) + [["", ""]]
        elif inside:
            continue
        elif name in SPACED or name in JOINED:
            blocks[-1][1] += " " + arguments_of(rest, " " if name in SPACED else "")
        elif not line.strip(" \t"):
            blocks.append(["", ""])
        elif not line.startswith("."):
            blocks[-1][1] += " " + line
    blocks = [[request, text if request else without_escapes(text)] for request, text in blocks]
    return [block for block in blocks if block != ["", ""]]


def without_end(blocks, heading):
    """Without the section `heading`, everything after it, and requests at the end."""
    texts = [text for _, text in blocks]
    blocks = blocks[:texts.index(heading)] if heading in texts else blocks[:]
    while blocks and not blocks[-1][1]:
        blocks.pop()
    return blocks


def in_parallel(document, sources, targets):
    """The sentences of blocks of a kind and a text; none if the kinds differ."""
    if [kind for kind, _ in sources] != [kind for kind, _ in targets]:
        return []
    return [pair for (_, source), (_, target) in zip(sources, targets) if source and target for pair in aligned(document, source, target)]


def man_pairs(document, page, translation, heading):
    """The headings and sentences of a man page and of its translation, without the translators' section of this heading."""
    return in_parallel(document, without_end(man_blocks(page), heading), without_end(man_blocks(translation), heading))


class HelpPage(html.parser.HTMLParser):
    """The blocks, [id, text], of the part of a page of LibreOffice's help that is about its topic."""
    BLOCKS = frozenset("p h1 h2 h3 h4 h5 h6 td li th div tr table ul ol body".split())
    HIDDEN = frozenset("script style nav header aside".split())
    VOID = frozenset("area base br col embed hr img input link meta source".split())

    def __init__(self, page):
        super().__init__()
        self.blocks, self.open, self.on_topic = [["", ""]], [], False
        self.feed(page)
        self.close()
        self.blocks = [[name, normalized(text)] for name, text in self.blocks]
        self.blocks = [block for block in self.blocks if block[1]]

    def is_hidden(self):
        return any(hidden for _, hidden in self.open)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        name = attributes.get("id") or ""
        self.on_topic = self.on_topic or name == "DisplayArea"
        if tag == "br":
            self.handle_data(" ")
        if tag in self.VOID:
            return
        other_system = tag == "span" and "hidden" in attributes and not name.startswith("default")
        self.open.append((tag, tag in self.HIDDEN or other_system))
        if tag in self.BLOCKS and not self.is_hidden():
            self.blocks.append([name, ""])

    def handle_endtag(self, tag):
        if tag not in (name for name, _ in self.open):
            return
        while True:
            ended, _ = self.open.pop()
            if ended in self.BLOCKS and not self.is_hidden():
                self.blocks.append(["", ""])
            if ended == tag:
                return

    def handle_data(self, data):
        if self.on_topic and not self.is_hidden():
            self.blocks[-1][1] += data


def help_pairs(document, page, translation):
    """The sentences of a page of LibreOffice's help and of its translation: block by block if both have the same blocks, else those with
    the same id."""
    sources, targets = HelpPage(page).blocks, HelpPage(translation).blocks
    if [name for name, _ in sources] == [name for name, _ in targets]:
        return in_parallel(document, sources, targets)
    texts = dict(targets)
    return [pair for name, text in sources if name and name in texts for pair in aligned(document, text, texts[name])]


def mallard_blocks(page):
    """[element, text] of the titles, descriptions and paragraphs of a page of GNOME's help, without entities that XML does not define."""
    root = xml.etree.ElementTree.fromstring(re.sub(r"&(?!(?:amp|lt|gt|quot|apos);)\w+;", "", page))
    named = [(element.tag.split("}")[-1], element) for element in root.iter()]
    return [[name, normalized("".join(element.itertext()))] for name, element in named if name in ("p", "title", "desc")]


def mallard_pairs(document, page, translation):
    """The sentences of a page of GNOME's help and of its translation."""
    return in_parallel(document, mallard_blocks(page), mallard_blocks(translation))
