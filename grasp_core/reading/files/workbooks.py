"""Reading of workbooks: sheets of Excel and OpenDocument as rows."""

from __future__ import annotations

import dataclasses
import datetime
import io
import math
import re
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from xml.parsers import expat

import numpy as np
import python_calamine as calamine

from grasp_core.model.errors import DataError, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import EXAMPLES, agree, listed, number, quoted
from grasp_core.reading.archives import containers
from grasp_core.reading.archives.stack import Member
from grasp_core.reading.files.headers import Header, header_of, note_titles, titles
from grasp_core.reading.table.columns import MAX_WRITTEN, duration_text, moment_text
from grasp_core.reading.table.parsed import MAX_COLUMNS, from_rows, name_columns, no_rows
from grasp_core.reading.table.table import Parsed

_MERGED = 1_000  # most merged areas that are checked one by one
_SHEET = calamine.SheetTypeEnum.WorkSheet
_VISIBLE = calamine.SheetVisibleEnum.Visible


def _sheets(
    book: calamine.CalamineWorkbook, chosen: str | None, most_cells: int, name: str
) -> Iterator[tuple[calamine.CalamineSheet, list[str]]]:
    """Yield the chosen sheet, or each with a table, with the names of all sheets visible and not blank."""
    shown = [sheet.name for sheet in book.sheets_metadata if (sheet.typ, sheet.visible) == (_SHEET, _VISIBLE)]
    filled: list[str] = []
    further: list[str] = []
    first: calamine.CalamineSheet | None = None
    for own in shown:
        sheet = book.get_sheet_by_name(own)
        if sheet.start is None:
            continue
        if sheet.height * sheet.width > most_cells:
            raise DataError(
                f"{name}, sheet {quoted(own)}: nearly all cells between the filled ones are empty; "
                "a cell far away from the table may be filled, so copy the table to a new workbook"
            )
        filled.append(own)
        if not (_holds_table(sheet) if chosen is None else own == chosen):
            continue
        if first is None:
            first = sheet
        else:
            further.append(own)  # read again, so that not all are in memory
    if first is None and chosen is not None:
        what = f"its sheets are {listed(filled)}" if filled else "all of its visible sheets are empty"
        raise DataError(f"{name} holds no sheet {quoted(chosen)}; {what}")
    if first is None:
        where = f" (looked at {listed(filled)})" if filled else ""
        raise DataError(
            f"{name} holds no visible sheet with a table{where}; a sheet needs a row of column names "
            "and a row below it, each with at least two filled cells"
        )
    yield first, filled
    del first, sheet
    for own in further:
        yield book.get_sheet_by_name(own), filled


def _holds_table(sheet: calamine.CalamineSheet) -> bool:
    rows = 0
    for row in sheet.iter_rows():
        rows += sum(cell != "" for cell in row) > 1
        if rows == 2:
            return True
    return False


def text(value: object) -> str:
    """Return a cell's text as in an export to CSV; cells with an error arrive as empty ones."""
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


OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_WINDOW = 200  # number of first rows that are searched for the header
_MOST = 0.9  # share of the rows that determines a table's width; a remark beside a row does not widen it
_FREE_CELLS, _CELLS_PER_MARK = 1 << 20, 50
"""Cells that any sheet may have, and further cells per mark of its XML; a larger sheet is hardly filled."""
_NEEDED = (".xml", ".rels", "mimetype")
"""Endings of names of members with cells; pictures and macros are never unpacked."""
_ROOT = "_rels/.rels"
"""The member that declares an XLSX file's kind; archives do not list it, as its name begins with a dot."""
_ERROR_CELL = re.compile(rb"<c\s[^<>]*\bt=[\"']e[\"']")
"""Pattern of a cell with an error. It ends at the next mark, so that no byte is read more than twice."""
_NO_VALUE = re.compile(rb"<c\s(?![^<>]*\bt=)[^<>]*><f(?:[^<>]*/>|[^<>]*>[^<]*</f>)(?:<v\s*/>|<v></v>)?</c>")
"""Pattern of a formula without a computed value; a formula of an empty text has a type that says text."""
_OTHERWISE = "save it as XLSX or CSV"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

Row = tuple[int, list[str]]  # a row's number in the sheet, and its texts


