"""The program says one sentence where it meets another minor version of LibTorch than it was built with.

    python3 tests/faults/another_libtorch_test.py build/ablate

A library that is loaded first answers for LibTorch's version. `make torch-check` does the same with real ones.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
USAGE = 2


class AnotherLibtorch(unittest.TestCase):
    def said(self, major, minor, patch):
        """The exit code of `ablate --version` and its lines, where LibTorch says that it has this version."""
        abi = major << 56 | minor << 48 | patch << 40
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "version.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], text=True, check=True,
                           input=f"unsigned long aoti_torch_abi_version(void) {{ return {abi}UL; }}\n")
            done = subprocess.run([PROGRAM, "--version"], env={**os.environ, "LD_PRELOAD": str(library)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            return done.returncode, done.stdout.splitlines()

    def test_another_minor_version_is_told_in_one_sentence(self):
        code, lines = self.said(2, 99, 1)
        self.assertEqual(code, USAGE, lines)
        self.assertEqual(len(lines), 1, lines)
        built = re.fullmatch(r"ablate: this program was built with LibTorch (2\.\d+\.\d+) and found version 2\.99\.1, whose interface "
                             r"differs: install torch 2\.\d+ where it is, or build Ablate again", lines[0])
        self.assertTrue(built, lines)
        major, minor, patch = (int(number) for number in built[1].split("."))
        code, lines = self.said(major, minor, patch + 1)
        self.assertEqual(code, 0, lines)

    def test_no_function_of_a_library_is_missed_before_that(self):
        symbols = subprocess.run(["nm", "--dynamic", "--undefined-only", PROGRAM], text=True, check=True, capture_output=True).stdout
        self.assertNotRegex(symbols, r" U ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
