"""A workbook's cells as text.

calamine keeps a sheet as a full rectangle and ends the whole process when that does not fit into memory: two
cells far apart are enough (https://github.com/tafia/calamine/issues/693). So this belongs into a process of
its own.
"""

from __future__ import annotations

import datetime
import io
import math
from collections.abc import Iterator
from typing import Any

import python_calamine as calamine

from grasp_core.io.table.cells import MAX_WRITTEN
from grasp_core.io.table.dates import duration_text, moment_text

_MERGED = 1_000
"""Merged areas that are told one by one."""
_SHEET = calamine.SheetTypeEnum.WorkSheet
_VISIBLE = calamine.SheetVisibleEnum.Visible


def sheets(
    content: bytes, chosen: str | None, most_cells: int = MAX_WRITTEN
) -> Iterator[tuple[dict[str, Any], Iterator[list[str]]]]:
    """Facts about a workbook, with rows: of the sheet chosen, else of each that holds a table.

    A row is the texts of its cells from the sheet's first used column to the row's last filled one.
    """
    try:
        with calamine.load_workbook(io.BytesIO(content)) as book:
            yield from _of_book(book, chosen, most_cells)
    except calamine.PasswordError:
        yield {"refused": "password"}, iter(())
    except calamine.CalamineError:
        yield {"refused": "damaged"}, iter(())
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, which has no public name
            raise
        yield {"refused": "damaged"}, iter(())


def _of_book(
    book: calamine.CalamineWorkbook, chosen: str | None, most_cells: int
) -> Iterator[tuple[dict[str, Any], Iterator[list[str]]]]:
    shown = [sheet.name for sheet in book.sheets_metadata if (sheet.typ, sheet.visible) == (_SHEET, _VISIBLE)]
    filled: list[str] = []
    further: list[str] = []
    first: calamine.CalamineSheet | None = None
    for name in shown:
        sheet = book.get_sheet_by_name(name)
        if sheet.start is None:
            continue
        if sheet.height * sheet.width > most_cells:
            yield {"refused": "sparse", "sheet": name}, iter(())
            return
        filled.append(name)
        if not (_holds_table(sheet) if chosen is None else name == chosen):
            continue
        if first is None:
            first = sheet
        else:
            further.append(name)  # read again, so that not all are in memory
    if first is None:
        yield {"refused": "no table" if chosen is None else "no sheet", "sheets": filled}, iter(())
        return
    yield _about(first, filled), map(_row, first.iter_rows())
    del first, sheet
    for name in further:
        again = book.get_sheet_by_name(name)
        yield _about(again, filled), map(_row, again.iter_rows())


def _about(sheet: calamine.CalamineSheet, filled: list[str]) -> dict[str, Any]:
    merged = sheet.merged_cell_ranges or []
    return {
        "sheets": filled,
        "sheet": sheet.name,
        "width": sheet.width,
        "left": (sheet.start or (0, 0))[1],
        "merged": [[*first, *last] for first, last in merged[:_MERGED]],
        "merged_count": len(merged),
    }


def _holds_table(sheet: calamine.CalamineSheet) -> bool:
    """Whether at least two rows have at least two filled cells: a header and a row."""
    rows = 0
    for row in sheet.iter_rows():
        rows += sum(cell != "" for cell in row) > 1
        if rows == 2:
            return True
    return False


def _row(cells: list[Any]) -> list[str]:
    row = [text(cell) for cell in cells]
    while row and not row[-1]:
        row.pop()
    return row


def text(value: object) -> str:
    """A cell as an export to CSV shows it; cells that hold an error come as empty ones."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return repr(value + 0.0).removesuffix(".0") if math.isfinite(value) else ""
    if isinstance(value, datetime.datetime):
        return moment_text(value)
    if isinstance(value, datetime.timedelta):
        return duration_text(value)
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)
