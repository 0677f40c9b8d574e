"""Studies: how they are started, and their results as tables. docs/run_folder.md names every field of the files."""

from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ablate_lab._arguments import flag, plain, text
from ablate_lab._program import call

if TYPE_CHECKING:
    import pandas

# What only records of that kind have.
KINDS = {"training": "loss", "validation": "validation_loss", "mixture": "mixture", "observation": "observed"}
# Flags of `ablate run` that say which runs there are.
CHOOSING = ("output", "data", "arms", "tasks", "sizes", "seeds")
# Flags of `ablate run` that train nothing, or change what it prints.
PRINTING = ("--dry-run=true", "--list=true", "--json=true", "--help=true", "--launcher=print")
# JSON has no such numbers, so the program writes words.
NOT_FINITE = {name: float(name) for name in ("NaN", "Infinity", "-Infinity")}


def _table(rows: list[dict[str, Any]], columns: Iterable[str]) -> pandas.DataFrame:
    """The rows; `columns` come first, and are there if there are no rows."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables need pandas: python -m pip install pandas") from error
    return pandas.DataFrame(rows, columns=list(dict.fromkeys([*columns, *(name for row in rows for name in row)])))


class Study:
    """The results of a study in its folder, `<output>/<name>`, or its file results.json. `results` holds all of that file."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        given = pathlib.Path(folder).absolute()  # the current folder may change
        self.folder = given.parent if given.name == "results.json" and given.is_file() else given
        file = self.folder / "results.json"
        if not file.is_file():
            raise FileNotFoundError(f"{file} is missing; `ablate report {self.folder}` writes it from the runs of a study")
        self.results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))

    @property
    def answer(self) -> str:
        """The sentence below the question in the report."""
        return str(self.results["answer"])

    def __repr__(self) -> str:
        return f"Study({str(self.folder)!r}): {self.answer}"

    def _repr_html_(self) -> str:
        """The report, which Jupyter shows; it has no scripts."""
        page = html.escape((self.folder / "report.html").read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 48rem; border: 0"></iframe>'

    def _cells(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Each metric of each arm on each test set: its names, and its entry in results.json."""
        for task in self.results["tasks"]:
            for arm in task["arms"]:
                for cell in arm["cells"]:
                    yield {"task": task["name"], "arm": arm["name"], "test_set": cell["test_set"], "metric": cell["metric"]}, cell

    def scores(self) -> pandas.DataFrame:
        """One row for each task, arm, test set, metric and seed, with the `value`; none where there is no value, as of an open run."""
        return _table([{**names, "seed": seed, "value": float(value)} for names, cell in self._cells()
                       for seed, value in zip(self.results["seeds"], cell["sample"]["values"]) if value != "NaN"],
                      ["task", "arm", "test_set", "metric", "seed", "value"])

    def verdicts(self) -> pandas.DataFrame:
        """One row for each comparison that the study declared: the mean `difference` from the baseline with its 95 % interval, `low` to
        `high`, the `p` and the `adjusted_p` (for the number of comparisons), the `verdict` and a `sentence`. NaN where there is none."""
        rows = []
        for names, cell in self._cells():
            if cell["primary"] and "contrast" in cell:
                contrast = cell["contrast"]
                low, high = contrast.get("interval", ("NaN", "NaN"))
                numbers = {"difference": contrast["mean"], "low": low, "high": high, **contrast["difference"]}
                rows.append({**names, **{name: float(value) for name, value in numbers.items()},
                             "verdict": contrast["verdict"], "sentence": contrast["sentence"]})
        return _table(rows, ["task", "arm", "test_set", "metric", "difference", "low", "high", "p", "adjusted_p", "verdict", "sentence"])

    def curves(self, kind: str = "training") -> pandas.DataFrame:
        """The records of one kind in the metrics.jsonl of every run, finished or not: `training`, `validation`, `mixture` or
        `observation`. Columns: task, arm, seed, step and the fields of the records."""
        if kind not in KINDS:
            raise ValueError(f"there are no {kind!r} records; the kinds are {', '.join(KINDS)}")
        rows = []
        for file in sorted(self.folder.glob("*/*/seed-*/metrics.jsonl")):
            run = json.loads((file.parent / "run.json").read_text(encoding="utf-8"))
            for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
                record = json.loads(line) if line.endswith("\n") else {}  # the last line may be unfinished
                if KINDS[kind] in record:
                    numbers = {name: NOT_FINITE.get(value, value) if isinstance(value, str) else value for name, value in record.items()}
                    rows.append({"task": run["task"], "arm": run["arm"], "seed": run["seed"], **numbers})
        return _table(rows, ["task", "arm", "seed", "step", KINDS[kind]])


def run(study: str | os.PathLike[str] | Mapping[str, Any], *, set: Mapping[str, Any] | None = None, seeds: int | Iterable[int] | None = None,
        output: str | os.PathLike[str] | None = None, show: bool = True, **flags: object) -> Study:
    """`ablate run`: trains what is not finished of a study, and returns its results.

    `study` is a file, or the same as a dict, whose relative paths (of data and `extends`) start from the current folder, or the folder of a study
    that was started, which is continued. `output` is the folder of all studies, runs if it is not given. `set` changes keys below `base`, as in
    {"training.steps": 200}; `flags` are the other flags of `ablate run`, such as jobs=2 or arms=["none"]. Throws AblateError, also if an
    expectation of the study does not hold (exit code 1): Study(folder) then opens its results; and TypeError or ValueError for what is no value
    of a flag or of a key."""
    changes = plain(set or {}, "set")
    if not isinstance(changes, dict):
        raise TypeError(f"set is {set!r}; give a dict of keys and values, as in {{'training.steps': 200}}")
    sets = [word for key, value in changes.items() for word in ("--set", f"{key}={json.dumps(value, ensure_ascii=False)}")]
    given = {name: flag(name, value) for name, value in {"output": output, "seeds": seeds, **flags}.items()}
    words = sets + [word for spelled in given.values() for word in spelled]
    chosen = sets + [word for name in CHOOSING for word in given.get(name, [])]
    for word in PRINTING:
        if word in words:
            printing = word.removesuffix("=true")
            raise ValueError(f"run() returns results, and {printing} prints something else; ablate_lab.call('run', 'study.yaml', "
                             f"'{printing}') returns what it prints")
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(study, Mapping):
            for each in (words, chosen):
                each += [] if flags.get("data") else [f"--data={os.getcwd()}"]
            file = pathlib.Path(folder) / "study.yaml"
            tree = plain(study, "study")
            if isinstance(tree.get("extends"), str):
                tree["extends"] = os.path.abspath(tree["extends"])  # the program would look beside its own file
            file.write_text(json.dumps(tree, ensure_ascii=False, indent=1), encoding="utf-8")  # JSON is YAML
        else:
            file = pathlib.Path(text(plain(study, "study"), "study"))
        first_run = json.loads(call("run", file, *chosen, "--list", "--json").splitlines()[0])
        results = pathlib.Path(first_run["study"]).absolute()
        call("run", file, *words, show=show)
    return Study(results)


def fetch(name: str, to: str | os.PathLike[str] = "data", *, show: bool = True) -> pathlib.Path:
    """`ablate data fetch`: downloads a corpus into `to`, unless it is there, and returns its folder. Throws AblateError."""
    folder = pathlib.Path(to).absolute() / name
    call("data", "fetch", name, "--to", to, show=show)
    return folder
