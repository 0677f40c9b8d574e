"""docs/python.ipynb, with fewer steps, and docs/python.md beside the package."""

import inspect
import json
import pathlib
import re

import pytest

import ablate_lab

HERE = pathlib.Path(__file__).parent


def test_the_notebook_runs_in_ten_cells(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(HERE / "python.ipynb", as_version=4)
    assert len(notebook.cells) == 10
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are left out of the repository"
    client = nbclient.NotebookClient(notebook, timeout=1800, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = ["".join(str(output) for output in cell.get("outputs", [])) for cell in notebook.cells]
    assert "none: " in shown[2] and "in all 6 seeds: worse." in shown[2]
    assert "worse" in shown[3] and "length 7" in shown[4] and "image/png" in shown[5]
    assert "<iframe srcdoc" in shown[6]
    assert "f e d c b a" in shown[7]
    assert "unknown key 'step' in training" in shown[8] and "did you mean 'steps'?" in shown[8]


def test_the_page_names_what_the_package_offers():
    text = (HERE / "python.md").read_text()
    for name in ablate_lab.__all__:
        assert re.search(rf"\b{name}\b", text) or name in ("Model", "program"), name
    for name in ("scores", "verdicts", "curves"):
        assert f"`{name}(" in text and hasattr(ablate_lab.Study, name)


def test_the_package_is_small_and_says_what_it_gives():
    files = sorted(pathlib.Path(ablate_lab.__file__).parent.glob("*.py"))
    assert sum(len(file.read_text().splitlines()) for file in files) <= 300
    for name in ablate_lab.__all__:
        assert inspect.getdoc(getattr(ablate_lab, name)), name


def test_the_notebook_is_json_without_a_machine_in_it():
    text = (HERE / "python.ipynb").read_text()
    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"
    assert "/home" not in text and "/root" not in text
