"""Tests what the README shows: readme_test.py <source folder> <program>

Its study is the quickstart, key by key, and its terminal is what the quickstart prints: every word, and every number but for what other
instructions of a processor change.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, PROGRAM = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
STUDY = SOURCE / "experiments/studies/quickstart.yaml"
NUMBER = re.compile(r"\d+\.\d+")
CLOSE = 0.05  # of a share; the order of sums differs between instruction sets, and training multiplies that


def block(label):
    text = (SOURCE / "README.md").read_text()
    return re.search(rf"^```{label}\n(.*?)^```", text, re.M | re.S)[1]


def answer_of(*words):
    return subprocess.run([PROGRAM, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True).stdout


def values_of(study):
    """Every arm's resolved values, without where they come from."""
    return re.sub(r" +#.*", "", answer_of("config", "show", study))


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_its_study_is_the_quickstart(self):
        copy = self.folder / "quickstart.yaml"
        copy.write_text(block("yaml"))
        self.assertEqual(values_of(copy), values_of(STUDY))

    def test_its_terminal_is_what_the_quickstart_prints(self):
        printed = " ".join(answer_of("run", STUDY, "--output", self.folder / "runs").split())
        for shown in (" ".join(part.split()) for part in block("text").split("\n\n")):
            words = [re.escape(word) for word in NUMBER.split(shown)]
            found = re.search(r"(\d+\.\d+)".join(words), printed)
            self.assertTrue(found, f"{shown}\nis not in\n{printed}")
            for shown_number, number in zip(NUMBER.findall(shown), found.groups()):
                self.assertAlmostEqual(float(shown_number), float(number), delta=CLOSE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
