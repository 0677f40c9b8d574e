"""Tests that the source tree is built in layers: layering.py <source folder>

Every rule reads the #include lines of the shipped sources.

  order     the top folders stand in the order of ORDER; a file includes its own folder and those before it.
  rooms     a file of a room of experiments/ includes its own room and those that ROOMS names for it.
  namespace a file of a room is in the namespace that is called after the room.
  cycles    at every depth: no sub-folder, taken as one, includes a file beside it or another sub-folder that includes it,
            directly or by way of others.
  torch     no file of a library of TORCH_FREE, nor any option header, reaches LibTorch's headers, directly or not.
  seam      only a folder of SEAMS includes what stands behind the seam.
  backend   in models/, only what BACKENDS names asks a tensor for its device, or a pass whether it is recorded or traced.
  aliasing  in models/kernel/, a pointer becomes one to bytes, to a vector type that may alias, or to a struct of OWN_MEMORY;
            anything else would be read as a type that it was not written as, which compilers take for impossible.
  spelling  what files and folders of studies and runs are called stands in FOLDERS alone.
  names     no two files of one library give the same name to something in an anonymous namespace: a unity build, which
            merges the files, would otherwise compile another program than a build file by file.
"""

import pathlib
import re
import sys

ORDER = ["options", "tokenizer", "data", "models", "training", "experiments"]
MAY_NOT = {"models": ["tokenizer", "data"]}  # models know ids, not text
# room of experiments/: the rooms that it may include
ROOMS = {
    "config": [],
    "records": ["config"],
    "analysis/statistics": [],
    "analysis": ["analysis/statistics", "config", "records"],
    "report": ["analysis", "analysis/statistics", "config", "records"],
    "schedule": ["config", "records"],
    "run": ["config", "records"],
    "exchange/format": ["config", "records"],
    "exchange": ["config", "exchange/format", "records", "run"],
    "commands": ["analysis", "analysis/statistics", "config", "exchange", "records", "report", "run", "schedule"],
}
# One library, one unity build; the longest folder that holds a file is its library.
LIBRARIES = ["options", "tokenizer", "tokenizer/text", "tokenizer/huggingface", "data", "models/options", "models", "models/kernel", "training/storage", "training/process",
             "training/metrics", "training/tensorboard", "training/checkpoint/format", "training"] + ["experiments/" + room for room in ROOMS] + ["experiments"]
TORCH_FREE = ["options", "tokenizer", "tokenizer/text", "tokenizer/huggingface", "data", "models/options", "models/kernel", "training/storage", "training/process", "training/metrics",
              "training/tensorboard", "training/checkpoint/format"] + [
    "experiments/" + room for room in ROOMS if room not in ("run", "exchange", "commands")]
SEAMS = {"models/kernel": "models/ops"}  # what stands behind the seam: the folder that may include it
FOLDERS = "experiments/records/folders"  # .h and .cpp
SPELLS_ITS_OWN = ["experiments/commands/init.cpp"]  # the user's study, which a frozen one is called after
# Ops choose a back end; weights are drawn on a CPU and copied, each device has a generator of its own, and an inference
# model packs on a CPU and casts elsewhere. A copy of a model freezes what the model does.
BACKENDS = ["models/ops/", "models/kernel/", "models/initialization.cpp", "models/generator.cpp", "models/inference/inference_model.cpp",
            "models/transformer_flops.cpp"]
# Structs that kernels keep in memory of bytes: what they write there as one of its members, they read as that member. Bytes
# may be of any type; for GCC and clang int8_t, a signed char, is one of theirs.
OWN_MEMORY = ["Int8Panel"]
BYTES = ["char", "int8_t", "uint8_t", "std::byte"]

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
TORCH = re.compile(r"^#include <(torch|ATen|c10)/", re.M)
ASKS = re.compile(r"\b(is_(?:cpu|cuda)|device(?:\(\))?\.type|GradMode|requires_grad|is_?[tT]racing|infers_on_cpu|trains_on_cpu|has_cpu_type)\(?")


