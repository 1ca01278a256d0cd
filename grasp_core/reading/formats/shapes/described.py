"""Rows below the names that say what each column holds, as survey tools and codebooks write them."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from grasp_core.model.annotations import is_number
from grasp_core.model.errors import know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.table.columns import LIKE_MISSING
from grasp_core.reading.table.table import Parsed

_MOST = 2
_LOOKED_AT, _CELLS = 1_000, 100_000
"""First rows that are looked at, and fewer of a wide table."""
_FEWEST = 5
"""Rows below that tell."""
_MOSTLY = 0.9
_TYPES = frozenset({"d", "discrete", "c", "continuous", "s", "string", "t", "time"})
_ROLES = frozenset({"", "class", "c", "meta", "m", "ignore", "i", "weight", "w"})
"""What Orange writes below the names of columns."""
_COLUMNS = 3
"""Fewest columns all of which tell, where fewer than two hold numbers."""


def without_descriptions(parsed: Parsed, name: str) -> Parsed:
    """The table without first rows whose cells are unlike all that stands below them, with a note."""
    if parsed.recipe is not None:
        return parsed
    head = _head(parsed)
    typed = _has_types([*head.values()])
    for before in range(_MOST):
        if not (typed or _describes([*head.values()], again=before > 0)):
            break
        said = {column: cells[0] for column, cells in head.items()}
        column, cell = next((column, cell) for column, cell in said.items() if _filled(cell))
        row = int(parsed.numbers[0])
        note = know(FileProblem.ROW_OF_DESCRIPTIONS(file=name, row=row, column=column, cell=cell))
        rest = parsed.kept(np.arange(1, len(parsed.data), dtype=np.int64))
        parsed = dataclasses.replace(rest, problems=(*parsed.problems, note))
        head = _head(parsed)
    return parsed


def _has_types(columns: Sequence[Sequence[str]]) -> bool:
    """Whether two rows say the columns' types and roles, as in Orange's files: no type recurs below."""

    def of_type(cells: Sequence[str]) -> bool:
        """Whether the first is a type's name, or all the values below in a row, as of a discrete column."""
        values = [value.replace("\\ ", " ") for value in re.split(r"(?<!\\) ", cells[0].strip())]
        said = {text.strip() for text in cells[2:] if _filled(text)}
        return cells[0].strip().casefold() in _TYPES or (len(values) > 1 and said <= set(values))

    return (
        all(len(cells) > _FEWEST for cells in columns)
        and all(map(of_type, columns))
        and all(cells[1].strip().casefold() in _ROLES for cells in columns)
        and any(cells[1].strip() for cells in columns)
        and not any(cells[0] in cells[2:] for cells in columns)
    )


def description(parsed: Parsed) -> dict[str, str] | None:
    """What the first row says of each column; None where it is data."""
    head = _head(parsed)
    return {column: cells[0] for column, cells in head.items()} if _describes([*head.values()]) else None


def _head(parsed: Parsed) -> dict[str, list[str]]:
    rows = max(min(_LOOKED_AT, _CELLS // max(len(parsed.columns), 1)), 2 * _FEWEST)
    head: dict[str, list[str]] = parsed.data.slice(0, rows).to_pydict()
    return head


def _describes(columns: Sequence[Sequence[str]], *, again: bool = False) -> bool:
    """Whether the first of the columns' cells say what the others are: texts, each another.

    `again`: below such a row, where they may be alike if each column has one.
    """
    filled = [cells for cells in columns if len(cells) > _FEWEST and _filled(cells[0])]
    said = [cells[0].strip() for cells in filled]
    told = len(set(said)) >= _MOSTLY * len(said) or (again and len(filled) == len(columns))
    if any(map(is_number, said)) or not told:
        return False
    kinds = [_unlike(cell, cells[1:]) for cell, cells in zip(said, filled, strict=True)]
    if kinds.count("like"):
        return False
    of_all = len(said) >= _COLUMNS and not kinds.count("open")
    return of_all or (kinds.count("number") > 1 and 2 * kinds.count("open") <= len(said))


def _unlike(cell: str, below: Sequence[str]) -> Literal["number", "words", "open", "like"]:
    """Whether a cell is unlike the numbers or recurring words below it; open where those tell nothing."""
    filled = [text.strip() for text in below if _filled(text)]
    if cell in filled:
        return "like"
    if filled and sum(map(is_number, filled)) >= _MOSTLY * len(filled):
        return "number"
    return "words" if 2 * len(set(filled)) <= len(filled) else "open"


def _filled(cell: str) -> bool:
    return cell.strip().casefold() not in LIKE_MISSING | {""}
