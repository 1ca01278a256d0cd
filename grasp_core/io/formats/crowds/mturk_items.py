"""Several items in each task of Mechanical Turk: numbered inputs and answers become a row per item."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import eq

import numpy as np

from grasp_core.annotations import Int64Array
from grasp_core.io.table import names
from grasp_core.wording import listed

ANSWER, INPUT = "Answer.", "Input."
ITEM = "item"
_DIGITS = re.compile(r"(?<!\d)\d{1,6}(?!\d)")
_NUMBER = re.compile(r"[^\w#]*_?#")
_ID = frozenset({"id", "ids", "key", "uid", "uuid", "number", "nr", "index", "idx"})
_LONG, _SETS = 200, 8
"""Letters of a name in which numbers are looked for, and sets of numbers that are tried."""
_MOST = 0.85
"""Least share of the inputs' numbers that answers have where they are numbered alike."""
_REPEATS = 0.9
"""Share of an answer's cells that are an input's, from which it is no answer."""
_SHORT = 80
"""Texts up to this long are ids of items."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """Inputs and answers that are numbered alike, so that each number is an item.

    Parameters
    ----------
    numbers : tuple of int
        Of the inputs.
    inputs, answers : mapping from pattern to columns
        E.g. "Input.text_#", and its columns in the order of `numbers`; "" where there is none.
    """

    numbers: tuple[int, ...]
    inputs: Mapping[str, tuple[str, ...]]
    answers: Mapping[str, tuple[str, ...]]

    @property
    def columns(self) -> frozenset[str]:
        """All of the numbered columns."""
        return frozenset(
            one for part in (self.inputs, self.answers) for several in part.values() for one in several
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """A row per item.

    Parameters
    ----------
    item : str
        The items' column.
    columns : mapping from name to cells
        That column and one for each pattern.
    replaced : frozenset of str
        The numbered columns that they stand for.
    row : int array
        Where each row came from.
    sentence : str
        What was done.
    lost : int
        Places with answers but without input, which are left out.
    """

    item: str
    columns: Mapping[str, list[str]]
    replaced: frozenset[str]
    row: Int64Array
    sentence: str
    lost: int


def numbers_of_inputs(columns: Mapping[str, Sequence[str]]) -> list[frozenset[int]]:
    """Numbers of inputs that have values: the most numbers first, and at most a few sets."""
    found = {frozenset(numbers) for numbers in _patterns(_filled(columns)).values()}
    return sorted(found, key=lambda one: (-len(one), min(one)))[:_SETS]


def _filled(columns: Mapping[str, Sequence[str]]) -> list[str]:
    return [column for column, cells in columns.items() if column.startswith(INPUT) and any(cells)]


def find(columns: Mapping[str, Sequence[str]]) -> Numbered | None:
    """Inputs and answers that are numbered alike; None where there are none.

    Parameters
    ----------
    columns : mapping from name to cells
    """
    inputs = _patterns([column for column in columns if column.startswith(INPUT)])
    answers = _patterns([column for column in columns if column.startswith(ANSWER)])
    able_numbers = [sorted(numbers) for numbers in numbers_of_inputs(columns)]
    for least, numbers in product((1.0, _MOST), able_numbers):
        alike: dict[str, tuple[str, ...]] = {}
        taken: set[str] = set()
        for pattern, found in answers.items():
            able = _in_order(found, numbers, least)
            if able and taken.isdisjoint(able):
                alike[pattern] = able
                taken.update(filter(None, able))
        if not all(_echoes(columns, several) for several in alike.values()):
            filled = _patterns(_filled(columns))
            able_inputs = (key for key, found in inputs.items() if set(numbers) <= set(found))
            own = {key: inputs[key] for key in able_inputs if set(filled.get(key, ())) <= set(numbers)}
            texts = {key: tuple(found[one] for one in numbers) for key, found in own.items()}
            return Numbered(tuple(numbers), texts, alike)
    return None


def _echoes(columns: Mapping[str, Sequence[str]], answers: Sequence[str]) -> bool:
    """Whether answers only repeat an input, as forms send hidden fields along."""
    inputs = [
        [cell.casefold() for cell in cells] for name, cells in columns.items() if name.startswith(INPUT)
    ]

    def repeats(answer: str) -> bool:
        own = [cell.casefold() for cell in columns[answer]]
        equal = (sum(map(eq, own, cells)) for cells in inputs)
        return any(own) and any(count >= _REPEATS * len(own) for count in equal)

    return all(repeats(answer) for answer in answers if answer)


def why_not(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences for inputs and answers that are numbered, but not alike."""
    answers = _patterns([column for column in columns if column.startswith(ANSWER)])
    inputs = _patterns([column for column in columns if column.startswith(INPUT)])
    if not inputs or not answers:
        return []
    return [
        f"{listed([*inputs])} and {listed([*answers])} are not numbered alike, "
        "so that each HIT counts as one item"
    ]