def sources(root):
    """{path below root: text} of every shipped header and source."""
    files = {}
    for top in ORDER:
        for file in sorted((root / top).rglob("*")):
            if file.suffix in (".h", ".cpp"):
                files[file.relative_to(root).as_posix()] = file.read_text(encoding="utf-8")
    return files


def includes_of(files):
    """{path: paths of the files that it includes from this tree}"""
    return {path: [name for name in INCLUDE.findall(text) if name in files] for path, text in files.items()}


def order_problems(includes):
    for path, names in includes.items():
        top = path.split("/")[0]
        allowed = set(ORDER[: ORDER.index(top) + 1]) - set(MAY_NOT.get(top, []))
        for name in names:
            if name.split("/")[0] not in allowed:
                yield f"{path}: {top}/ must not include {name}"


def library_of(path):
    return max((library for library in LIBRARIES if path.startswith(library + "/")), key=len)


def room_of(path):
    """Which of ROOMS a file is in; None elsewhere."""
    library = library_of(path)
    return library.removeprefix("experiments/") if library.startswith("experiments/") else None


def room_problems(includes):
    for path, names in includes.items():
        room = room_of(path)
        for name in names:
            there = room_of(name)
            if room and there and there != room and there not in ROOMS[room]:
                yield f"{path}: experiments/{room}/ must not include {name}"


def namespace_problems(files):
    for path, text in files.items():
        room = room_of(path)
        name = room and {"analysis/statistics": "statistics", "exchange/format": "exchange"}.get(room, room)
        if room and not re.search(rf"^namespace ablate::{name} {{$", text, re.M):
            yield f"{path}: what stands in experiments/{room}/ belongs to namespace ablate::{name}"


def node_in(folder, path):
    """What a path is inside a folder: a sub-folder ("position/") or a file ("layer.h"); None outside."""
    prefix = folder + "/"
    if not path.startswith(prefix):
        return None
    first, _, rest = path[len(prefix):].partition("/")
    return first + "/" if rest else first


