"""Compares the size of each room with its budget: budget.py <source folder>

docs/budget.txt has a line for each room: its folder, its budget and, in the folder's own words, why it is as large as it is. A file belongs
to the longest folder that holds it. Lines are counted in what git tracks: of C++ and Python where they are shipped, of everything that is
code in tests, and words in documents written by hand, in templates outside of their tags. Prints what is used of each budget, and ends
with 1 if a room has outgrown its own, or if files lie in no room.
"""

import pathlib
import re
import subprocess
import sys

BUDGETS = "docs/budget.txt"
CODE = (".h", ".cpp", ".py")
TEST_CODE = (*CODE, ".c", ".sh")
TEXT = (".md", ".md.jinja")
GENERATED = ("docs/results/release_check.md",)  # by cmake/release_check.py
TAGS = re.compile(r"\{[{%#].*?[}%#]\}", re.S)  # of templates


def read_budgets(text):
    """{room: budget}"""
    lines = [line.split(maxsplit=2) for line in text.splitlines() if line and not line.startswith("#")]
    return {room: int(budget) for room, budget, *_ in lines}


def measure(file, text):
    """What a file adds to its room."""
    if file in GENERATED:
        return 0
    if file.endswith(TEXT):
        return len((TAGS.sub("", text) if file.endswith(".jinja") else text).split())
    counted = TEST_CODE if file.startswith("tests/") else CODE
    return text.count("\n") if file.endswith(counted) else 0


def room_of(file, rooms):
    """The longest folder that holds the file; documents are one room wherever they lie. None if there is none."""
    if file.endswith(TEXT):
        return "documents"
    return max((room for room in rooms if file.startswith(f"{room}/")), key=len, default=None)


def use(files, rooms):
    """({room: size}, files that are code and lie in no room)"""
    sizes, homeless = dict.fromkeys(rooms, 0), []
    for file, text in files.items():
        size, room = measure(file, text), room_of(file, rooms)
        if room in sizes:
            sizes[room] += size
        elif size:
            homeless.append(file)
    return sizes, homeless


def tracked(source):
    """{path: text} of everything that is counted."""
    names = subprocess.run(["git", "-C", source, "ls-files"], text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    wanted = [name for name in names if name.endswith((*TEST_CODE, *TEXT)) and (source / name).is_file()]
    return {name: (source / name).read_text() for name in wanted}


def main():
    source = pathlib.Path(sys.argv[1])
    budgets = read_budgets((source / BUDGETS).read_text())
    sizes, homeless = use(tracked(source), budgets)
    outgrown = [room for room, size in sizes.items() if size > budgets[room]]
    for room, size in sizes.items():
        print(f"{room:32} {size:6} of {budgets[room]:6} {size - budgets[room]:+6}{'  outgrown' * (room in outgrown)}")
    shipped = [size for room, size in sizes.items() if room not in ("tests", "documents")]
    print(f"{'shipped':32} {sum(shipped):6}")
    if outgrown:
        print(f"{', '.join(outgrown)}: more than {BUDGETS} allows; take something away, or raise the budget in the same commit with the reason")
    if homeless:
        print(f"in no room of {BUDGETS}: {', '.join(homeless)}")
    sys.exit(bool(outgrown or homeless))


if __name__ == "__main__":
    main()
