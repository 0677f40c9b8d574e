"""Installs the wheel into other systems: install_test.py --work FOLDER (--wheel FILE | --sdist FILE) [SUITE...]

Makes a minimal Debian of each suite in FOLDER/<suite> by debootstrap, unless it is there, installs the wheel into a fresh
environment of its Python, with torch from PyPI, and runs checks.py there. A suite with an older glibc than the wheel's name says is left out. An archive of the source is first built there into a wheel,
with the libraries of .deps/vendor; the warnings of that compiler are counted. Takes root, a network and per suite 7 GB of disk.
"""

import argparse
import pathlib
import re
import shutil
import sys

from roots import Root, why_impossible

COMPILER = ["g++", "make", "git"]
# torch needs Python 3.10, and bullseye has 3.9: there a later one is built from Debian's source of it, as a cluster has it as a module.
# Relative to the mirror that debootstrap chose for the root.
PYTHON_SOURCE = "pool/main/p/python3.11/python3.11_3.11.2.orig.tar.gz"
PYTHON_SHA256 = "2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849"
PYTHON_NEEDS = ["g++", "make", "wget", "zlib1g-dev", "libssl-dev", "libffi-dev", "libbz2-dev", "liblzma-dev"]
BUILD_PYTHON = f"""cd /tmp && wget -q "$(awk '/^deb /{{ print $2; exit }}' /etc/apt/sources.list)/{PYTHON_SOURCE}" -O python.tar.gz && echo '{PYTHON_SHA256}  python.tar.gz' | sha256sum -c --quiet
rm -rf python && mkdir python && tar -xf python.tar.gz -C python --strip-components 1 && cd python
./configure --prefix=/opt/python >/dev/null && make -s -j"$(nproc)" >/dev/null 2>&1 && make -s install >/dev/null 2>&1"""
SUITES = ["bullseye", "bookworm", "trixie"]


class Debian(Root):
    def takes(self, wheel):
        """Whether its glibc is as new as the wheel's name says."""
        super().prepare()
        found, wanted = (int(re.search(r"2[._](\d+)", text)[1]) for text in (self.run("getconf GNU_LIBC_VERSION"), wheel.name.split("manylinux_")[1]))
        if found < wanted:
            print(f"{self.suite}: left out: glibc 2.{found} is older than the wheel's 2.{wanted}; SOURCE=1 builds one there", flush=True)
        return found >= wanted

    def prepare(self):
        super().prepare()
        if not (self.root / self.python.lstrip("/")).exists():
            self.install(*PYTHON_NEEDS)
            self.run(BUILD_PYTHON)

    def build(self, sdist):
        """A wheel made from the source archive, by the compiler of the suite; its place on this machine."""
        shutil.copy(sdist, self.root / "tmp")
        self.install(*COMPILER)
        output = self.run(f"""rm -rf /tmp/build && {self.python} -m venv /tmp/build && cd /tmp/build
            export ABLATE_VENDOR=/source/.deps/vendor
            bin/pip install --quiet --upgrade pip && bin/pip wheel --no-deps --verbose --wheel-dir out /tmp/{sdist.name}""")
        warnings = sorted({line for line in output.splitlines() if ": warning: " in line})
        print(f"{self.suite}: built from source with {self.run('g++ --version').splitlines()[0]}, {len(warnings)} warnings", *warnings,
              sep="\n  ", flush=True)
        return next((self.root / "tmp/build/out").glob("*.whl"))

    def check(self, wheel):
        shutil.copy(wheel, self.root / "tmp")
        facts = self.run(f"cat /etc/debian_version; ldd --version | sed -n 1p; {self.python} --version").split("\n")
        print(f"{self.suite}: {', '.join(filter(None, facts))}: {wheel.name}", flush=True)
        print(self.run(f"""rm -rf /opt/try && {self.python} -m venv /opt/try && mkdir /opt/try/work && cd /opt/try/work
            ../bin/pip install --quiet --upgrade pip && ../bin/pip install --quiet '/tmp/{wheel.name}[translate]'
            ../bin/pip freeze | grep -E '^(torch|ablate)' && ../bin/python /source/tests/install/checks.py .; rm -rf /opt/try"""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--wheel", type=pathlib.Path)
    what.add_argument("--sdist", type=pathlib.Path)
    parser.add_argument("suites", nargs="*", default=SUITES)
    options = parser.parse_args()
    reason = why_impossible(options.suites)
    if reason:
        sys.exit(reason)
    for suite in options.suites:
        debian = Debian(options.work.resolve(), suite)
        if options.wheel and not debian.takes(options.wheel):
            continue
        debian.prepare()
        debian.check(options.wheel.resolve() if options.wheel else debian.build(options.sdist.resolve()))


if __name__ == "__main__":
    main()
