"""Numbers, names and lists in sentences."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

EXAMPLES = 5
"""Examples that a problem carries."""
LISTED = 12
"""Values that a list names before the rest is only counted."""
_SHOWN = 60
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def cut(value: str) -> str:
    """As much of a cell's text as a sentence shows; the same of what is cut already."""
    return value if len(value) <= _SHOWN else value[:_SHOWN] + "..."


def quoted(value: str) -> str:
    """A cell's text as shown in a sentence: one line, of bounded length."""
    return "'" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut(value)) + "'"


def one_line(text: str) -> str:
    """A text that neither breaks its line nor tells a terminal anything: spaces for what does not print."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def tabbed(*fields: str) -> str:
    """Fields as a line of a list, with tabs between them."""
    return "\t".join(map(one_line, fields))


def listed(values: Sequence[str], limit: int = LISTED) -> str:
    """Quoted values with commas; those beyond `limit` are only counted."""
    more = len(values) - limit
    shown = ", ".join(quoted(value) for value in values[:limit])
    return f"{shown} and {more:,} more" if more > 0 else shown


def first_few(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def number(count: int, noun: str, plural: str | None = None) -> str:
    """The count with its noun in the right form, e.g. ``1 row``, ``1,000 rows``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def spelled(count: int) -> str:
    """A count up to ten as a word, e.g. ``two``; larger ones in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def agree(count: int, one: str, many: str) -> str:
    """The form of a verb that goes with the count, e.g. ``has`` or ``have``."""
    return one if count == 1 else many


def not_there(name: str, path: Path) -> str:
    """That a file does not exist, with its place where the name does not say it."""
    return f"{name} does not exist" if name == str(path) else f"{name} does not exist at {path}"


def closest(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Existing names that `name` may be a misspelling of."""
    by_fold: dict[str, str] = {}
    for column in columns:
        by_fold.setdefault(column.strip().casefold(), column)
    alike = difflib.get_close_matches(name.strip().casefold(), by_fold, n=3)
    return tuple(by_fold[fold] for fold in alike)
