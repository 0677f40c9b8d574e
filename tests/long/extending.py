"""Tests that docs/extending.md is true: extending.py <source> [<build> [part...]]

The first word of a section's heading is its part, and tests/long/extending/<part>.patch is the whole edit. The code blocks of the page
must be lines that the patch adds, the files and places (hunks) in the page's table those of the patch, five places at most, and the
patch must apply to <source>.

With <build>, all patches are applied to a copy of the tree there, first without the last file of each part for which the page says
"does not compile" or "does not link": compiler and linker must complain about every such part. Then the whole tree is built, and a small
study and command use the parts. With parts, only these are tried.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

MOST_PLACES = 5
QUICK_BUILD = ("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8")

# How the messages about a forgotten edit name each part.
NAMES = {"mixer": "Shift", "stage": "value_norm", "norm": "l1", "position": "Logarithmic", "router": "CosineRouter", "optimizer": "Signum", "task": "Rotate"}
SIGNS = {"does not compile": "error:", "does not link": "undefined reference"}

ARMS = {
    "mixer": {"model.decoder.attention.kind": "shift"},
    "stage": {"model.attention.value_norm": True},
    "norm": {"model.norm.kind": "l1"},
    "position": {"model.position.kind": "logarithmic"},
    "router": {"model.feed_forward": {"kind": "moe", "d_hidden": 64, "experts": 4, "active": 2, "router": {"kind": "cosine"}}},
    "optimizer": {"training.optimizer.kind": "signum", "training.schedule.peak": 2.0e-3},
}
SIZES = {"symbols": 8, "train_length": [1, 4], "test_length": [4], "examples": {"train": 1000, "validation": 20, "test": 20}}
BASE = {
    "tokenizer": {"kind": "word"},
    "model": {"d_model": 32, "layers": 1, "attention": {"heads": 2}, "feed_forward": {"d_hidden": 64}, "dropout": 0.0},
    "training": {"steps": 500, "tokens_per_batch": 512, "max_length": 16, "label_smoothing": 0.0, "schedule": {"kind": "linear", "peak": 5.0e-3, "warmup": 50}},
    "decoding": {"max_length": 16},
}


def run(*command, where, stdin=None):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], cwd=where, input=stdin, text=True, capture_output=True)
    return done.returncode, done.stdout + done.stderr


def must(*command, where, stdin=None):
    code, output = run(*command, where=where, stdin=stdin)
    if code != 0:
        sys.exit(f"{output[-8000:]}\n{' '.join(map(str, command))} ended with {code}")
    return output


# The page


def sections_of(page):
    """{part: its code blocks}"""
    sections = {}
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        part = section.split()[0].lower()
        sections[part] = re.findall(r"^```cpp\n(.*?)^```", section, re.M | re.S)
    return sections


def rows_of(page):
    """{part: (places of each file, the last column)}"""
    rows = {}
    for part, files, forgotten in re.findall(r"^\| \[(\w+)[^]]*\]\([^)]*\) \| (.*?) \| (.*?) \|$", page, re.M):
        places = {file: int(count or 1) for file, count in re.findall(r"`([^`]+)`(?: \((\d+) places\))?", files)}
        rows[part] = (places, forgotten)
    return rows


def patches_of(folder):
    """{part: {file: its part of the patch}}, the files in the order of the patch"""
    patches = {}
    for patch in sorted(folder.glob("*.patch")):
        files = re.split(r"^(?=--- )", patch.read_text(), flags=re.M)[1:]
        patches[patch.stem] = {re.search(r"^\+\+\+ b/(.*)$", text, re.M)[1]: text for text in files}
    return patches


def stripped(text):
    return "\n" + "".join(line.strip() + "\n" for line in text.splitlines())


def added(patch):
    return stripped("\n".join(line[1:] for line in patch.splitlines() if re.match(r"\+(?!\+\+)", line)))


def problems_of(source, sections, rows, patches):
    if not sections.keys() == rows.keys() == patches.keys():
        yield f"the page has sections on {list(sections)} and rows on {list(rows)}; there are patches of {list(patches)}"
        return
    for part, files in patches.items():
        places = {file: len(re.findall(r"^@@ ", text, re.M)) for file, text in files.items()}
        if list(places.items()) != list(rows[part][0].items()):
            yield f"{part}: the patch changes {places}, and the page says {rows[part][0]}"
        if sum(places.values()) > MOST_PLACES:
            yield f"{part}: more than {MOST_PLACES} places"
        if not sections[part]:
            yield f"{part}: the page shows no code"
        for block in sections[part]:
            if not any(stripped(block) in added(text) for text in files.values()):
                yield f"{part}: the patch does not add\n{block}"
        code, output = run("patch", "-p1", "--forward", "--dry-run", where=source, stdin="".join(files.values()))
        if code != 0:
            yield f"{part}: {output}tests/long/extending/{part}.patch has the lines around its edit as they were: apply it by hand, and write it anew by `git diff`"


# The program


def copy_tree(source, tree):
    shutil.rmtree(tree, ignore_errors=True)
    for name in must("git", "ls-files", where=source).splitlines():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, tree / name)
    for beside in (".venv", ".deps"):
        (tree / beside).symlink_to((source / beside).resolve())


def apply(diffs, tree):
    for diff in diffs:
        must("patch", "-p1", "--forward", "--no-backup-if-mismatch", where=tree, stdin=diff)


def build(tree):
    return run("cmake", "--build", "build", "--target", "ablate", "--", "-k", "0", where=tree)


def build_without(names, sign, tree):
    """The build must fail with a line of this sign about each of `names`."""
    code, output = build(tree)
    complaints = "\n".join(line for line in output.splitlines() if sign in line)
    print(complaints)
    missing = [name for name in names if not re.search(rf"\b{name}\b", complaints)]
    if code == 0 or missing:
        sys.exit(f"{output[-8000:]}\nthe build does not complain about {missing or names}")


def study_of(parts):
    arms = {"plain": {}} | {part: ARMS[part] for part in parts if part in ARMS}
    tasks = {"copy": {"data": {"task": "copy", **SIZES}}}
    if "task" in parts:
        tasks["rotate"] = {"data": {"task": "rotate", **SIZES}}
    metric = "error_rate" if "metric" in parts else "exact_match"
    # Of eight symbols and an end, chance has a perplexity of about 9; the plain model copies without errors.
    expect = [f"{task}: {arm}.perplexity < 3" for task in tasks for arm in arms]
    if "metric" in parts:
        expect.append("copy: plain.error_rate < 0.1")
    return {"name": "extended", "seeds": [1], "base": BASE, "tasks": tasks, "arms": arms,
            "compare": {"baseline": "plain", "metric": metric}, "expect": expect}


def use(parts, tree):
    (tree / "extended.yaml").write_text(json.dumps(study_of(parts)))
    print(must("build/ablate", "run", "extended.yaml", "--output", "runs", where=tree)[-4000:])
    if "verb" in parts:
        printed = must("build/ablate", "paths", "tokens_per_batch", where=tree)
        if printed != "training.tokens_per_batch\n":
            sys.exit(f"ablate paths tokens_per_batch printed {printed!r}")


def main():
    source, more = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    page = (source / "docs/extending.md").read_text()
    rows, patches = rows_of(page), patches_of(source / "tests/long/extending")
    problems = list(problems_of(source, sections_of(page), rows, patches))
    if problems:
        sys.exit("docs/extending.md: " + "\n".join(problems))
    if not more:
        return
    tree = pathlib.Path(more[0]).resolve() / "extending"
    parts = [part for part in patches if part in more[1:] or not more[1:]]
    diffs = {part: list(patches[part].values()) for part in parts}
    copy_tree(source, tree)
    for part in parts:
        apply(diffs[part][:-1] if rows[part][1] in SIGNS else diffs[part], tree)
    must("cmake", "-S", ".", "-B", "build", "-G", "Ninja", *QUICK_BUILD, where=tree)
    for forgotten, sign in SIGNS.items():
        incomplete = [part for part in parts if rows[part][1] == forgotten]
        if incomplete:
            build_without([NAMES[part] for part in incomplete], sign, tree)
        for part in incomplete:
            apply(diffs[part][-1:], tree)
    code, output = build(tree)
    if code != 0:
        sys.exit(output[-8000:])
    use(parts, tree)


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"  # the compiler's messages
    main()
