#!/usr/bin/env python3
"""The atlas of claims: runs its studies and writes the pages of docs/atlas from what they found.

    make atlas                       lists the parts, their cost and their state
    make atlas PART=feed_forward     runs one study, takes its results over
    make atlas PART=normuon AGAIN=1  the second look, with more steps and other seeds, of the folder again
    make docs                        writes docs/atlas, docs/frontier.md and tables from docs/results/atlas, among others
    experiments/atlas/atlas.py [NAME...] [--again] [--data DIR]
"""

import argparse
import json
import subprocess
import sys

import cards
import choices
import claims
import files
import page
import records
import tables

EXPECTATION_FAILED = 1  # exit code of a study that ran, but not as it expects


def run(study, again, data):
    """Runs the study, or goes on with it, and takes its results over."""
    records.refuse_changed_studies()
    file, folder = (f"again/{study}", "runs/second_looks") if again else (study, "runs/atlas")
    command = ["build/ablate", "run", f"experiments/atlas/{file}.yaml", "--output", folder, "--data"]
    done = subprocess.run([*command, data], cwd=files.ROOT, check=False)
    if done.returncode not in (0, EXPECTATION_FAILED):
        sys.exit(done.returncode)
    record = records.record_of(files.ROOT / folder / study, " ".join([*command, "DIR"]))
    files.RESULTS.mkdir(parents=True, exist_ok=True)
    files.record_path(study, again).write_text(json.dumps(record, indent=1) + "\n")


def pages():
    """What `make docs` writes of the atlas, by path."""
    found = claims.read_claims()
    folder = files.DOCS / "atlas"
    atlas = {folder / "index.md": choices.text_of(found), folder / "claims.md": cards.text_of(found), folder / "rules.md": page.text_of(found),
             folder / "cards.js": (files.HERE / "pages" / "cards.js").read_text()} | {folder / "claims" / f"{claim.id}.md": page.section(claim) for claim in found}
    return {**atlas, files.DOCS / "frontier.md": cards.frontier(found), **tables.pages()}


def write_pages():
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def part_line(study):
    looks = [f"{what} at {record['commit']}, {record['core_minutes']} core minutes"
             for what, record in (("run", files.read_record(study)), ("second look", files.read_record(study, again=True))) if record]
    return f"  {study:30} {files.read_study(study)['time']:12} {'; '.join(looks) or 'not run'}"


def show_parts():
    print("make atlas PART=NAME runs a part of the atlas and writes docs/atlas; on two cores these take, by their studies:")
    print(*map(part_line, files.studies()), sep="\n")
    due = dict.fromkeys(claim.study for claim in claims.read_claims() if claim.is_asked_again and not claim.looks[1])
    print(f"Second looks that are due by the rule: {', '.join(due) or 'none'}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("studies", nargs="*", metavar="NAME", help="studies to run; absent: list all")
    parser.add_argument("--again", action="store_true", help="the second look: more steps and other seeds")
    parser.add_argument("--data", default="data", help="the folder of multi30k/ and tinyshakespeare/")
    options = parser.parse_args()
    for study in options.studies:
        run(study, options.again, options.data)
        write_pages()
    if not options.studies:
        show_parts()


if __name__ == "__main__":
    main()
