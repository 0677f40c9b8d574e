"""For each file named: what a browser's HTML parser makes of it, without its words.

Prints one line of JSON a file: elements and attribute names in their order as one digest, the
elements and attribute names that occur, whether it is well-formed XML too, every href, and h1's text.
Needs html5lib 1.1 (Debian: python3-html5lib).
"""

import hashlib
import json
import sys
import xml.etree.ElementTree as xml

import html5lib


def name(node):
    return node.tag.split("}")[-1] if isinstance(node.tag, str) else "#comment"


def skeleton(root):
    for node in root.iter():
        if name(node) == "wbr":  # where a key may be broken: its number depends on the key's dots
            continue
        yield name(node), sorted(key.split("}")[-1] for key in node.attrib), len([child for child in node if name(child) != "wbr"])


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        data = file.read()
    parser = html5lib.HTMLParser(strict=False)
    root = parser.parse(data, transport_encoding="utf-8")
    try:
        xml.fromstring(data)
        problem = ""
    except xml.ParseError as error:
        problem = str(error)
    nodes = list(skeleton(root))
    print(json.dumps({
        "skeleton": hashlib.sha256(repr(nodes).encode()).hexdigest(),
        "elements": sorted({node[0] for node in nodes}),
        "attributes": sorted({key for node in nodes for key in node[1]}),
        "references": sorted({value[:22] for node in root.iter() for key, value in node.attrib.items()
                              if key.split("}")[-1] in ("href", "src", "action", "style")}),
        "xml": problem,
        "html": sorted({error[1] for error in parser.errors}),
        "h1": "".join(next(node for node in root.iter() if name(node) == "h1").itertext()),
    }))
