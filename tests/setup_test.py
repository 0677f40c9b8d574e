"""Tests what cmake/setup.sh says where an index of packages is away: setup_test.py <source>

The script runs in a copy, with a Debian that has all packages, and with a pip that says what pip says and installs nothing.
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
    def said(self, away):
        """The exit code of the setup without the index that pip reaches by `away`, and the lines it writes."""
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            shutil.copytree(SOURCE / "cmake", tree / "cmake")
            version = next(line for line in (tree / "cmake/wheels/test.in").read_text().splitlines() if line.startswith("sentencepiece=="))
            self.write(tree / ".deps/sentencepiece/version", version.removeprefix("sentencepiece=="))
            self.write(tree / ".deps/sentencepiece/lib/libsentencepiece_train.a", "")
            self.write(tree / ".venv/bin/python", PYTHON.replace("{away}", away))
            self.write(tree / "tools/dpkg-query", "#!/bin/sh\necho install ok installed\n")
            done = subprocess.run([tree / "cmake/setup.sh"], text=True, capture_output=True,
                                  env={**os.environ, "PATH": f"{tree}/tools:{os.environ['PATH']}", "TORCH_BUILD": "cpu", "TORCH_ROOT": ""})
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
