"""Lists everything that can be given to the program with the code that reads it, and finds what nothing reads: unread.py <source folder> <program> [--list]

  keys      a key of a study is a member that fields() of a struct offers. It is read in the struct, or by its name in a file that
            includes the struct's header; fields() and rules() do not count, nor does a value that is only set. Every key of
            `ablate config docs` is one of these.
  flags     a flag of a verb is read by the verb's callback or by a function that it calls. A mode of a verb (check_mode) names flags that
            the verb has, and refuses all others.
  keywords  a parameter of a function of the Python package is used in the function.

Names are compared, not types: a key is taken for read if another struct's member of that name is.
"""

import ast
import collections
import pathlib
import re
import subprocess
import sys

KEYS = ("experiments/config/", "data/", "models/", "tokenizer/", "training/")
NO_KEYS = ("training/process/", "training/trainer.h")  # records, with fields() of their own
SOURCES = ("data", "experiments", "models", "tokenizer", "training")
TAKEN_BEFORE = ("extends",)  # by study/extends.cpp from values, before there are options
VERBS = "experiments/commands/"
PYTHON = "python/ablate_lab/"

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|("(?:[^"\\\n]|\\.)*")', re.S)
STRUCT = re.compile(r"^struct (\w+)[^;{]*\{\n(.*?)^\};", re.M | re.S)
OFFERED = re.compile(r"^  static void (?:\w*fields|\w*rules)\(.*?^  \}\n", re.M | re.S)
SHARED = re.compile(r"^(?:inline )?void \w*(?:fields|rules?)\(.*?^\}\n", re.M | re.S)
VISIT = re.compile(r'visit\(\s*"(\w+)",\s*o\.([\w.]+)')
KEY_OF_PAGE = re.compile(r"^\| `([a-z_0-9]+)` \|", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
ADDED = re.compile(r'\b(\w+)(?:->|\.)\s*add_(?:option|flag)(?:_function<[^(]*>)?\(\s*"(?:-\w,)?([\w-]+)",\s*(\*?[\w.>-]+)')
CHOICE = re.compile(r'\badd_choice\(\*?(\w+),\s*"(?:-\w,)?([\w-]+)",\s*(\*?[\w.>-]+)')
CALLBACK = re.compile(r"\b(\w+)->callback\(")
HELPER = re.compile(r"\b(add\w*)\(\*?(\w+)")
MODE = re.compile(r"\{(\s*\"(?:--)?\w[\w-]*\"(?:,\s*\"(?:--)?\w[\w-]*\")*\s*)\}")


def without_comments(text):
    return COMMENT.sub(lambda found: found.group(1) or "", text)


def without_strings(text):
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def sources(root):
    """{path below root: text without comments} of the C++ that ships."""
    files = [file for folder in SOURCES for end in ("h", "cpp") for file in (root / folder).rglob(f"*.{end}")]
    return {file.relative_to(root).as_posix(): without_comments(file.read_text(encoding="utf-8")) for file in files}


def closures(tree):
    """{file: all files that it includes, itself among them}"""
    direct = {file: {name for name in INCLUDE.findall(text) if name in tree} for file, text in tree.items()}

    def closure(file):
        known, left = {file}, [file]
        while left:
            for name in direct[left.pop()] - known:
                known.add(name)
                left.append(name)
        return known

    return {file: closure(file) for file in tree}


def reads_of(member):
    """A member that is used, and not only set or initialised; also by a structured binding of its name."""
    return re.compile(rf"(?:\.|->|::){member}\b(?!\s*=[^=])(?!\{{)|auto&* \[[^\]]*\b{member}\b[^\]]*\] [=:]")


def blank(found):
    return "\n" * found.group().count("\n")


def lines_of(file, text, pattern):
    return [f"{file}:{text.count(chr(10), 0, found.start()) + 1}" for found in pattern.finditer(text)]


def keys(tree):
    """(struct, key, places that read it) of every key."""
    includes = closures(tree)
    body = {file: SHARED.sub(blank, OFFERED.sub(blank, without_strings(text))) for file, text in tree.items()}
    index = {file: set(re.findall(r"\w+", text)) for file, text in body.items()}
    for header, text in sorted(tree.items()):
        if not header.startswith(KEYS) or header.startswith(NO_KEYS):
            continue
        shared = [("options that share keys", "".join(SHARED.findall(text)))]
        for name, struct in STRUCT.findall(text) + shared:
            for key, path in [found for offered in OFFERED.findall(struct) + SHARED.findall(struct) for found in VISIT.findall(offered)]:
                member = path.rpartition(".")[2]
                own = "" if SHARED.search(struct) else re.sub(rf"^  [\w:<>, ]+ (?:\w+(?: = [^,;]*)?, )*{member}(?:,.*| = .*| *\{{.*)?;\n", "", OFFERED.sub("", without_strings(struct)), flags=re.M)
                places = [f"{header}: {name}"] if re.search(rf"\b{member}\b", own) else []
                for file, content in body.items():
                    if member in index[file] and header in includes[file]:
                        is_own = re.search(rf"\b{name}::\w+\(", content)  # a function of the struct needs no dot
                        places += lines_of(file, content, re.compile(rf"\b{member}\b") if is_own else reads_of(member))
                yield name, key, places


def block_after(text, start):
    """The text from an opening bracket at or behind `start` to the one that closes it."""
    depth, begin = 0, None
    for at in range(start, len(text)):
        if text[at] in "({[":
            begin = at if begin is None else begin
            depth += 1
        elif text[at] in ")}]":
            depth -= 1
            if depth == 0:
                return text[begin:at + 1]
    return text[start:]


class Definition:
    """A function or a class at the beginning of a line."""

    def __init__(self, head, body):
        self.head, self.body = head, body
        kind = re.match(r"(?:template <[^>]*>\s*)?(?:class|struct|enum class) (\w+)", head)
        self.is_type = kind is not None
        name = kind or re.search(r"(\w+)\(", head)
        self.name = name.group(1) if name else ""


def definitions_of(text):
    """All of a file that clang-format has laid out: each ends with a bracket at the beginning of a line, or is one line."""
    lines, head = text.split("\n"), []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line or re.match(r"[#}]|namespace|using", line):
            head = []
            continue
        head.append(line)
        if line.endswith("{"):
            end = next(i for i in range(at, len(lines)) if lines[i].startswith("}"))
            yield Definition("\n".join(head), "\n".join(lines[at:end]))
            head, at = [], end + 1
        elif line.endswith(("}", ";")):
            yield Definition(line, "\n".join(head))
            head = []


def functions_of(text):
    """{name: bodies of the functions and classes of that name}"""
    bodies = collections.defaultdict(str)
    for definition in definitions_of(text):
        bodies[definition.name] += definition.body + "\n"
    return bodies


def called_from(body, functions):
    """`body` and the bodies of all that it calls or makes."""
    known, text, left = set(), body, [body]
    while left:
        for name in set(re.findall(r"\b\w+\b", left.pop())) & functions.keys() - known:
            known.add(name)
            if not name.startswith("add"):
                text += functions[name]
                left.append(functions[name])
    return text


def flags_on(verb, body, functions, text):
    """(flag, what it fills) of the variable `verb`, also by the functions of the file that get it."""
    for owner, flag, slot in (*ADDED.findall(body), *CHOICE.findall(body)):
        if owner == verb:
            yield flag, slot
    for helper, argument in HELPER.findall(body):
        parameter = re.search(rf"^\S.*\b{helper}\(CLI::App& (\w+)", text, re.M)
        if argument == verb and parameter:
            yield from flags_on(parameter.group(1), functions[helper], functions, text)


def is_read(slot, text, elsewhere, own):
    """Whether `text`, what a callback calls, reads the slot, or hands on the whole that it is a part of."""
    root, *parts = re.split(r"->|\.", slot.lstrip("*"))
    if not parts:
        return re.search(rf"\*{root}\b|\b{root}(?:->|\.)", text) is not None
    if re.search(reads_of(parts[0]), text):
        return len(parts) == 1 or parts[-1] in elsewhere
    return parts[0] not in own and parts[-1] in elsewhere and re.search(rf"\b{root}\b", text) is not None


def flags(tree):
    """(verb's function, flag, whether it is read) of every flag."""
    everywhere = {file: without_strings(text) for file, text in tree.items()}
    for file, text in sorted(tree.items()):
        if not file.startswith(VERBS) or not file.endswith(".cpp"):
            continue
        elsewhere = {name for other, content in everywhere.items() if other != file for name in re.findall(r"(?:\.|->)(\w+)", content)}
        elsewhere |= set(re.findall(r"(?:\.|->)(\w+)", re.sub(r"^(?:void|CLI::App\*) add\w*\(.*?^\}", "", everywhere[file], flags=re.M | re.S)))
        functions = functions_of(text)
        types = "".join(one.body for one in definitions_of(text) if one.is_type)
        own = set(re.findall(r"\b(\w+)(?: = [^;]*|\{[^;]*)?[;,]", types))
        for name, body in list(functions.items()):
            for callback in CALLBACK.finditer(body):
                block = block_after(body, callback.end() - 1)
                reached = called_from(block, functions)
                for flag, slot in flags_on(callback.group(1), body, functions, text):
                    yield f"{file} {name} {callback.group(1)}", flag, is_read(slot, reached, elsewhere, own)


def modes(tree):
    """(file, flag) of every flag that a mode names and the file does not have."""
    for file, text in sorted(tree.items()):
        if not file.startswith(VERBS) or file == VERBS + "flags.cpp" or "check_mode(" not in text:
            continue
        known = {flag for _, flag, _ in (*ADDED.findall(text + tree.get(VERBS + "flags.cpp", "")), *CHOICE.findall(text))}
        for names in MODE.findall(text):
            for name in re.findall(r'"([^"]+)"', names):
                if '"--' in names and name not in known:
                    yield file, name


def keywords(package):
    """(function, parameter, whether it is used) of the Python package, {file: text}."""
    for file, text in sorted(package.items()):
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            used = {name.id for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)}
            given = node.args
            for argument in [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]:
                yield f"{file} {node.name}", argument.arg, argument.arg in used | {"self", "cls"}


