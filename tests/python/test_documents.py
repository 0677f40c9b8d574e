"""docs/python.ipynb, with the Python that PLAIN names or else this one, and docs/python.md beside the package."""

import importlib.util
import inspect
import json
import os
import pathlib
import re
import sys
import unittest

import ablate_lab
import example

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "python.md"
NOTEBOOK = DOCS / "python.ipynb"


class Pages(unittest.TestCase):
    def test_the_page_names_what_the_package_offers(self):
        text = PAGE.read_text()
        for name in ablate_lab.__all__:
            self.assertTrue(re.search(rf"\b{name}\b", text) or name in ("Model", "program"), name)
        for name in ("scores", "verdicts", "curves"):
            self.assertIn(f"`{name}(", text)
            self.assertTrue(hasattr(ablate_lab.Study, name))

    def test_everything_that_is_offered_says_what_it_gives(self):
        for name in ablate_lab.__all__:
            self.assertTrue(inspect.getdoc(getattr(ablate_lab, name)), name)

    def test_the_notebook_is_json_without_a_machine_or_outputs_in_it(self):
        text = NOTEBOOK.read_text()
        notebook = json.loads(text)
        self.assertEqual(notebook["metadata"]["kernelspec"]["name"], "python3")
        self.assertNotRegex(text, "/home|/root")
        self.assertFalse([cell for cell in notebook["cells"] if cell.get("outputs")])


@unittest.skipUnless(importlib.util.find_spec("nbclient"), "needs nbclient")
class Notebook(example.Case):
    def test_the_notebook_runs_in_ten_cells(self):
        import nbclient
        import nbformat

        kernel = self.folder / "kernels/plain"
        kernel.mkdir(parents=True)
        python = os.environ.get("PLAIN", sys.executable)
        (kernel / "kernel.json").write_text(json.dumps({"argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                                        "display_name": "", "language": "python"}))
        self.environment(JUPYTER_PATH=str(self.folder))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        self.assertEqual(len(notebook.cells), 10)
        nbclient.NotebookClient(notebook, timeout=1800, kernel_name="plain", resources={"metadata": {"path": str(self.folder)}}).execute()
        shown = ["".join(str(output) for output in cell.get("outputs", [])) for cell in notebook.cells]
        for cell, words in ((2, "none: "), (2, "in all 6 seeds: worse."), (3, "worse"), (4, "length 7"), (5, "image/png"), (6, "<iframe srcdoc"),
                            (7, "f e d c b a"), (8, "unknown key 'step' in training"), (8, "did you mean 'steps'?")):
            self.assertIn(words, shown[cell])


if __name__ == "__main__":
    unittest.main()
