"""Problems with data: how they are worded, collected and raised."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from grasp_core.errors import DataError, Problem

__all__ = [
    "EXAMPLES",
    "Problem",
    "agree",
    "closest",
    "know",
    "listed",
    "not_there",
    "number",
    "quoted",
    "raise_stopping",
    "stop",
]

EXAMPLES = 5
"""Examples that a problem carries."""
_SHOWN = 60


def stop(message: str, count: int = 1, examples: Iterable[str] = ()) -> Problem:
    """A problem that has to be mended first."""
    return Problem(True, message, int(count), tuple(examples)[:EXAMPLES])


def know(message: str, count: int = 1, examples: Iterable[str] = ()) -> Problem:
    """A problem to know about."""
    return Problem(False, message, int(count), tuple(examples)[:EXAMPLES])


def raise_stopping(problems: Iterable[Problem]) -> None:
    """Raise those problems that stop, together.

    Raises
    ------
    DataError
        Its text is the first problem's sentence and how many more there are.
    """
    stopping = [problem for problem in problems if problem.stops]
    if stopping:
        more = len(stopping) - 1
        tail = f" (and {number(more, 'more problem')})" if more else ""
        raise DataError(stopping[0].message + tail, stopping)


def quoted(value: str) -> str:
    """A cell's text as shown in a sentence: one line, of bounded length."""
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    return "'" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown) + "'"


def listed(values: Sequence[str], limit: int = 12) -> str:
    """Quoted values with commas; those beyond `limit` are only counted."""
    more = len(values) - limit
    shown = ", ".join(quoted(value) for value in values[:limit])
    return f"{shown} and {more:,} more" if more > 0 else shown


def number(count: int, noun: str, plural: str | None = None) -> str:
    """The count with its noun in the right form, e.g. ``1 row``, ``1,000 rows``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def agree(count: int, one: str, many: str) -> str:
    """The form of a verb that goes with the count, e.g. ``has`` or ``have``."""
    return one if count == 1 else many


def not_there(name: str, path: Path) -> str:
    """That a file does not exist, with its place where the name does not say it."""
    return f"{name} does not exist" if name == str(path) else f"{name} does not exist at {path}"


def closest(name: str, columns: Sequence[str]) -> list[str]:
    """Existing names that `name` may be a misspelling of."""
    by_fold: dict[str, str] = {}
    for column in columns:
        by_fold.setdefault(column.strip().casefold(), column)
    return [by_fold[fold] for fold in difflib.get_close_matches(name.strip().casefold(), by_fold, n=3)]
