#!/usr/bin/env python3
"""The atlas of claims: runs its studies and writes docs/atlas.md from what they found.

    make atlas                       lists the parts, their cost and their state
    make atlas PART=feed_forward     runs one study, takes its results over, writes the page
    make atlas PART=recall AGAIN=1   the same with three times the steps
    experiments/atlas/atlas.py run NAME... [--again] [--data DIR] [--jobs N] [--output DIR]
    experiments/atlas/atlas.py page  writes docs/atlas.md and its picture from docs/results/atlas
    experiments/atlas/atlas.py check fails if the page does not follow from the results
"""

import argparse
import json
import pathlib
import subprocess
import sys

import yaml

import claims
import page
import picture
import records

PAGE = claims.ROOT / "docs" / "atlas.md"
PICTURE = claims.ROOT / "docs" / "atlas.svg"
EXPECTATION_FAILED = 1  # exit code of a study that ran, but not as it expects


def three_times(value, path=()):
    """A study, or the part of it at `path`, with every number of steps and every budget three times as large."""
    if isinstance(value, dict):
        return {key: three_times(inner, (*path, *str(key).split("."))) for key, inner in value.items()}
    length = path[-2:] == ("training", "steps") or path[-3:-1] == ("training", "budget")
    return 3 * value if length and not isinstance(value, str) else value


def write_three_times(study, folder):
    """A copy of the study that trains three times as long. Its folder keeps the study's name."""
    copy = folder / f"{study}.yaml"
    text = yaml.safe_dump(three_times(claims.read_study(study)), sort_keys=False, width=1000)
    (claims.ROOT / folder).mkdir(parents=True, exist_ok=True)
    (claims.ROOT / copy).write_text(text)
    return copy


def typed(study, again):
    """What a reader types to run the study, with the texts below DIR."""
    if again:
        return f"python3 experiments/atlas/atlas.py run {study} --again --data DIR"
    return f"build/ablate run experiments/atlas/{study}.yaml --output runs/atlas --data DIR"


def run(study, options):
    """Runs the study, or goes on with it, and takes its results over."""
    folder = options.output / ("three_times" if options.again else "atlas")
    file = write_three_times(study, folder) if options.again else f"experiments/atlas/{study}.yaml"
    command = ["build/ablate", "run", str(file), "--output", str(folder), "--data", str(options.data)]
    command += ["--jobs", str(options.jobs)] * (options.jobs is not None)
    done = subprocess.run(command, cwd=claims.ROOT, check=False)
    if done.returncode not in (0, EXPECTATION_FAILED):
        sys.exit(done.returncode)
    record = records.record_of(claims.ROOT / folder / study, typed(study, options.again))
    claims.RESULTS.mkdir(parents=True, exist_ok=True)
    claims.record_path(study, options.again).write_text(json.dumps(record, indent=1) + "\n")
    table = (claims.ROOT / folder / study / "table.md").read_text()
    claims.record_path(study, options.again).with_suffix(".md").write_text(table)


def write_page():
    found = claims.read_claims()
    PAGE.write_text(page.text_of(found))
    PICTURE.write_text(picture.svg_of(found))


def check():
    found = claims.read_claims()
    for path, text in ((PAGE, page.text_of(found)), (PICTURE, picture.svg_of(found))):
        if not path.exists() or path.read_text() != text:
            sys.exit(f"{path.relative_to(claims.ROOT)} is not what the results make it; run experiments/atlas/atlas.py page")


def part_line(study):
    record, again = claims.read_record(study), claims.read_record(study, again=True)
    state = f"run at {record['commit']}, {record['core_minutes']} core minutes" if record else "not run"
    if again:
        state += f"; with three times the steps at {again['commit']}, {again['core_minutes']} core minutes"
    return f"  {study:20} {claims.read_study(study)['time']:12} {state}"


def total(found):
    """What the records took in all."""
    minutes = sum(record["core_minutes"] for record in found)
    return f"In all {minutes:.0f} core minutes, {minutes / 120:.1f} hours on two cores, for the {len(found)} parts that have been run."


def show_parts():
    print("make atlas PART=NAME runs a part of the atlas and writes docs/atlas.md; on two cores these take, by their studies:")
    print(*map(part_line, claims.studies()), sep="\n")
    print(total(list(filter(None, map(claims.read_record, claims.studies())))))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    verbs = parser.add_subparsers(dest="verb")
    runs = verbs.add_parser("run", help="run studies and take their results over")
    runs.add_argument("studies", nargs="+", choices=claims.studies(), metavar="NAME")
    runs.add_argument("--again", action="store_true", help="with three times the steps")
    runs.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data"), help="the folder of multi30k/ and tinyshakespeare/")
    runs.add_argument("--jobs", type=int, help="runs at once (default: as ablate run chooses)")
    runs.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs"), help="where runs are kept (default runs)")
    verbs.add_parser("page", help="write the page from the results that are there")
    verbs.add_parser("check", help="fail if the page is out of date")
    return parser.parse_args()


def main():
    options = arguments()
    if options.verb == "run":
        for study in options.studies:
            run(study, options)
            write_page()
    elif options.verb == "page":
        write_page()
    elif options.verb == "check":
        check()
    else:
        show_parts()


if __name__ == "__main__":
    main()
