"""What callers give: values of numpy, torch and pathlib become plain ones, and what cannot be meant is refused."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any


def plain(value: object, place: str) -> Any:
    """`value` as JSON has it: numbers and arrays of numpy, torch and pandas, paths and all that can be iterated, also inside of it.
    Throws TypeError, which names the `place`."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(plain(key, f"a key of {place}")): plain(below, f"{place}.{key}") for key, below in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        items = sorted(value, key=str) if isinstance(value, Set) else value
        return [plain(item, f"{place}[{index}]") for index, item in enumerate(items)]
    raise TypeError(f"{place} is {value!r}, a {type(value).__name__}; give a text, a number, a path, True, False, None, or a list or dict of them")


def text(value: object, place: str) -> str:
    """`value`, if it is a text. Throws TypeError, which names the `place`."""
    if not isinstance(value, str):
        raise TypeError(f"{place} is {value!r}, a {type(value).__name__}; give a text")
    return value


# Flags of the program that take several values; a comma divides them.
LISTS = ("arms", "tasks", "sizes", "seeds")


def flag(name: str, value: object) -> list[str]:
    """The words of a flag of the program, `dry_run` being --dry-run; none for None and False. Throws TypeError and ValueError."""
    word, value = "--" + name.replace("_", "-"), plain(value, name)
    if value is None or value is False:
        return []
    values = ["true"] if value is True else value if isinstance(value, list) else [value]
    if any(isinstance(item, (list, dict)) for item in values) or isinstance(value, list) and name not in LISTS:
        raise TypeError(f"{name} is {value!r}; give one value{' or a list of them' if name in LISTS else ''}")
    if isinstance(value, list) and any("," in str(item) for item in values):
        raise ValueError(f"{name} is {value!r}, and a comma divides values; give each by itself")
    listed = ",".join(map(str, values))
    if not listed:
        raise ValueError(f"{name} is empty; leave it out, or give None, for what the program does without it")
    return [f"{word}={listed}"]


def word(value: object) -> str:
    """One word of a command. Throws TypeError for what is none, such as None or a list."""
    spelled = plain(value, "a word")
    if spelled is None or isinstance(spelled, (list, dict)):
        raise TypeError(f"a word is {spelled!r}; give each word by itself, as in call('help', 'run')")
    return str(spelled)


def refuse_unknown(unknown: Iterable[str], known: Sequence[str]) -> None:
    """Throws TypeError for the first of these keywords."""
    for name in unknown:
        nearest = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean '{nearest[0]}'?" if nearest else f"there are {', '.join(known)}"
        raise TypeError(f"unknown keyword '{name}'; {hint}")
