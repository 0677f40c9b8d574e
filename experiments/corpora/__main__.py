"""ablate data fetch: downloads a corpus, or makes it from downloads. Python's standard library is enough.

    python3 experiments/corpora NAME --to DIR [--from URL_OR_FOLDER] [--patience SECONDS]
"""

import argparse
import difflib
import os
import pathlib
import signal
import sys

from corpus import fetch, megabytes, size_of
from download import INTERRUPTED, IO, USAGE, Failure
from recipes import RECIPES


def arguments():
    parser = argparse.ArgumentParser(prog="ablate data fetch")
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--to", default="")
    parser.add_argument("--from", default="", dest="mirror")
    parser.add_argument("--patience", type=int, default=60)
    return parser.parse_args()


def recipe_named(name):
    if not name:
        raise Failure(USAGE, f"name a corpus: {', '.join(RECIPES)}")
    if name not in RECIPES:
        nearest = difflib.get_close_matches(name, RECIPES, 1)
        hint = f"; did you mean '{nearest[0]}'?" if nearest else f"; there are {', '.join(RECIPES)}"
        raise Failure(USAGE, f"there is no corpus '{name}'{hint}")
    return RECIPES[name]


def run(given):
    if given.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for name, recipe in RECIPES.items():
            print(f"{name:<16} {megabytes(size_of(recipe)):>8}  {recipe.about}")
        return
    recipe = recipe_named(given.name)
    if not given.to:
        raise Failure(USAGE, "name the folder to fetch into with --to, as in --to data")
    fetch(given.name, recipe, given.to, given.mirror, given.patience, sys.stderr)
    print(pathlib.Path(given.to) / given.name)


def main():
    """The exit code."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    try:
        run(arguments())
        sys.stdout.flush()
        return 0
    except Failure as failure:
        code, message = failure.code, failure
    except PermissionError as error:
        code, message = IO, f"cannot use '{error.filename}': {error.strerror}; make it writable or name another folder with --to"
    except OSError as error:
        code, message = IO, error
    except KeyboardInterrupt:
        code, message = INTERRUPTED, "stopped; the same command continues the download"
    print(f"ablate: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    code = main()
    # Output that cannot be written is reported by now; Python would try it once more and end with 120.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
