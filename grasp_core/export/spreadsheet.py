"""A result as an Excel workbook in which every text stays a text."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import xlsxwriter

from grasp_core.report.contents import conventions, marks, methods, not_estimable, raters_per_item, run_title
from grasp_core.report.label_tables import MEAN, label_use_table, with_label_use
from grasp_core.report.pairs.tables import pairs_table
from grasp_core.report.printable import printable_result
from grasp_core.report.table_csv import safe_cell
from grasp_core.report.tables import dsi_table, results_table
from grasp_core.report.words import NOT_ESTIMABLE, WORDS, reported_statistics
from grasp_core.result import RunResult

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
class _Column:
    head: str
    kind: Kind
    cells: Sequence[Cell]


def table_xlsx(result: RunResult) -> bytes:
    """Workbook with the sheets Table 5, DSI, Label use, Pairs (both where computed), Methods, Data.

    Notes
    -----
    Numbers are numbers at full precision, shown with three digits; p and q below 0.001 show as such.
    Texts are never formulas or links, and there are no other files that the workbook refers to.
    """
    result = printable_result(result)
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, _TEXT_ONLY)
    book.set_properties({"title": run_title(result.spec)[:255], "created": _CREATED})
    formats = _formats(book, result.permutations)
    _sheet(book, formats, "Table 5", _groups(result), frozen=2)
    _sheet(book, formats, "DSI", _dsi(result), frozen=1)
    if with_label_use(result):
        _sheet(book, formats, "Label use", _label_use(result), frozen=4)
    if result.pairs:
        _sheet(book, formats, "Pairs", _pairs(result), frozen=3)
    _sheet(book, formats, "Methods & conventions", _methods(result))
    _sheet(book, formats, "Data", _data(result))
    book.close()
    return buffer.getvalue()


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


def _sheet(
    book: Any, formats: dict[str, Any], name: str, columns: Sequence[_Column], frozen: int = 0
) -> None:
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


def _width(column: _Column) -> int:
    shown = [len(cell) if isinstance(cell, str) else 8 for cell in column.cells]
    low, high = _WIDTHS
    return min(max([low, len(column.head) + 4, *shown]), high)


def _groups(result: RunResult) -> list[_Column]:
    table = results_table(result)
    columns = [
        _Column("Axis", "text", table["axis"].tolist()),
        _Column("Group", "text", table["group"].tolist()),
        _Column("Raters", "count", table["raters"].tolist()),
        _Column("Annotations", "count", table["annotations"].tolist()),
    ]
    for name in reported_statistics(result):
        words = WORDS[name].name
        signs = (table[f"{name}_arrow"] + table[f"{name}_stars"]).tolist()
        columns += [
            _Column(words, "value", table[name].tolist()),
            _Column(f"{words} from", "end", table[f"{name}_low"].tolist()),
            _Column(f"{words} to", "end", table[f"{name}_high"].tolist()),
            _Column(f"{words} ↑↓ *", "mark", signs),
            _Column(f"{words} p", "p", table[f"{name}_p"].tolist()),
            _Column(f"{words} q", "p", table[f"{name}_q"].tolist()),
        ]
    return columns


def _dsi(result: RunResult) -> list[_Column]:
    table = dsi_table(result)
    heads: dict[str, tuple[str, Kind]] = {
        "axis": ("Axis", "text"),
        "dsi": ("DSI", "value"),
        "stars": ("*", "mark"),
        "group": ("Attained by", "text"),
        "p": ("p (against the largest of chance groupings)", "p"),
        "q": ("q", "p"),
        "p_group": ("p of that group", "p"),
        "stars_group": ("* of that group", "mark"),
        "reason": ("Why not estimable", "text"),
    }
    return [_Column(head, kind, table[name].tolist()) for name, (head, kind) in heads.items()]


def _label_use(result: RunResult) -> list[_Column]:
    """Points as numbers; of the mean, its units."""
    table = label_use_table(result)
    scale = table["label"].eq(MEAN).map({True: 1, False: 100})
    heads: dict[str, tuple[str, Kind]] = {
        "axis": ("Axis", "text"),
        "group": ("Group", "text"),
        "raters": ("Raters", "count"),
        "label": ("Label", "text"),
        "shift": ("Points more often than the others", "points"),
        "low": ("from", "points"),
        "high": ("to", "points"),
        "p": ("p of this label", "p"),
        "p_group": ("p of all labels", "p"),
        "q": ("q", "p"),
        "stars": ("*", "mark"),
    }
    for name in ("shift", "low", "high"):
        table[name] *= scale
    return [_Column(head, kind, table[name].tolist()) for name, (head, kind) in heads.items()]


def _pairs(result: RunResult) -> list[_Column]:
    """A row for each pair and what was tested of it; labels in points."""
    table = pairs_table(result)
    heads: dict[str, tuple[str, Kind]] = {
        "axis": ("Axis", "text"),
        "first": ("First", "text"),
        "second": ("Second", "text"),
        "raters_first": ("Raters of the first", "count"),
        "raters_second": ("Raters of the second", "count"),
        "statistic": ("Statistic, or label in points", "text"),
        "value": ("Value", "value"),
        "low": ("from", "end"),
        "high": ("to", "end"),
        "p": ("p", "p"),
        "q": ("q", "p"),
        "stars": ("*", "mark"),
        "reason": ("Why not estimable", "text"),
    }
    return [_Column(head, kind, table[name].tolist()) for name, (head, kind) in heads.items()]


def _methods(result: RunResult) -> list[_Column]:
    analysis = result.spec.analysis
    rows = [("Statistic", method.name, method.explanation, method.formula) for method in methods(result)]
    rows += [("Mark", sign, meaning, "") for sign, meaning in marks(analysis)]
    rows += [
        ("Convention", name, sentence, "") for name, sentence in conventions(result.spec, result.stopping)
    ]
    rows += [("Not estimable", "", sentence, "") for sentence in not_estimable(result)]
    rows += [("Warning", "", str(warning), "") for warning in result.warnings]
    return _texts(("Kind", "Name", "In words", "Formula"), rows)


def _data(result: RunResult) -> list[_Column]:
    data = result.data
    rows: list[tuple[str, str, Cell]] = [
        ("Run", "Title", run_title(result.spec)),
        ("Run", "GRASP version", result.code_version),
        ("Count", "Items", data.items),
        ("Count", "Raters", data.raters),
        ("Count", "Annotations", data.annotations),
        ("Count", "Raters per item", raters_per_item(result)),
    ]
    rows += [
        ("Annotations with label", label, count)
        for label, count in zip(data.categories, data.label_counts, strict=False)
    ]
    if data.account is not None:
        rows.append(("Count", f"{data.account.unit.capitalize()}s read", data.account.read))
        rows += [("Left out", str(one.reason), one.count) for one in data.account.left_out]
    for file in data.files:
        rows += [("Bytes of file", file.name, file.bytes), ("SHA-256 of file", file.name, file.sha256)]
    rows.append(("SHA-256", "All data", data.sha256))
    kinds, names, values = zip(*rows, strict=True)
    return [_Column("Kind", "text", kinds), _Column("Name", "text", names), _Column("Value", "count", values)]


def _texts(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[_Column]:
    return [_Column(head, "text", [row[position] for row in rows]) for position, head in enumerate(heads)]
