"""Column names made of two: a rater's (item's) name and a question's, or one with a rater's number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from grasp_core.reading.files.headers import BETWEEN
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import ITEMS, RATERS, form, stem

Units = Literal["rater", "item"]
_SEPARATORS = (BETWEEN, "__", " - ", ": ", "_", ".", "-", " ", ":")
_PUNCTUATION = " :/-._"
_TUPLE = re.compile(r"\('([^']*)', '([^']*)'\)")
"""How pandas writes names of two levels into Parquet."""
_LONG_NUMBER = 5
_NUMBERED = re.compile(r"([^0-9]*)([0-9]{1,4})([^0-9]*)")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Columns that each belong to one unit and one question.

    `units`: what the units are, where their names say it.
    """

    columns: Mapping[str, Mapping[str, str]]
    questions: tuple[str, ...]
    units: Units | None


@dataclass(frozen=True, slots=True)
class Group:
    """A column of rater ids and those beside it.

    `name`: of the raters' columns, without the number.
    """

    name: str
    rater: str
    fields: dict[str, str] = field(default_factory=dict)


def paired(columns: Sequence[str]) -> Pairs | None:
    """The columns that are named after units and questions; None where names do not tell which is which."""
    found: list[Pairs] = []
    for separator in ("()", *_SEPARATORS):
        for last in (True, False):
            ways = [pairs for swap in (False, True) if (pairs := _pairs(columns, separator, last, swap))]
            sizes = [_size(pairs) for pairs in ways]
            if len(sizes) == 1 or len(set(sizes)) == 2:  # else either of both sides may be the units
                found.append(ways[sizes.index(max(sizes))])
    return max(found, key=lambda pairs: (*_size(pairs), -len(next(iter(pairs.columns)))), default=None)


def product(columns: Sequence[str]) -> bool:
    """Whether many of the names are made of two names that recur in other combinations."""
    for separator in ("()", *_SEPARATORS):
        for last in (True, False):
            split = [two for column in columns if (two := _split(column, separator, last)) is not None]
            left, right = {one for one, _ in split}, {two for _, two in split}
            whole = len(set(split)) == len(left) * len(right)
            if len(left) > 1 and len(right) > 1 and whole and 2 * len(split) >= len(columns):
                return True
    return False


def beside(columns: Sequence[str]) -> tuple[Group, ...] | None:
    """Raters' columns with the label columns of the same number; None where there are none."""
    fields: dict[str, dict[int, str]] = {}
    for column in columns:
        found = _NUMBERED.fullmatch(column.strip())
        if found is not None:
            own = f"{found[1].rstrip(' _.-')}_{found[3].strip(' _.-')}".strip("_")
            fields.setdefault(own, {})[int(found[2])] = column
    scores = {own: names.id_score(own, RATERS) for own in fields}
    rater = max(scores, key=lambda own: scores[own], default=None)
    if rater is None or not scores[rater] or len(fields[rater]) < 2:
        return None
    others = {own: by for own, by in fields.items() if own != rater and set(by) <= set(fields[rater])}
    if not any(names.label_score(own) and len(by) > 1 for own, by in others.items()):
        return None
    return tuple(
        Group(rater, column, {own: by[position] for own, by in others.items() if position in by})
        for position, column in sorted(fields[rater].items())
    )


def _pairs(columns: Sequence[str], separator: str, last: bool, swapped: bool) -> Pairs | None:
    """The columns split in one way, where their first (second, if swapped) parts are units."""
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        parts = _split(column, separator, last)
        if parts is not None:
            unit, question = parts[::-1] if swapped else parts
            found.setdefault(unit, {})[question] = column
    kinds: dict[str, list[str]] = {}
    for unit in found:
        if (kind := _kind(unit)) is not None:
            kinds.setdefault(kind, []).append(unit)
    run = max(kinds.values(), key=len, default=[])
    chosen = {unit: found[unit] for unit in run}
    asked = Counter(question for by in chosen.values() for question in by)
    questions = tuple(asked)
    if len(run) < 2 or min(asked.values()) < 2 or 2 * asked.total() <= len(run) * len(questions):
        return None
    if len(questions) == 1 and not names.label_score(questions[0]):
        return None
    if any(names.id_score(question, names.RATER) for question in questions) or _one_kind(questions):
        return None
    first = stem(run[0])
    units: Units | None = "rater" if first in RATERS else "item" if first in ITEMS else None
    return Pairs(chosen, questions, units)


def _one_kind(questions: Sequence[str]) -> bool:
    """Whether the questions are a run of like names themselves, so that they may be the units."""
    kinds = {_kind(question) for question in questions}
    plain = stem(questions[0]) in names.LABEL | {"q"}
    return len(questions) > 1 and len(kinds) == 1 and None not in kinds and not plain


def _kind(unit: str) -> str | None:
    """The form of a unit's name; a number by itself says a position only, unless it is long."""
    if (unit.isdigit() and len(unit) < _LONG_NUMBER) or stem(unit) in names.LABEL | names.DEMOGRAPHIC:
        return None
    return form(unit)


def _split(column: str, separator: str, last: bool) -> tuple[str, str] | None:
    if separator == "()":
        two = _TUPLE.fullmatch(column)
        return (two[1], two[2]) if two is not None else None
    one, found, other = column.rpartition(separator) if last else column.partition(separator)
    one, other = one.strip(_PUNCTUATION), other.strip(_PUNCTUATION)
    return (one, other) if found and one and other else None


def _size(pairs: Pairs) -> tuple[bool, int]:
    return pairs.units is not None, sum(len(by) for by in pairs.columns.values())
