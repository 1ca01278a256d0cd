"""Results, a group's items and a plan as Excel workbooks, in which every text stays a text."""

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import xlsxwriter

from grasp_core.analysis.items.outcomes import ItemsResult
from grasp_core.analysis.planner.values import Plan
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.result import RunResult
from grasp_core.model.text import printable, printable_name, safe_cell
from grasp_core.report import items
from grasp_core.report import plan as plans
from grasp_core.report.contents import conventions, marks, methods, not_estimable, ranged, run_title
from grasp_core.report.document import PAIRS, pairs_tested
from grasp_core.report.everybody import TABLES
from grasp_core.report.findings.answer import answer
from grasp_core.report.pairs import most_told
from grasp_core.report.rater_map import axis_columns, group_columns, groups_of, sentences
from grasp_core.report.slices import as_result, as_results
from grasp_core.report.tables import (
    DSI,
    Cell,
    Kind,
    SheetColumn,
    columns_of_groups,
    sheet,
    shown_axes,
    with_label_use,
)
from grasp_core.report.tidy import LABEL_USE, label_use_lines
from grasp_core.report.words.names import NOT_ESTIMABLE, shown_outcome
from grasp_core.report.words.printable import printable_result

_CELL_LIMIT = 32_767
"""Characters that Excel takes in a cell."""
_NARROW, _WIDE = 8, 60
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

    `permutations`: their number; a p-value of 0 is only known to be below 1 / permutations.

    Numbers are numbers at full precision, shown with three digits; p and q below 0.001 show as such.
    Texts are never formulas or links, and there are no other files that the workbook refers to.
    """

    def __init__(self, title: str, permutations: int) -> None:
        self._buffer = io.BytesIO()
        self._book = xlsxwriter.Workbook(self._buffer, _TEXT_ONLY)
        self._book.set_properties({"title": title[:255], "created": _CREATED})
        self._formats = _formats(self._book, permutations)

    def add(self, name: str, columns: Sequence[SheetColumn], frozen: int = 0) -> None:
        """Add a sheet; its first `frozen` columns stay in sight."""
        sheet, formats, rows = self._book.add_worksheet(name), self._formats, len(columns[0].cells)
        if rows:  # a table, so that its header is one for screen readers, sorting and filtering
            heads = [{"header": column.head, "header_format": formats["head"]} for column in columns]
            sheet.add_table(0, 0, rows, len(columns) - 1, {"columns": heads, "style": "Table Style Light 1"})
        for position, column in enumerate(columns):
            sheet.write_string(0, position, column.head, formats["head"])
            for row, cell in enumerate(column.cells, start=1):
                self._write(sheet, row, position, cell, column.kind)
            shown = [len(cell) if isinstance(cell, str) else 8 for cell in column.cells]
            sheet.set_column(position, position, min(max([_NARROW, len(column.head) + 4, *shown]), _WIDE))
        sheet.freeze_panes(1, frozen)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.repeat_rows(0)

    def _write(self, sheet: Any, row: int, position: int, cell: Cell, kind: Kind) -> None:
        if isinstance(cell, str):
            fitting = cell if len(cell) <= _CELL_LIMIT else f"{cell[: _CELL_LIMIT - 1]}…"
            quoted = safe_cell(cell) != cell
            sheet.write_string(row, position, fitting, self._formats["quoted" if quoted else kind])
        elif math.isnan(cell):
            missing = NOT_ESTIMABLE if kind == "value" else "–"
            sheet.write_string(row, position, missing, self._formats[kind])
        else:
            sheet.write_number(row, position, cell, self._formats[kind])

    def content(self) -> bytes:
        """Close the workbook and return the file; no sheet can be added afterwards."""
        self._book.close()
        return self._buffer.getvalue()


def _formats(book: Any, permutations: int) -> dict[str, Any]:
    floor = 1 / permutations  # a p of 0 (convention `paper`) is only known to be below it
    unseen = f'[=0]"< {floor:.3f}";' if floor > 0.001 else ""
    looks: dict[str, dict[str, Any]] = {
        "head": {"bold": True, "text_wrap": True, "bottom": 1},
        "text": {"text_wrap": True},
        "quoted": {"text_wrap": True, "quote_prefix": True},  # text when edited, too
        "count": {"num_format": "#,##0"},
        "value": {"num_format": "0.000", "align": "right"},
        "points": {"num_format": "+0.0;\u22120.0;0.0", "align": "right"},
        "end": {"num_format": "0.000", "align": "right"},
        "p": {"num_format": f'{unseen}[<0.001]"< 0.001";0.000', "align": "right"},
        "mark": {},
    }
    return {name: book.add_format({**look, "valign": "top"}) for name, look in looks.items()}


def table_xlsx(result: RunResult, found: RaterMap | None = None) -> bytes:
    """Workbook with the answer and its warnings, then every table, and the map if there is one."""
    result = printable_result(result)
    found = None if found is None else printable_result(found)
    book = Book(run_title(result.spec), max(result.permutations, 1))
    told = answer(result)
    said = [("Answer", told.headline.plain)]
    said += [("Warning", str(warning)) for warning in ranked(result.warnings)]
    said += [("", sentence.plain) for sentence in told.in_files]
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
    slices = [
        ((found_in.column, one.value, one.items), view)
        for found_in in result.slices
        for one, view in as_results(result, found_in)
    ]
    if slices:
        book.add("Slices", _below(_SLICE, slices, _groups), frozen=5)
    if any(with_label_use(view) for _, view in slices):
        book.add("Label use by slice", _below(_SLICE, slices, _label_use), frozen=5)
    if any(view.dsi for _, view in slices):
        book.add("DSI by slice", _below(_SLICE, slices, _dsi), frozen=4)
    if result.given:
        given = [((one.column,), as_result(result, one)) for one in result.given]
        book.add("Given", _below({"Given": "text"}, given, _groups), frozen=3)
    if found is not None and found.reason is None:
        book.add("Map of raters", sheet(axis_columns(found), found.axes), frozen=1)
        book.add("Groups on the map", sheet(group_columns(), groups_of(found)), frozen=2)
    book.add("Methods & conventions", _methods(result, found))
    book.add("Data", _data(result))
    return book.content()


def _groups(result: RunResult) -> list[SheetColumn]:
    return sheet(columns_of_groups(result, shown_outcome), result.groups)


def _dsi(result: RunResult) -> list[SheetColumn]:
    return sheet(DSI, shown_axes(result))


def _label_use(result: RunResult) -> list[SheetColumn]:
    return sheet(LABEL_USE, label_use_lines(result))


_SLICE: Mapping[str, Kind] = {"Column": "text", "Value": "text", "Items": "count"}


def _below(
    heads: Mapping[str, Kind],
    views: Iterable[tuple[Sequence[Cell], RunResult]],
    make: Callable[[RunResult], list[SheetColumn]],
) -> list[SheetColumn]:
    """Stack the columns of all views in one sheet, after columns that name each view."""
    blocks = []
    for named, view in views:
        columns = make(view)
        rows = len(columns[0].cells)
        first = [
            SheetColumn(head, kind, [cell] * rows)
            for (head, kind), cell in zip(heads.items(), named, strict=True)
        ]
        blocks.append([*first, *columns])
    return [
        SheetColumn(of_all[0].head, of_all[0].kind, [cell for one in of_all for cell in one.cells])
        for of_all in zip(*blocks, strict=True)
    ]


def _methods(result: RunResult, found: RaterMap | None) -> list[SheetColumn]:
    analysis = result.spec.analysis
    rows = [("Statistic", method.name, method.explanation, method.formula) for method in methods(result)]
    rows += [("Mark", sign, meaning, "") for sign, meaning in marks(result)]
    told = conventions(result.spec, result.stopping)
    rows += [("Convention", name, sentence, "") for name, sentence in told.items()]
    rows += [("Not estimable", "", sentence, "") for sentence in not_estimable(result)]
    if found is not None:
        said = sentences(found, analysis.level)
        rows += [("Map of raters", "", sentence.plain, "") for sentence in said]
    return _texts(("Kind", "Name", "In words", "Formula"), rows)


def _data(result: RunResult) -> list[SheetColumn]:
    data = result.data
    rows: list[tuple[str, str, Cell]] = [
        ("Run", "Title", run_title(result.spec)),
        ("Run", "GRASP version", result.code_version),
        ("Count", "Items", data.items),
        ("Count", "Raters", data.raters),
        ("Count", "Annotations", data.annotations),
        ("Count", "Raters per item", ranged(*data.raters_per_item)),
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
    *texts, values = _texts(("Kind", "Name", "Value"), rows)
    return [*texts, values._replace(kind="count")]


def _texts(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[SheetColumn]:
    return [SheetColumn(head, "text", [row[position] for row in rows]) for position, head in enumerate(heads)]


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
    book.add("Answer", _texts(("About", "In words"), said))
    for measure, name in items.MEASURES.items():
        rows = items.in_order(result, measure, "part")
        book.add(name, sheet(items.items_columns(result, measure, texts), rows), frozen=1)
    return book.content()


def recruitment_xlsx(plan: Plan) -> bytes:
    """Workbook with the raters that the cheapest design needs, and a sheet of sentences."""
    book = Book("Recruitment", plan.total)
    rows = [replace(row, group=printable_name(row.group)) for row in plans.recruitment_rows(plan)]
    book.add("Recruitment", sheet(plans.RECRUITMENT, rows))
    said = [(printable(one.plain),) for one in plans.sentences(plan)]
    book.add("In words", _texts(("In words",), said))
    return book.content()
