"""Results, a group's items and a plan as Excel workbooks, in which every text stays a text."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import xlsxwriter

from grasp_core.analysis.items.outcomes import ItemsResult, Measure
from grasp_core.analysis.planner.values import Plan
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.result import RunResult, SliceResult, SlicesResult
from grasp_core.model.text import printable, printable_name, safe_cell
from grasp_core.report import items
from grasp_core.report import plan as plans
from grasp_core.report.columns import Cell, Cells, or_nan, sheet
from grasp_core.report.contents import conventions, marks, methods, not_estimable, raters_per_item, run_title
from grasp_core.report.everybody import TABLES
from grasp_core.report.findings.sentences import answer
from grasp_core.report.in_numbers import PAIRS, pairs_tested
from grasp_core.report.pairs import most_told
from grasp_core.report.rater_map import axis_columns, group_columns, groups_of, sentences
from grasp_core.report.slices import as_result, as_results
from grasp_core.report.tables import (
    DSI,
    LABEL_USE,
    columns_of_groups,
    label_uses,
    ordered_dsi,
    with_label_use,
)
from grasp_core.report.words.names import NOT_ESTIMABLE, STARS
from grasp_core.report.words.printable import printable_result, printable_values

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

    def add(self, name: str, columns: Sequence[Cells], frozen: int = 0) -> None:
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


def _sheet(book: Any, formats: dict[str, Any], name: str, columns: Sequence[Cells], frozen: int) -> None:
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


def _width(column: Cells) -> int:
    shown = [len(cell) if isinstance(cell, str) else 8 for cell in column.cells]
    low, high = _WIDTHS
    return min(max([low, len(column.head) + 4, *shown]), high)


def table_xlsx(result: RunResult, found: RaterMap | None = None) -> bytes:
    """Workbook with the answer and its warnings, then every table, and the map where it was made."""
    result = printable_result(result)
    found = None if found is None else printable_values(found)
    book = Book(run_title(result.spec), max(result.permutations, 1))
    told = answer(result)
    said = [("Answer", told.headline.plain)]
    said += [("Warning", str(warning)) for warning in ranked(result.warnings)]
    said += [("", sentence.plain) for sentence in told.details]
    if result.pairs:
        said += [("Pairs", sentence.plain) for sentence in most_told(result, len(result.pairs))]
    book.add("Answer", _texts(("What", "In words"), said), frozen=1)
    if result.of_everybody and result.everybody is not None:
        for of, _, name, of_table in TABLES:
            if rows := getattr(result.everybody, of):
                book.add(name, sheet(of_table, rows), frozen=1)
        book.add("Data", _data(result))
        return book.content()
    book.add("Table 5", _groups(result), frozen=2)
    book.add("DSI", _dsi(result), frozen=1)
    if with_label_use(result):
        book.add("Label use", _label_use(result), frozen=4)
    if result.pairs:
        book.add("Pairs", sheet(PAIRS, pairs_tested(result)), frozen=3)
    if result.slices:
        book.add("Slices", _slices(result, _groups), frozen=5)
    if any(with_label_use(view) for _, _, view in _views(result)):
        book.add("Label use by slice", _slices(result, _label_use), frozen=5)
    if any(view.dsi for _, _, view in _views(result)):
        book.add("DSI by slice", _slices(result, _dsi), frozen=4)
    if result.given:
        blocks = []
        for one in result.given:
            columns = _groups(as_result(result, one))
            blocks.append([Cells("Given", "text", [one.column] * len(columns[0].cells)), *columns])
        book.add("Given", _below(blocks), frozen=3)
    if found is not None and found.reason is None:
        book.add("Map of raters", sheet(axis_columns(found), found.axes), frozen=1)
        book.add("Groups on the map", sheet(group_columns(), groups_of(found)), frozen=2)
    book.add("Methods & conventions", _methods(result, found))
    book.add("Data", _data(result))
    return book.content()


def _groups(result: RunResult) -> list[Cells]:
    return sheet(columns_of_groups(result), result.groups)


def _dsi(result: RunResult) -> list[Cells]:
    return sheet(DSI, ordered_dsi(result))


def _label_use(result: RunResult) -> list[Cells]:
    return sheet(LABEL_USE, label_uses(result))


def _views(result: RunResult) -> Iterator[tuple[SlicesResult, SliceResult, RunResult]]:
    for found in result.slices:
        for one, view in as_results(result, found):
            yield found, one, view


def _slices(result: RunResult, make: Callable[[RunResult], list[Cells]]) -> list[Cells]:
    """A sheet's columns of all slices, one below the other, behind the slices' columns, values and items."""
    blocks = []
    for found, one, view in _views(result):
        columns = make(view)
        rows = len(columns[0].cells)
        first = [
            Cells("Column", "text", [found.column] * rows),
            Cells("Value", "text", [one.value] * rows),
            Cells("Items", "count", [one.items] * rows),
        ]
        blocks.append([*first, *columns])
    return _below(blocks)


def _below(blocks: Sequence[Sequence[Cells]]) -> list[Cells]:
    return [
        Cells(of_all[0].head, of_all[0].kind, [cell for one in of_all for cell in one.cells])
        for of_all in zip(*blocks, strict=True)
    ]


def _methods(result: RunResult, found: RaterMap | None) -> list[Cells]:
    analysis = result.spec.analysis
    rows = [("Statistic", method.name, method.explanation, method.formula) for method in methods(result)]
    rows += [("Mark", sign, meaning, "") for sign, meaning in marks(analysis)]
    rows += [
        ("Convention", name, sentence, "") for name, sentence in conventions(result.spec, result.stopping)
    ]
    rows += [("Not estimable", "", sentence, "") for sentence in not_estimable(result)]
    if found is not None:
        said = sentences(found, analysis.level)
        rows += [("Map of raters", "", sentence.plain, "") for sentence in said]
    return _texts(("Kind", "Name", "In words", "Formula"), rows)


def _data(result: RunResult) -> list[Cells]:
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
    return [Cells("Kind", "text", kinds), Cells("Name", "text", names), Cells("Value", "count", values)]


def _texts(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Cells]:
    return [Cells(head, "text", [row[position] for row in rows]) for position, head in enumerate(heads)]


def items_xlsx(result: ItemsResult, texts: Mapping[str, str] | None = None) -> bytes:
    """Workbook with a sheet of items for each measure, largest first, and one of sentences."""
    book = Book(printable(items.items_title(result)), result.permutations)
    said = [
        (name, printable(sentence.plain))
        for measure, name in items.MEASURES.items()
        for sentence in items.sentences(result, measure)
    ]
    said += [(name, items.EXPLANATIONS[measure]) for measure, name in items.MEASURES.items()]
    said += [("Warning", printable(str(warning))) for warning in result.warnings]
    about, words = zip(*said, strict=True)
    book.add("Answer", [Cells("About", "text", about), Cells("In words", "text", words)])
    for measure, name in items.MEASURES.items():
        book.add(name, _items(result, measure, texts), frozen=1)
    return book.content()


def _items(result: ItemsResult, measure: Measure, texts: Mapping[str, str] | None) -> list[Cells]:
    """One measure's items, largest part first, with the labels of both sides."""
    found = items.in_order(result, measure, "part")
    rows, parts = [row for row, _ in found], [part for _, part in found]
    columns = [Cells("Item", "text", [printable(row.item) for row in rows])]
    if texts is not None:
        columns.append(Cells("Text", "text", [items.cut_text(texts.get(row.item, "")) for row in rows]))
    if measure == "label_use":
        columns += [
            Cells("Label", "text", [printable_name(part.label or "") for part in parts]),
            Cells("Part, points", "points", [100 * part.value for part in parts]),
        ]
    else:
        columns.append(Cells("Part", "value", [part.value for part in parts]))
    columns += [
        Cells("p", "p", [or_nan(part.p) for part in parts]),
        Cells("q", "p", [or_nan(part.q) for part in parts]),
        Cells("*", "mark", [STARS[part.significance] for part in parts]),
    ]
    for label in result.label_use:
        shown = printable_name(label)
        columns += [
            Cells(f"Group: {shown}", "count", [row.inside.get(label, 0) for row in rows]),
            Cells(f"Others: {shown}", "count", [row.outside.get(label, 0) for row in rows]),
        ]
    return columns


def recruitment_xlsx(plan: Plan) -> bytes:
    """Workbook with whom the cheapest design takes, and a sheet of sentences."""
    book = Book("Recruitment", plan.total)
    rows = [replace(row, group=printable_name(row.group)) for row in plans.recruitment_rows(plan)]
    book.add("Recruitment", sheet(plans.RECRUITMENT, rows))
    said = [(printable(one.plain),) for one in plans.sentences(plan)]
    book.add("In words", _texts(("In words",), said))
    return book.content()