def is_workbook(names: tuple[str, ...]) -> bool:
    """Return whether an archive with these members is a workbook."""
    return any(name.startswith("xl/") or name == "content.xml" for name in names)


def parse(content: bytes, name: str, sheet: str | None) -> tuple[list[Member], tuple[str, ...]]:
    """Read one sheet, or each with a header and a row; name all sheets that are visible and filled."""
    unpacked, kind, errors, most_cells = _unpacked(content, name)
    tables: list[Member] = []
    refused: DataError | None = None
    filled: list[str] = []
    try:
        with calamine.load_workbook(io.BytesIO(unpacked)) as book:
            for one, filled in _sheets(book, sheet, most_cells, name):
                shown = f"{name}, sheet {quoted(one.name)}" if len(filled) > 1 else name
                try:
                    tables.append(Member(one.name, _table(one, kind, shown)))
                except DataError as error:
                    refused = refused or error
    except calamine.PasswordError:
        raise _with_password(name) from None
    except calamine.CalamineError:
        raise _damaged(name, kind) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # an exception of Rust without a public name
            raise
        raise _damaged(name, kind) from None
    if not tables:
        raise refused or _damaged(name, kind)
    notes = [know(FileProblem.ERROR_CELLS(file=name, cells=errors), errors)] if errors else []
    first = dataclasses.replace(tables[0].parsed, problems=(*tables[0].parsed.problems, *notes))
    return [Member(tables[0].name, first), *tables[1:]], tuple(filled)


def _unpacked(content: bytes, name: str) -> tuple[bytes, str, int, int]:
    """Return the workbook without compression, its kind, the number of errors, and most cells of a sheet."""
    if content.startswith(OLD_EXCEL):
        if _ENCRYPTED in content:
            raise _with_password(name)
        return content, "XLS", 0, MAX_WRITTEN
    packed = containers.Archive(content, name)
    names = packed.names
    if "xl/workbook.bin" in names:
        raise DataError(f"{name} is an Excel workbook in the binary form XLSB; save it as XLSX or CSV")
    out = io.BytesIO()
    errors = marks = 0
    with zipfile.ZipFile(out, "w") as archive:
        for path in (*dict.fromkeys(names), _ROOT):
            with suppress(KeyError):  # not every workbook has _ROOT
                inside = packed.member(path) if path.endswith(_NEEDED) else b""
                containers.check_size(out.tell() + len(inside), name)
                if path == "content.xml" or path.startswith("xl/"):
                    _check_xml(inside, name)
                if path.startswith("xl/work"):
                    if count := sum(1 for _ in _NO_VALUE.finditer(inside)):
                        raise DataError(
                            f"{name}: {number(count, 'formula')} in the workbook "
                            f"{agree(count, 'has', 'have')} no value; open it in a spreadsheet program and "
                            "save it there, which works them out"
                        )
                    errors += sum(1 for _ in _ERROR_CELL.finditer(inside))
                marks += inside.count(b"<")
                archive.writestr(zipfile.ZipInfo(path), inside)
    kind = "ODS" if "content.xml" in names else "XLSX"
    return out.getvalue(), kind, errors, min(MAX_WRITTEN, _FREE_CELLS + _CELLS_PER_MARK * marks)


def _check_xml(content: bytes, name: str) -> None:
    """Refuse XML that is not well-formed, on which calamine may never end, or that could define entities."""

    def refuse(*_details: object) -> None:
        raise DataError(f"{name}: this workbook declares a document type, as none should; {_OTHERWISE}")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        if content:
            parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise _damaged(name) from None


def _with_password(name: str) -> DataError:
    return DataError(f"{name} is a workbook with a password; save it without one")


def _damaged(name: str, kind: str = "XLSX") -> DataError:
    other = "an old Office file without a sheet, or a damaged one" if kind == "XLS" else "damaged or cut off"
    return DataError(f"{name} is not a workbook that can be read ({other}); {_OTHERWISE}")


