"""Tests what cmake/setup.sh says where an index of packages is away, a package is missing, or the disk is full: setup_test.py <source>

The script runs in a copy, with a Debian that has all packages, and with a pip that says what pip says and installs nothing. Also the
number of compilers that cmake/jobs.cmake allows.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()

# Fails as pip does where the arguments name an index that is away.
PYTHON = """#!/bin/sh
case "$* " in
  *"{away}"*)
    for left in 4 3 2 1 0; do echo "WARNING: Retrying (Retry(total=$left, connect=None)) after connection broken" >&2; done
    echo "ERROR: No matching distribution found for torch" >&2
    exit 1 ;;
esac
"""


class Setup(unittest.TestCase):
    def said(self, away="nothing is away", tools=None, archives=("sentencepiece",), **environment):
        """The exit code of the setup without the index that pip reaches by `away`, and the lines it writes. The shell scripts `tools`
        stand in for commands; the vendor folder holds `archives`."""
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            shutil.copytree(SOURCE / "cmake", tree / "cmake")
            for line in (tree / "cmake/vendor.txt").read_text().splitlines():
                if line.split()[0] in archives:
                    self.write(tree / ".deps/vendor" / line.split()[4], "")
            self.write(tree / ".venv/bin/python", PYTHON.replace("{away}", away))
            for name, text in ({"dpkg-query": "echo install ok installed"} | (tools or {})).items():
                self.write(tree / "tools" / name, f"#!/bin/sh\n{text}\n")
            done = subprocess.run([tree / "cmake/setup.sh"], text=True, capture_output=True,
                                  env={**os.environ, "PATH": f"{tree}/tools:{os.environ['PATH']}", "TORCH_BUILD": "cpu", "TORCH_ROOT": "", "TORCH": "",
                                       "TORCH_VERSION": "", "ABLATE_VENDOR": "", "CXX": ""} | environment)
            return done.returncode, (done.stdout + done.stderr).splitlines()

    def write(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def test_without_the_index_of_cpu_builds_it_says_so_once_and_takes_the_other(self):
        code, lines = self.said("--find-links")
        self.assertEqual(code, 0, lines)
        self.assertEqual([line.split(";")[0] for line in lines[2:]],
                         ["setup: no CPU build of a known digest could be downloaded", "setup: done"])

    def test_without_any_index_it_ends_with_the_error_alone(self):
        code, lines = self.said(" install ")
        self.assertNotEqual(code, 0)
        self.assertEqual(lines[-1], "ERROR: No matching distribution found for torch")
        self.assertFalse([line for line in lines if "Retrying" in line])

    def test_without_the_right_to_install_it_lists_once_what_is_missing(self):
        user = {"id": "echo 1000", "sudo": "exit 1", "c++": "cat >/dev/null; exit 1", "apt-get": "touch asked"}
        code, lines = self.said(tools=user, archives=("sentencepiece", "fmt", "utf8proc", "pcre2"))
        self.assertEqual(code, 2, lines)
        self.assertEqual(lines, [
            "setup: these packages are missing, and this user may not install them:",
            "setup:   Debian, Ubuntu   apt-get install libcli11-dev libprotozero-dev libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev",
            "setup:   Red Hat, Fedora  dnf install cli11-devel json-devel protozero-devel yaml-cpp-static zlib-devel",
            "setup:   conda            conda install -c conda-forge cli11 nlohmann_json protozero zlib",
            "setup:   or, instead of cli11 nlohmann_json protozero yaml-cpp zlib, the archive that `make vendor` packs, "
            "unpacked in .deps/vendor"])

    def test_with_a_torch_of_another_it_installs_none(self):
        for name in ("TORCH", "TORCH_ROOT"):
            code, lines = self.said("install", **{name: "elsewhere"})
            self.assertEqual((code, lines), (0, ["setup: done"]), name)

    def test_another_version_of_torch_is_taken_by_its_name(self):
        _, lines = self.said(TORCH_VERSION="2.15.0")
        self.assertIn("LibTorch 2.15.0 for the CPU", lines[1])

    def test_a_full_disk_is_told_before_anything_is_downloaded(self):
        code, lines = self.said(tools={"df": "echo; echo disk 1 1 100 1 /"})
        self.assertEqual(code, 2, lines)
        self.assertRegex(lines[-1], "^setup: .* has 100 MB free, and this takes about 576 MB$")

    def test_a_compiler_runs_for_each_core_and_each_two_gigabytes(self):
        for cores, megabytes, jobs in ((2, 24000, 2), (16, 16000, 8), (16, 15999, 7), (4, 1000, 1)):
            done = subprocess.run(["cmake", f"-DCORES={cores}", f"-DMEGABYTES={megabytes}", "-P", SOURCE / "cmake/jobs.cmake"],
                                  text=True, capture_output=True, check=True)
            self.assertEqual(done.stderr.strip(), str(jobs), f"{cores} cores, {megabytes} MB")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
