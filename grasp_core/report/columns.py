"""Tables as data: what each column takes of a row, and how people, programs and workbooks see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import pandas as pd

from grasp_core.model.text import csv_text, safe_cell

Kind = Literal["text", "count", "value", "end", "points", "p", "mark"]
Cell = str | float
_NUMBERS: tuple[Kind, ...] = ("value", "end", "points", "p")


class Column(NamedTuple):
    """A column of a table; a view in which it has no name lacks it.

    `of`: what it takes of a row: an attribute, or what a function gives.
    `head`: its name for people, whose cells are texts that `write` makes.
    `name`: for programs, which get numbers, NaN where there is none.
    `sheet`: in a workbook, which shows the same numbers by their `kind`.
    """

    of: str | Callable[[Any], Any]
    head: str = ""
    write: Callable[[Any], Any] | None = None
    name: str = ""
    sheet: str = ""
    kind: Kind = "text"

    def cells(self, rows: Iterable[Any]) -> list[Any]:
        """What each row has, None where it has no number."""
        return list(map(attrgetter(self.of) if isinstance(self.of, str) else self.of, rows))

    def values(self, rows: Iterable[Any]) -> list[Any]:
        """The same for programs, NaN where there is no number."""
        return list(map(or_nan, self.cells(rows))) if self.kind in _NUMBERS else self.cells(rows)

    def texts(self, rows: Iterable[Any]) -> list[Any]:
        """The same for people."""
        return list(map(self.write, self.cells(rows))) if self.write else self.cells(rows)


class Cells(NamedTuple):
    """A column of a workbook's sheet: its head, how its cells are shown, and these."""

    head: str
    kind: Kind
    cells: Sequence[Cell]


def texts(columns: Iterable[Column], rows: Sequence[Any]) -> pd.DataFrame:
    """A table for people."""
    cells = {one.head: one.texts(rows) for one in columns if one.head}
    return pd.DataFrame(cells, dtype=None if rows else "object")


def numbers(columns: Iterable[Column], rows: Sequence[Any]) -> pd.DataFrame:
    """A table for programs."""
    return pd.DataFrame({one.name: one.values(rows) for one in columns if one.name})


def sheet(columns: Iterable[Column], rows: Sequence[Any]) -> list[Cells]:
    """A workbook's sheet."""
    return [Cells(one.sheet, one.kind, one.values(rows)) for one in columns if one.sheet]


def csv_of(columns: Iterable[Column], rows: Sequence[Any], *, end: str = "\n") -> str:
    """A table for programs as CSV, at full precision; no cell of it is run by a spreadsheet."""
    shown = [one for one in columns if one.name]
    cells = [
        [exact(cell) if one.kind in _NUMBERS else _safe(cell) for cell in one.cells(rows)] for one in shown
    ]
    return csv_text([safe_cell(one.name) for one in shown], zip(*cells, strict=True), end=end)


def _safe(cell: object) -> object:
    return safe_cell(cell) if isinstance(cell, str) else cell


def or_nan(value: Any) -> Any:
    """The number; NaN where there is none."""
    return float("nan") if value is None else value


def exact(value: float | None) -> str:
    """All digits of a value, as tables for programs have them; empty where there is none."""
    return "" if value is None else repr(float(value))
