#!/usr/bin/env python3
"""Lists the parts of the program with versions and licences: licences.py PROGRAM [--json FILE]

Shared libraries are read off the program. What cmake/vendor.txt lists was built from its archive if that is unpacked beside the program,
and else comes from a package. Debian's packages state their licences in /usr/share/doc, LibTorch and what is built into it in its wheel. FILE gets the same as a
bill of materials in CycloneDX's format (https://cyclonedx.org, version 1.5).
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

PACKAGES = {"cli11": ("libcli11-dev", "headers"), "nlohmann_json": ("nlohmann-json3-dev", "headers"),
            "protozero": ("libprotozero-dev", "headers"), "yaml-cpp": ("libyaml-cpp-dev", "linked statically"),
            "utf8proc": ("libutf8proc-dev", "linked statically")}
IN_SENTENCEPIECE = {"abseil": "Apache-2.0", "darts-clone": "BSD-2-Clause", "esaxx": "MIT",
                    "protobuf-lite": "BSD-3-Clause"}  # sources bundled with it


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def debian_licence(package):
    """The licence of most of the package's files, as its copyright file names it."""
    path = pathlib.Path("/usr/share/doc") / package / "copyright"
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    for paragraph in re.split(r"\n\s*\n", text):
        if re.search(r"^Files:\s*\*\s*$", paragraph, re.M):
            found = re.search(r"^License:\s*(\S.*)$", paragraph, re.M)
            if found:
                return found[1].strip()
    found = re.search(r"^License:\s*(\S.*)$", text, re.M)
    return found[1].strip() if found else f"see {path}"


def debian_component(package, use):
    version, source = output_of("dpkg-query", "-W", "-f", "${Version}\t${source:Package}", package).split("\t")
    return {"name": package, "version": version, "source": source, "licence": debian_licence(package), "use": use}


def owner_of(library):
    """The Debian package of a library's file; None if it belongs to none."""
    for path in (library, library.resolve(), pathlib.Path("/usr") / library.relative_to("/")):
        done = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return None


def linked_libraries(program):
    return [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", output_of("ldd", str(program)))]


def torch_components(library):
    """LibTorch, and the parts that its wheel lists."""
    packages = next(parent for parent in library.parents if parent.name == "torch").parent
    info = next(packages.glob("torch-*.dist-info"))
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    version = re.search(r"^Version: (.*)$", metadata, re.M)[1]
    licence = re.search(r"^License(?:-Expression)?: (.*)$", metadata, re.M)
    parts = sorted(path.name for path in (info / "licenses" / "third_party").glob("*"))
    yield {"name": "torch", "version": version, "licence": licence[1] if licence else "BSD-3-Clause", "use": "linked"}
    for part in parts:
        yield {"name": part, "version": f"in torch {version}", "licence": f"see {info.name}/licenses/third_party/{part}", "use": "within torch"}


def vendored_components(program):
    for line in (pathlib.Path(__file__).parent / "vendor.txt").read_text().splitlines():
        name, licence, _, _, archive = line.split() if not line.startswith("#") else [None] * 5
        package, use = PACKAGES.get(name, (None, "linked statically"))
        if name and name != "googletest" and (program.parent / "vendor" / archive).exists():
            version = re.search(r"\d+\.[\d.]*\d", archive)[0]
            yield {"name": name, "version": version, "licence": licence, "use": use}
            if name == "sentencepiece":
                yield from ({"name": part, "version": f"in sentencepiece {version}", "licence": own, "use": use}
                            for part, own in IN_SENTENCEPIECE.items())
        elif package:
            yield debian_component(package, use)


def components(program):
    shared = linked_libraries(program)
    packages = {owner_of(path) for path in shared if "torch" not in path.parts} - {None}
    yield from (debian_component(package, "linked") for package in sorted(packages))
    yield from vendored_components(program)
    yield from torch_components(next(path for path in shared if path.name == "libtorch_cpu.so"))


def bill_of_materials(found):
    """CycloneDX 1.5."""
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "components": [{"type": "library", "name": one["name"], "version": one["version"],
                            "licenses": [{"license": {"name": one["licence"]}}],
                            "properties": [{"name": "ablate:use", "value": one["use"]}]} for one in found]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    found = list(components(options.program))
    width = max(len(one["name"]) for one in found)
    for one in found:
        print(f"{one['name']:{width}}  {one['version']:32}  {one['use']:27}  {one['licence']}")
    if options.json:
        options.json.write_text(json.dumps(bill_of_materials(found), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
