"""Tests what the README shows: readme_test.py <source folder> <program>

Its study is the quickstart, key by key, its terminal is what the quickstart prints: every word, and every number but for what other
instructions of a processor change, and every figure of what Ablate is good at is one of the page behind it.
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
FIGURE = re.compile(r"\b(?:\d[\d,.]*\d|\d+|six|ten|thirteen)\b")
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

    def test_every_line_of_what_it_is_good_at_has_a_figure_of_the_page_behind_it(self):
        lines = re.search(r"^## What it is good at\n\n(.*?)\n\n", (SOURCE / "README.md").read_text(), re.M | re.S)[1].split("\n- ")
        self.assertEqual(len(lines), 8)
        for line in lines:
            figures = FIGURE.findall(re.sub(r"\[[^]]*\]\([^)]*\)", "", line.replace("Multi30k", "")))
            pages = "".join((SOURCE / page).read_text() for page in re.findall(r"\]\(([^)]*)\)", line))
            self.assertTrue(figures, line)
            for figure in figures if pages else []:
                self.assertIn(figure, FIGURE.findall(pages), line)

    def test_the_claims_and_the_schemes_of_positions_are_counted(self):
        sys.path.insert(0, str(SOURCE / "experiments/atlas"))
        import claims
        text = (SOURCE / "README.md").read_text()
        self.assertIn(f"**Claims**: {len(claims.read_claims())} published ones", text)
        rows = answer_of("inspect", "positions").split("\nTells order")[0].splitlines()
        self.assertEqual(({"thirteen": 13}[re.search(r"(\w+) schemes of positions", text)[1]]), len(rows) - 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
