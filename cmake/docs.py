"""Writes the documents that are generated: docs.py <program> [<folder>]

The keys, verbs and the schema of studies come from the program, the atlas from the records in docs/results/atlas. They go into the folder, or
the source's own, as docs/... Without PyYAML the atlas is left out, and said to be.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRINTED = {"docs/configuration.md": ["config", "docs"], "docs/commands.md": ["help", "--all"], "docs/study.schema.json": ["config", "schema"]}


def printed(program):
    """What the program prints, by path below the root."""
    return {path: subprocess.run([program, *verb], capture_output=True, text=True, check=True).stdout for path, verb in PRINTED.items()}


def atlas_pages():
    """What stands in the records, by path below the root."""
    sys.path.insert(0, str(ROOT / "experiments" / "atlas"))
    import atlas
    return {path.relative_to(ROOT).as_posix(): text for path, text in atlas.pages().items()}


def pages(program):
    return printed(program) | atlas_pages()


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT)
    found = printed(program)
    try:
        found |= atlas_pages()
    except ModuleNotFoundError as error:
        print(f"docs: the atlas is left out, since {error.name} is missing", file=sys.stderr)
    for path, text in found.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    print(f"docs: {len(found)} files in {folder / 'docs'}")


if __name__ == "__main__":
    main()