def _table(sheet: calamine.CalamineSheet, kind: str, name: str) -> Parsed:
    texts = enumerate((list(map(text, row)) for row in sheet.iter_rows()), start=1)
    rows = ((line, row) for line, row in texts if any(cell.strip() for cell in row))
    window = list(islice(rows, _WINDOW))
    if not window:
        raise DataError(f"{name} holds only blank cells; it needs a row of column names and a row below it")
    width, start = sheet.width, _header(window)
    line, header = window[start]
    if width > MAX_COLUMNS:
        name_columns(header, name, f"row {line}")
    lines = array("q")
    if (other := _other_header(window, start, name)) is not None:
        first, found = other
        below = _numbered(chain(window[first + found.rows :], rows), lines)
        data = from_rows(found.columns, below)
        data = data.select([column for column in found.columns if column not in found.unnamed])
        notes = list(found.notes)
    else:
        below = _numbered(chain(window[start + 1 :], rows), lines)
        data = from_rows([str(column) for column in range(width)], below)
        if not lines:
            raise no_rows(name, line)
        kept = [
            column
            for column in range(width)
            if header[column].strip() or data.column(column).unique().to_pylist() != [""]
        ]
        _check_header(sheet, header, kept, f"{name}, row {line}", line)
        columns, notes = name_columns([header[column] for column in kept], name, f"row {line}")
        data, notes = (
            data.select(kept).rename_columns(columns),
            [*note_titles([row for _, row in window[:start]], line, name), *notes],
        )
    merged = sum(bottom >= line for _, (bottom, _) in _merged(sheet))
    notes += [know(FileProblem.MERGED_CELLS(file=name, cells=merged), merged)] if merged else []
    own = None if lines[0] + len(lines) - 1 == lines[-1] else np.frombuffer(lines, dtype=np.int64)
    return Parsed(data, kind, first_row=lines[0], lines=own, problems=tuple(notes))


def _merged(sheet: calamine.CalamineSheet) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the first and the last cell of each merged area, by row and column from 0."""
    return sheet.merged_cell_ranges or []


def _other_header(window: Sequence[Row], start: int, name: str) -> tuple[int, Header] | None:
    """Return a header of several rows, perhaps with merged upper rows, or of no row, and its position."""
    for first in dict.fromkeys((max(start - 1, 0), start)):
        rows = [row for _, row in window[first:]]
        if len({cell for cell in rows[0] if cell.strip()}) < 2 or titles(rows):
            continue
        try:
            found = header_of(rows, name, window[first][0])
        except DataError:
            continue
        if found.rows != 1 and len(rows) > found.rows:
            return first, found
    return None


def _numbered(rows: Iterable[Row], lines: array[int]) -> Iterator[list[str]]:
    for line, row in rows:
        lines.append(line)
        yield row


def _header(rows: Sequence[Row]) -> int:
    """Return the position of the first row that fills over half of the table's width; titles fill less."""
    filled = [sum(bool(cell.strip()) for cell in row) for _, row in rows]
    for position, count in enumerate(filled[:-1]):
        below = sorted(filled[position + 1 :])
        if count > 1 and 2 * count > below[math.ceil(_MOST * len(below)) - 1]:
            return position
    return 0


def _check_header(
    sheet: calamine.CalamineSheet, header: Sequence[str], kept: Sequence[int], where: str, line: int
) -> None:
    """Refuse columns without a name, except the first of several, which may number the rows."""
    blank = [column for column in kept if not header[column].strip() and (column > kept[0] or len(kept) == 1)]
    start = (sheet.start or (0, 0))[1]
    for (top, left), (bottom, right) in _merged(sheet)[:_MERGED]:
        first, last = left - start, right - start
        if top < line <= bottom + 1 and any(first < column <= last for column in blank):
            raise DataError(
                f"{where}: the column name {quoted(header[first])} stands in a cell merged over "
                f"{number(right - left + 1, 'column')}; unmerge it and name every column"
            )
    if blank:
        letters = ", ".join(_letters(column + start) for column in blank[:EXAMPLES])
        letters += ", ..." if len(blank) > EXAMPLES else ""
        raise DataError(
            f"{where}: {number(len(blank), 'column')} with filled cells {agree(len(blank), 'has', 'have')} "
            f"no name ({letters}); name every column, or clear it"
        )


def _letters(column: int) -> str:
    """Return a spreadsheet's name of a column, counted from 0."""
    before, last = divmod(column, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)
