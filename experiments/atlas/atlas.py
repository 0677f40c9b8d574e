#!/usr/bin/env python3
"""The atlas of claims: runs its studies and writes the pages of docs/atlas from what they found.

    make atlas                       lists the parts, their cost and their state
    make atlas PART=feed_forward     runs one study, takes its results over
    make atlas PART=recall AGAIN=1   the second look, with more steps and other seeds
    make docs                        writes docs/atlas, docs/frontier.md and tables from docs/results/atlas, among others
    experiments/atlas/atlas.py run NAME... [--again] [--data DIR] [--jobs N] [--output DIR]
    experiments/atlas/atlas.py page  writes them alone
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import yaml

import cards
import choices
import claims
import files
import frontier
import page
import records
import tables

EXPECTATION_FAILED = 1  # exit code of a study that ran, but not as it expects


def second_look(value, rule, path=()):
    """A study, or the part of it at `path`, as the rule of claims.yaml has it looked at again: steps and budgets are so many times as large,
    and the tested seeds so much higher."""
    if isinstance(value, dict):
        return {key: second_look(inner, rule, (*path, *str(key).split("."))) for key, inner in value.items()}
    if path == ("seeds",):
        return [seed + rule["seeds"] for seed in value]
    length = path[-2:] == ("training", "steps") or path[-3:-1] == ("training", "budget")
    return rule["steps"] * value if length and not isinstance(value, str) else value


def needed_arms(study, asked):
    """The arms that are asked again, the baseline, and those that they start from."""
    names, arms = [study["compare"]["baseline"], *asked], study["arms"]
    for name in names:  # grows while it is read
        start = arms[name].get("training.init_from.arm")
        names += [start] * (start is not None and start not in names)
    return [name for name in arms if name in names]


def with_tasks(study, names):
    """The study with these of its tasks, or settings of its grid, alone, and what it says of them."""
    if "tasks" in study:
        kept = {"tasks": {name: study["tasks"][name] for name in names}}
    else:
        (key, values), = study["grid"].items()
        kept = {"grid": {key: [value for value in values if files.setting_name(study, key, value) in names]}}
    expected = [text for text in study["expect"] if text.partition(":")[0] in names or ":" not in text]
    return study | kept | {"expect": expected}


def with_arms(study, names):
    """The study with these arms alone, and what it says of them."""
    kept = {key: value for key, value in study.items() if key != "expect"}
    kept["arms"] = {name: study["arms"][name] for name in names}
    for key in ("compare", "match"):
        said = kept.get(key, {}).get("arms")
        if isinstance(said, dict):
            kept[key] = study[key] | {"arms": {name: one for name, one in said.items() if name in names}}
        elif said:
            kept[key] = study[key] | {"arms": [name for name in said if name in names]}
    others = "|".join(name for name in study["arms"] if name not in names)
    expected = [text for text in study.get("expect", []) if not (others and re.search(rf"\b({others})\.", text))]
    return kept | ({"expect": expected} if expected else {})


def write_second_look(study, folder, asked=()):
    """A copy of the study for its second look, with the arms and tasks of the claims that are asked again; with all if there are none. Its
    folder keeps the study's name."""
    copy, kept = folder / f"{study}.yaml", files.read_study(study)
    tasks = dict.fromkeys(claim.task for claim in asked if claim.task)
    if tasks:
        kept = with_tasks(kept, tasks)
    if asked:
        kept = with_arms(kept, needed_arms(kept, [claim.arm for claim in asked]))
    again = second_look(kept, files.catalogue()["rules"]["second_look"])
    text = yaml.safe_dump(again, sort_keys=False, width=1000)
    (files.ROOT / folder).mkdir(parents=True, exist_ok=True)
    (files.ROOT / copy).write_text(text)
    return copy


def typed(study, again):
    """What a reader types to run the study, with the texts below DIR."""
    if again:
        return f"python3 experiments/atlas/atlas.py run {study} --again --data DIR"
    return f"build/ablate run experiments/atlas/{study}.yaml --output runs/atlas --data DIR"


def run(study, options):
    """Runs the study, or goes on with it, and takes its results over."""
    records.refuse_changed_studies()
    folder = options.output / ("second_looks" if options.again else "atlas")
    asked = [claim for claim in claims.read_claims() if claim.study == study and claim.is_asked_again]
    file = write_second_look(study, folder, asked) if options.again else f"experiments/atlas/{study}.yaml"
    command = ["build/ablate", "run", str(file), "--output", str(folder), "--data", str(options.data)]
    command += ["--jobs", str(options.jobs)] * (options.jobs is not None)
    done = subprocess.run(command, cwd=files.ROOT, check=False)
    if done.returncode not in (0, EXPECTATION_FAILED):
        sys.exit(done.returncode)
    record = records.record_of(files.ROOT / folder / study, typed(study, options.again))
    files.RESULTS.mkdir(parents=True, exist_ok=True)
    files.record_path(study, options.again).write_text(json.dumps(record, indent=1) + "\n")


def pages():
    """What `make docs` writes of the atlas, by path."""
    found = claims.read_claims()
    folder = files.DOCS / "atlas"
    atlas = {folder / "index.md": choices.text_of(found), folder / "claims.md": cards.text_of(found), folder / "rules.md": page.text_of(found),
             folder / "cards.js": (files.HERE / "cards.js").read_text()} | {folder / "claims" / f"{claim.id}.md": page.section(claim) for claim in found}
    return {**atlas, files.DOCS / "frontier.md": frontier.text_of(found), **tables.pages()}


def write_pages():
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def part_line(study):
    record, again = (files.read_record(study, again) for again in (False, True))
    state = f"run at {record['commit']}, {record['core_minutes']} core minutes" if record else "not run"
    if again:
        state += f"; second look at {again['commit']}, {again['core_minutes']} core minutes"
    return f"  {study:30} {files.read_study(study)['time']:12} {state}"


def show_parts():
    print("make atlas PART=NAME runs a part of the atlas and writes docs/atlas; on two cores these take, by their studies:")
    print(*map(part_line, files.studies()), sep="\n")
    due = dict.fromkeys(claim.study for claim in claims.read_claims() if claim.second_look_is_due)
    print(f"Second looks that are due by the rule: {', '.join(due) or 'none'}.")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    verbs = parser.add_subparsers(dest="verb")
    runs = verbs.add_parser("run", help="run studies and take their results over")
    runs.add_argument("studies", nargs="+", choices=files.studies(), metavar="NAME")
    runs.add_argument("--again", action="store_true", help="the second look: more steps and other seeds")
    runs.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data"), help="the folder of multi30k/ and tinyshakespeare/")
    runs.add_argument("--jobs", type=int, help="runs at once (default: as ablate run chooses)")
    runs.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs"), help="where runs are kept (default runs)")
    verbs.add_parser("page", help="write the pages from the results that are there")
    return parser.parse_args()


def main():
    options = arguments()
    if options.verb == "run":
        for study in options.studies:
            run(study, options)
            write_pages()
    elif options.verb == "page":
        write_pages()
    else:
        show_parts()


if __name__ == "__main__":
    main()