def problems(tree, package, page="", listed=False):
    known = {"changes"}  # a list that layer_changes.cpp takes apart before there are options
    for struct, key, places in keys(tree):
        known.add(key)
        if listed:
            print(f"{struct} {key}: {', '.join(places) or 'nothing'}")
        if not places and key not in TAKEN_BEFORE:
            yield f"{struct}: nothing reads the key {key}"
    for key in sorted(set(KEY_OF_PAGE.findall(page.partition("\n## Metrics")[0])) - known):
        yield f"ablate config docs: no struct offers the key {key}"
    for verb, flag, read in flags(tree):
        if listed:
            print(f"{verb} {flag}: {'read' if read else 'nothing'}")
        if not read:
            yield f"{verb}: nothing reads {flag}"
    for file, flag in modes(tree):
        yield f"{file}: a mode names {flag}, which no verb there has"
    for function, name, used in keywords(package):
        if listed:
            print(f"{function} {name}: {'used' if used else 'nothing'}")
        if not used:
            yield f"{function}: nothing uses {name}"


def main():
    root = pathlib.Path(sys.argv[1])
    package = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in (root / PYTHON).rglob("*.py")}
    page = subprocess.run([sys.argv[2], "config", "docs"], capture_output=True, text=True, check=True).stdout
    found = list(problems(sources(root), package, page, "--list" in sys.argv))
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