def strong_components(graph):
    """Tarjan's strongly connected components of {node: {node: evidence}}, those of one node left out."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for after in graph.get(node, {}):
            if after not in index:
                visit(after)
                low[node] = min(low[node], low[after])
            elif after in stack:
                low[node] = min(low[node], index[after])
        if low[node] == index[node]:
            component = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(component) > 1:
                found.append(sorted(component))

    for node in list(graph):
        if node not in index:
            visit(node)
    return found


def cycle_problems(includes):
    folders = {"/".join(path.split("/")[:depth]) for path in includes for depth in range(1, path.count("/") + 1)}
    for folder in sorted(folders):
        graph = {}
        for path, names in includes.items():
            here = node_in(folder, path)
            for name in names:
                there = node_in(folder, name)
                if here and there and here != there:
                    graph.setdefault(here, {}).setdefault(there, f"{path} includes {name}")
        for component in strong_components(graph):
            if not any(node.endswith("/") for node in component):
                continue
            lines = [f"{folder}/: a cycle of {', '.join(component)}"]
            lines += [f"    {graph[a][b]}" for a in component for b in component if b in graph.get(a, {})]
            yield "\n".join(lines)


def torch_problems(files, includes):
    reaches = {path for path, text in files.items() if TORCH.search(text)}
    while True:
        more = {path for path, names in includes.items() if reaches.intersection(names)} - reaches
        if not more:
            break
        reaches |= more
    for path in sorted(reaches):
        if path.endswith("_options.h") or library_of(path) in TORCH_FREE:
            yield f"{path}: must not include LibTorch, directly or through another header"


def seam_problems(includes):
    for path, names in includes.items():
        for name in names:
            for behind, allowed in SEAMS.items():
                if name.startswith(behind + "/") and not any(path.startswith(room + "/") for room in (behind, allowed)):
                    yield f"{path}: only {allowed}/ may include {name}"


def literals(text):
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r"^#include .*$|//.*$", "", text, flags=re.M))


def spelling_problems(files):
    spelt = [part for path, text in files.items() if path.startswith(FOLDERS) for literal in literals(text) for part in re.split(r"\{\}|/", literal)]
    names = {part for part in spelt if len(part) > 4 and not part.startswith(".")}  # a whole name, or how one begins
    for path, text in files.items():
        if path.startswith(FOLDERS) or path in SPELLS_ITS_OWN:
            continue
        for literal in literals(text):
            if literal in names or any(name.endswith("-") and literal.startswith(name) for name in names):
                yield f"{path}: only {FOLDERS} may spell \"{literal}\""


def backend_problems(files):
    for path, text in files.items():
        if path.startswith("models/") and not any(path.startswith(place) for place in BACKENDS):
            for asked in sorted(set(ASKS.findall(text))):
                yield f"{path}: only models/ops/ may ask for {asked}"


CAST = re.compile(r"(?:reinterpret|static)_cast<(?:const )?([\w:]+) ?(?:const ?)?[*&]+>|\((?:const )?([\w:]+) ?(?:const ?)?[*&]+\) ?[\w(&]")
INTRINSICS = {"__m128i", "__m256i", "__m512i"}  # which GCC lets alias all memory
MAY_ALIAS = re.compile(r"using (\w+) = [^;]*\bmay_alias\b")


def aliasing_problems(files):
    kernels = {path: re.sub(r"//.*$", "", text, flags=re.M) for path, text in files.items() if path.startswith("models/kernel/")}
    allowed = {*OWN_MEMORY, *BYTES, *INTRINSICS, *(name for text in kernels.values() for name in MAY_ALIAS.findall(text))}
    for path, text in kernels.items():
        for named, in_c in sorted(set(CAST.findall(text))):
            if (named or in_c) not in allowed:
                yield f"{path}: a pointer is cast to one to {named or in_c}; copy the bytes with std::memcpy or std::bit_cast"


TYPE = re.compile(r"(?:template <.*?> ?)?(?:(?:struct|class|enum class) (\w+)\b(?! ?;)|using (\w+) =)")
FUNCTION = re.compile(r"(?:template <.*?> ?)?(?:\[\[\w+\]\] )?[\w:][\w:<>,*& ]*?[ *&](\w+)\(")
VALUE = re.compile(r"(?!class|struct)[\w:][\w:<>,*& ]*?[ *&](\w+)(?:\[\w*\])?(?: =|\{|;)")


def hidden_names(text):
    """Names of a file's anonymous namespaces and static functions, each with the namespaces around it."""
    text = re.sub(r"^(template <.*>)\n", r"\1 ", text, flags=re.M)
    around = []
    for line in text.split("\n"):
        if opened := re.match(r"namespace(?: ([\w:]+))? \{$", line):
            around.append(opened[1] or "")
        elif line.startswith("}  // namespace"):
            around.pop()
        elif ("" in around or line.startswith("static ")) and re.match(r"\w|\[\[", line):
            if found := TYPE.match(line) or FUNCTION.match(line) or VALUE.match(line):
                yield "::".join(around), found[found.lastindex]


def name_problems(files):
    owners = {}
    for path, text in files.items():
        if not path.endswith(".cpp"):
            continue
        library = library_of(path)
        for around, name in set(hidden_names(text)):
            owners.setdefault((library, around, name), []).append(path)
    for (library, _, name), paths in sorted(owners.items()):
        if len(paths) > 1:
            yield f"{library}/: '{name}' is an anonymous name of {', '.join(sorted(paths))}"


def problems_of(files):
    includes = includes_of(files)
    yield from order_problems(includes)
    yield from room_problems(includes)
    yield from namespace_problems(files)
    yield from cycle_problems(includes)
    yield from torch_problems(files, includes)
    yield from seam_problems(includes)
    yield from backend_problems(files)
    yield from aliasing_problems(files)
    yield from spelling_problems(files)
    yield from name_problems(files)


def main():
    found = list(problems_of(sources(pathlib.Path(sys.argv[1]))))
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
