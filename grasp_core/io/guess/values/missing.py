"""Texts among the labels that mean "no value": those that programs write for it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from grasp_core.annotations import is_number, number_of
from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.votes import cell_columns
from grasp_core.io.guess.advice import Advice
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.table.columns import LIKE_MISSING
from grasp_core.io.table.table import Table
from grasp_core.wording import agree, number, quoted

_NEVER_A_LABEL = frozenset({"nan", "#n/a", "<na>", ""})
"""Texts that pandas and spreadsheets write for no value, and nobody as an answer; and blanks."""
_WRITTEN = frozenset({"NA", "NULL", "null"})
_UNRATED = 1 / 3
"""Share of a matrix's filled cells from which such a text is no label among words, either."""
_MARKS = frozenset({"-", "."})
"""No labels among words."""
CODE = re.compile(r"-([789])\1*|([789])\2+")
"""Numbers that surveys write for "no answer": -9, -99, 88, 999."""
_DIGITS = frozenset({6.0, 7.0, 8.0, 9.0})
_SHORTEST, _USUAL = 3, frozenset({5, 7})
"""Fewest steps of a scale beside which there may be codes, and those of scales that people use most."""
BEYOND = 4
"""Codes that are positive are so many times as large as any answer."""


def guess_missing(
    cells: Mapping[str, int], spec: DataSpec, axes: Mapping[str, Sequence[str]]
) -> tuple[DataSpec, list[Reason]]:
    """The reading with further texts that mean "no value", and why; `cells` are :func:`label_cells`.

    A text such as ``NA`` is one only where all other labels are numbers and no column of `axes`, mapping
    names to their distinct texts, has it: there it may be a country.
    """
    labels = {text for text in cells if text not in spec.missing}
    odd = {text for text in labels if text.strip().casefold() in LIKE_MISSING | _NEVER_A_LABEL}
    if not odd or odd == labels:
        return spec, []
    numbers = all(map(is_number, labels - odd))
    wordy = all(any(map(str.isalpha, text)) for text in labels - odd)
    taken = {text for texts in axes.values() for text in texts}
    found = [text for text in cells if text in odd and _means_nothing(text, numbers, taken)]
    found += [text for text in cells if text in odd and wordy and text.strip() in _MARKS]
    if spec.layout != "long":
        found += [text for text in _unrated(cells, spec) if text not in taken and text not in found]
    why = "the others are numbers" if numbers else "programs write it for a missing value"
    reasons = [_no_label(text, cells[text], why) for text in found]
    return replace(spec, missing=(*spec.missing, *found)), reasons


def _unrated(cells: Mapping[str, int], spec: DataSpec) -> list[str]:
    """Texts that programs write for a missing value, in so many cells as a matrix has that nobody rated."""
    filled = sum(count for text, count in cells.items() if text not in spec.missing)
    return [text for text, count in cells.items() if text in _WRITTEN and count > _UNRATED * filled]


def _no_label(text: str, count: int, why: str) -> Reason:
    return Reason(
        "missing", f"{quoted(text)} in {number(count, 'cell')} {agree(count, 'is', 'are')} no label: {why}"
    )


def _codes(labels: set[str]) -> set[str]:
    """Numbers that stand for no answer: of a survey's form, and apart from the others."""
    of = {text: number_of(text) for text in labels}
    known = {text: value for text, value in of.items() if not math.isnan(value)}
    formed = {text for text, value in known.items() if CODE.fullmatch(f"{value:g}")}
    rest = [value for text, value in known.items() if text not in formed]
    if len(set(rest)) < 2 or len(known) + len(labels & LIKE_MISSING) < len(labels):
        return set()
    low, high = min(rest), max(rest)
    if low >= 0 and all(of[text] < 0 or of[text] > BEYOND * high for text in formed) and formed:
        return formed
    return set()


def advise_missing(cells: Mapping[str, int], spec: DataSpec, declared: Collection[str]) -> Iterator[Advice]:
    """Numbers and signs among the labels that may stand for no answer: it is for a person to say.

    Codes apart from all others, as surveys write them, are recommended to be taken so; a number beside a
    scale, such as 0 beside 1 to 5, and a lone sign may be either. Nobody is asked about texts that are
    `declared`; `cells` are :func:`label_cells`.
    """
    if spec.categories is not None:
        return
    known = {text: number_of(text) for text in cells if text not in spec.missing}
    column = str(spec.label) if spec.label is not None else "label"
    codes = _codes(set(known))
    rest = {text: value for text, value in known.items() if text not in codes}
    doubtful = {text for text in (_lone_sign(known), _lone_below_zero(rest)) if text is not None}
    beyond = _beyond(rest)
    doubtful |= beyond | _beside_scale({text: value for text, value in rest.items() if text not in beyond})
    for texts, why, sure in (
        (codes, "it lies apart from the other numbers, as codes for no answer do", True),
        (doubtful, "it may be a label, or stand for no answer", False),
    ):
        for text in (text for text in cells if text in texts and text not in declared):
            yield Advice("missing", column, (text,), why, cells[text], recommended=sure)


def _beyond(known: Mapping[str, float]) -> set[str]:
    """Numbers from 6 to 9 that leave a gap above a scale from 1 to 3 or more."""
    steps = _scale(known)
    above = {text: value for text, value in known.items() if value > steps}
    return set(above) if steps >= _SHORTEST and set(above.values()) <= _DIGITS else set()


def _beside_scale(known: Mapping[str, float]) -> set[str]:
    """A 0 below, or the number above, a scale of 5 or of 7 steps."""
    values = {value for value in known.values() if value >= 0}
    steps = _scale(known)
    if values == set(range(steps + 1)) and steps in _USUAL:
        return {text for text, value in known.items() if value == 0}
    if values == set(range(1, steps + 1)) and steps - 1 in _USUAL:
        return {text for text, value in known.items() if value == steps}
    return set()


def _scale(known: Mapping[str, float]) -> int:
    """How many numbers follow on each other from 1 on."""
    values = set(known.values())
    steps = 0
    while steps + 1 in values:
        steps += 1
    return steps


def _lone_sign(known: Mapping[str, float]) -> str | None:
    """The one text among several numbers, where it is a single sign, as ``x`` for what was not rated."""
    texts = [text for text, value in known.items() if math.isnan(value)]
    several = len({value for value in known.values() if not math.isnan(value)}) > 1
    return texts[0] if several and len(texts) == 1 == len(texts[0].strip()) else None


def _lone_below_zero(known: Mapping[str, float]) -> str | None:
    """The text of -1 where all others are numbers from 0 on, some beyond 1."""
    others = {value for value in known.values() if value != -1}
    if len(others) < 2 or len(others) == len(set(known.values())):
        return None
    if not all(value >= 0 for value in others) or max(others) <= 1:  # also where one is no number
        return None
    return next(text for text, value in known.items() if value == -1)


def _means_nothing(text: str, numbers: bool, taken: Collection[str]) -> bool:
    return text.strip().casefold() in _NEVER_A_LABEL or (numbers and text not in taken)


def label_cells(table: Table, spec: DataSpec) -> Mapping[str, int]:
    """How many cells hold each text, over all columns that hold labels."""
    found: Counter[str] = Counter()
    for name in cell_columns(table, spec):
        if name in table.columns:
            column = table.column(name)
            found.update(dict(zip(column.values, column.counts().tolist(), strict=True)))
    return found
