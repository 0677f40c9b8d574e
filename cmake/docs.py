"""Writes the documents that are generated: docs.py <program> [<folder>]

The keys, verbs and the schema of studies come from the program, the atlas from the records in docs/results/atlas, the gallery of parts from
both. They go into the folder, or the source's own, as docs/... Without PyYAML or Jinja2 the atlas and the gallery are left out, and said to be.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRINTED = {"docs/configuration.md": ["config", "docs"], "docs/commands.md": ["help", "--all"], "docs/study.schema.json": ["config", "schema"]}


def printed(program):
    """What the program prints, by path below the root."""
    return {path: subprocess.run([program, *verb], capture_output=True, text=True, check=True).stdout for path, verb in PRINTED.items()}


def atlas_pages(schema):
    """What stands in the records, and the gallery of the schema's parts, by path below the root."""
    sys.path.insert(0, str(ROOT / "experiments" / "atlas"))
    import atlas
    return {path.relative_to(ROOT).as_posix(): text for path, text in atlas.pages(schema).items()}


def pictures(program):
    """What the program draws, by path below the root."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "positions.html"
        subprocess.run([program, "inspect", "positions", "--plot", file], capture_output=True, check=True)
        return {"docs/positions.html": file.read_text(encoding="utf-8")}


def pages(program):
    found = printed(program)
    return found | atlas_pages(json.loads(found["docs/study.schema.json"])) | pictures(program)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT)
    try:
        found = pages(program)
    except ModuleNotFoundError as error:
        found = printed(program)
        print(f"docs: the atlas is left out, since {error.name} is missing", file=sys.stderr)
    for path, text in found.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    print(f"docs: {len(found)} files in {folder / 'docs'}")


if __name__ == "__main__":
    main()