def _patterns(columns: Collection[str]) -> dict[str, dict[int, str]]:
    """Columns by what is left of their names without a number, where that is left of several.

    A name with two numbers has two patterns; the one without its last number comes first.
    """
    found: dict[str, dict[int, str]] = {}
    for column in columns:
        for match in reversed(list(_DIGITS.finditer(column[:_LONG]))):
            pattern = f"{column[: match.start()]}#{column[match.end() :]}"
            found.setdefault(pattern, {}).setdefault(int(match[0]), column)
    return {pattern: numbered for pattern, numbered in found.items() if len(numbered) > 1}


def _in_order(found: Mapping[int, str], numbers: Sequence[int], least: float) -> tuple[str, ...]:
    """The columns for the inputs' numbers; as many that begin elsewhere are counted from there.

    A few may be missing, with "" in their place: a question that nobody answered has no column.
    """
    if sum(one in found for one in numbers) >= least * len(numbers):
        return tuple(found.get(one, "") for one in numbers)
    shift = min(found) - min(numbers)
    return (
        tuple(found[one] for one in sorted(found)) if {one + shift for one in numbers} == set(found) else ()
    )


def spread(columns: Mapping[str, Sequence[str]], numbered: Numbered, hits: Sequence[str]) -> Spread:
    """A row per item, and the numbered columns in one each.

    Parameters
    ----------
    columns : mapping from name to cells
    numbered : Numbered
    hits : sequence of str
        Id of each row's task.
    """
    given = {**numbered.inputs, **numbered.answers}
    cells = [(row, slot) for row in range(len(hits)) for slot in range(len(numbered.numbers))]
    no_column = [""] * len(hits)
    lists = {key: [columns.get(one, no_column) for one in several] for key, several in given.items()}
    wide = {key: [several[slot][row] for row, slot in cells] for key, several in lists.items()}
    filled, answered = (
        [any(texts) for texts in zip(*(wide[key] for key in part), strict=True)]
        for part in (numbered.inputs, numbered.answers)
    )
    kept = [position for position, has_input in enumerate(filled) if has_input]
    lost = sum(has_answer and not has_input for has_input, has_answer in zip(filled, answered, strict=True))
    taken = {key: [texts[position] for position in kept] for key, texts in wide.items()}
    places = [f"{hits[row]}/{numbered.numbers[slot]}" for row, slot in (cells[at] for at in kept)]
    shown = _names(taken, set(columns) - numbered.columns - {ITEM})
    items = _items({key: taken[key] for key in numbered.inputs}, places)
    item = names.unused(ITEM, columns)
    return Spread(
        item,
        {item: items, **{shown[key]: texts for key, texts in taken.items()}},
        numbered.columns,
        np.array([cells[at][0] for at in kept], dtype=np.int64),
        f"the {len(numbered.numbers)} items of each HIT got a row each, by the numbers in {listed([*given])};"
        " equal inputs are one item",
        lost,
    )


def _names(patterns: Collection[str], taken: Collection[str]) -> dict[str, str]:
    """Each pattern without its number, or with its # where that is another column's name."""
    found: dict[str, str] = {}
    used = {*taken}
    for pattern in patterns:
        prefix = INPUT if pattern.startswith(INPUT) else ANSWER
        rest = _NUMBER.sub("", pattern.removeprefix(prefix)).strip("._- ")
        own = f"{prefix}{rest or ITEM}"
        found[pattern] = pattern if own in used else own
        used.add(found[pattern])
    return found


def _items(inputs: Mapping[str, Sequence[str]], places: Sequence[str]) -> list[str]:
    """Ids of items, equal where all inputs are: an input that tells them apart, or each one's first place."""
    whole = list(zip(*inputs.values(), strict=True))
    distinct = len(set(whole))
    able = [key for key, texts in inputs.items() if len(set(texts)) == distinct and all(map(_fit, texts))]
    able.sort(key=lambda key: _ID.isdisjoint(names.words(key)))
    if able:
        return list(inputs[able[0]])
    first: dict[tuple[str, ...], str] = {}
    return [first.setdefault(texts, place) for texts, place in zip(whole, places, strict=True)]


def _fit(text: str) -> bool:
    return 0 < len(text) <= _SHORT and text.isprintable()
