"""Workbooks in which every text stays a text: sheets of columns."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import xlsxwriter

from grasp_core.model.text import safe_cell
from grasp_core.report.words.names import NOT_ESTIMABLE

_CELL_LIMIT = 32_767
"""Characters that Excel takes in a cell."""
_WIDTHS = (8, 60)
_CREATED = datetime(1980, 1, 1)
"""Excel wants a date; a fixed one, as in the archive itself, makes equal results equal files."""
_TEXT_ONLY = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}

Kind = Literal["text", "count", "value", "end", "points", "p", "mark"]
Cell = str | float


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: its head, how its cells are shown, and these."""

    head: str
    kind: Kind
    cells: Sequence[Cell]


class Book:
    """A workbook that takes sheets one by one.

    `permutations`: how far down a p-value of 0 is known.

    Numbers are numbers at full precision, shown with three digits; p and q below 0.001 show as such.
    Texts are never formulas or links, and there are no other files that the workbook refers to.
    """

    def __init__(self, title: str, permutations: int) -> None:
        self._buffer = io.BytesIO()
        self._book = xlsxwriter.Workbook(self._buffer, _TEXT_ONLY)
        self._book.set_properties({"title": title[:255], "created": _CREATED})
        self._formats = _formats(self._book, permutations)

    def add(self, name: str, columns: Sequence[Column], frozen: int = 0) -> None:
        """Add a sheet, of which so many columns stay in sight."""
        _sheet(self._book, self._formats, name, columns, frozen)

    def content(self) -> bytes:
        """The file; no sheet can be added any more."""
        self._book.close()
        return self._buffer.getvalue()


def _formats(book: Any, permutations: int) -> dict[str, Any]:
    floor = 1 / permutations  # a p of 0 (convention `paper`) is only known to be below it
    unseen = f'[=0]"< {floor:.3f}";' if floor > 0.001 else ""
    top = {"valign": "top"}
    return {
        "head": book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1}),
        "text": book.add_format({"text_wrap": True, **top}),
        "quoted": book.add_format({"text_wrap": True, "quote_prefix": True, **top}),  # text when edited, too
        "count": book.add_format({"num_format": "#,##0", **top}),
        "value": book.add_format({"num_format": "0.000", "align": "right", **top}),
        "points": book.add_format({"num_format": "+0.0;\u22120.0;0.0", "align": "right", **top}),
        "end": book.add_format({"num_format": "0.000", "align": "right", **top}),
        "p": book.add_format({"num_format": f'{unseen}[<0.001]"< 0.001";0.000', "align": "right", **top}),
        "mark": book.add_format(top),
    }


def _sheet(book: Any, formats: dict[str, Any], name: str, columns: Sequence[Column], frozen: int) -> None:
    sheet = book.add_worksheet(name)
    rows = len(columns[0].cells)
    if rows:  # a table, so that its header is one for screen readers, sorting and filtering
        heads = [{"header": column.head, "header_format": formats["head"]} for column in columns]
        sheet.add_table(0, 0, rows, len(columns) - 1, {"columns": heads, "style": "Table Style Light 1"})
    for position, column in enumerate(columns):
        sheet.write_string(0, position, column.head, formats["head"])
        for row, cell in enumerate(column.cells, start=1):
            if isinstance(cell, str):
                kind = "quoted" if safe_cell(cell) != cell else column.kind
                sheet.write_string(row, position, _fitting(cell), formats[kind])
            elif math.isnan(cell):
                missing = "–" if column.kind in ("end", "points") else NOT_ESTIMABLE
                sheet.write_string(row, position, missing, formats[column.kind])
            else:
                sheet.write_number(row, position, cell, formats[column.kind])
        sheet.set_column(position, position, _width(column))
    sheet.freeze_panes(1, frozen)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)


def _fitting(text: str) -> str:
    return text if len(text) <= _CELL_LIMIT else f"{text[: _CELL_LIMIT - 1]}…"


def _width(column: Column) -> int:
    shown = [len(cell) if isinstance(cell, str) else 8 for cell in column.cells]
    low, high = _WIDTHS
    return min(max([low, len(column.head) + 4, *shown]), high)
