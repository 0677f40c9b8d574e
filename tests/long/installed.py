"""Tests what `cmake --install` writes: installed.py <source> <build>

Installs <build> into a temporary folder, builds bench/consumer/library with the package there and runs it, and runs the
installed program in a working folder that has nothing to do with the sources.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, where, **environment):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], cwd=where, env={**os.environ, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def must(*command, where):
    code, output = run(*command, where=where)
    if code != 0:
        sys.exit(f"{output[-4000:]}\n{' '.join(map(str, command))} ended with {code}")
    return output


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}:\n{found}\ninstead of\n{expected}")


def check_program(source, prefix, elsewhere):
    program, studies = prefix / "bin/ablate", prefix / "share/ablate/experiments/studies"
    shipped = sorted(path.name for path in (source / "experiments/studies").glob("*.yaml"))
    listed = [line.split("\t")[0] for line in must(program, "run", "--list", where=elsewhere).splitlines()]
    same("ablate run --list", listed, [str(studies / name) for name in shipped])
    must(program, "data", "fetch", "--list", where=elsewhere)
    for name in shipped:
        must(program, "config", "show", studies / name, where=elsewhere)
        schema = re.match(r"# yaml-language-server: \$schema=(.*)", (studies / name).read_text())[1]
        if not (studies / schema).is_file():
            sys.exit(f"{name}: its $schema {schema} leads nowhere")


def parameters():
    """Of the model in bench/consumer/library/forward.cpp, which has no biases."""
    vocabulary, width, hidden, layers, heads, key_value_heads = 100, 64, 128, 2, 4, 2
    attention = 2 * width * width + 2 * width * (width // heads * key_value_heads)
    feed_forward, norms = 2 * width * hidden, 2 * width
    return vocabulary * width + layers * (attention + feed_forward + norms) + width


def check_refusals(configure, elsewhere):
    """An empty folder is no LibTorch, and one that is too old or of another version does not fit."""
    torch = elsewhere / "torch"
    header = torch / "include/torch/headeronly/version.h"
    header.parent.mkdir(parents=True)
    for version, words in ((None, "There is no LibTorch in"), ((1, 2, 3), "is older than"), ((9, 8, 7), "holds 9.8.7")):
        if version:
            (torch / "lib").mkdir(exist_ok=True)
            (torch / "lib/libtorch.so").touch()
            header.write_text("".join(f"#define TORCH_VERSION_{part} {number}\n" for part, number in zip(("MAJOR", "MINOR", "PATCH"), version)))
        code, output = run(*configure, where=elsewhere, TORCH_ROOT=str(torch))
        if code == 0 or words not in " ".join(output.split()) or str(torch) not in output:
            sys.exit(f"refused with '{words}' expected:\n{output}")


def check_package(source, prefix, elsewhere):
    configure = ("cmake", "-S", source / "bench/consumer/library", "-B", "out", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_PREFIX_PATH={prefix}")
    check_refusals(configure, elsewhere)
    must(*configure, where=elsewhere)
    must("cmake", "--build", "out", where=elsewhere)
    same("forward", must("out/forward", where=elsewhere),
         f"logits [2, 7, 100], finite: true, parameters: {parameters()}\n")


def main():
    source, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        prefix, elsewhere = pathlib.Path(folder).resolve() / "prefix", pathlib.Path(folder).resolve() / "elsewhere"
        elsewhere.mkdir()
        must("cmake", "--install", build, "--prefix", prefix, where=elsewhere)
        check_program(source, prefix, elsewhere)
        check_package(source, prefix, elsewhere)


if __name__ == "__main__":
    main()
