"""Reading of delimited text: delimiter, quotes, rows."""

import csv
import dataclasses
import io
import re
from array import array
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import DataError, know, raise_stopping, stop
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import EXAMPLES, number, quoted
from grasp_core.reading.files.encodings import line_of
from grasp_core.reading.files.headers import LOOKED_AT, Header, header_below, note_titles
from grasp_core.reading.table.columns import compact
from grasp_core.reading.table.parsed import Watch, from_rows, no_rows
from grasp_core.reading.table.table import Parsed

_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a vertical bar"}
KINDS = {",": "CSV", "\t": "TSV", ";": "CSV, semicolons", "|": "CSV, bars"}
_TO_FILL_IN = ("Approve", "Reject")


class UnreadableRowError(Exception):
    """The row from a line on has quotation marks that do not match; `why` is the CSV reader's reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line = line
        self.why = why

    def refusal(self, name: str) -> DataError:
        """Return the error that refuses the file."""
        if "expected after" in self.why:
            found = "text follows a quotation mark that closes a field"
        elif "larger than" in self.why:
            found = f"a field of more than {csv.field_size_limit():,} characters starts here (an open quote?)"
        else:
            found = "a quotation mark opens a field and is never closed"
        return DataError(
            f"{name}, row {self.line}: {found}; close the field before the next separator, "
            'and write a quotation mark inside a quoted field twice ("")'
        )


def records(
    file: BinaryIO, delimiter: str, *, strict: bool = True, spaced: bool = False
) -> Generator[tuple[int, list[str]]]:
    """Yield each row that is not blank, with its first line; `spaced`: blanks follow delimiters."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=strict, skipinitialspace=spaced)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableRowError(line, str(error)) from None


class WatchedBytes(io.BytesIO):
    """Bytes that report how far they have been read."""

    def __init__(self, content: bytes, start: int, watch: Watch) -> None:
        super().__init__(content)  # shares the bytes, does not copy them
        self.seek(start)
        self._watch, self._total = watch, len(content)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read some of the bytes."""
        self._watch(self.tell(), self._total)
        return super().read(size)

    def read1(self, size: int | None = -1, /) -> bytes:
        """Read some of the bytes; text is read by this function."""
        return self.read(size)


def parse_with_care(
    content: bytes, header: Header, delimiter: str, name: str, watch: Watch, *, spaced: bool = False
) -> Parsed:
    """Read every row alone, if a file is unusual; rows of another length than the header's are refused."""
    width, lines = len(header.columns), array("q")
    # Mechanical Turk names two columns that are for the requester to fill in.
    of_turk = header.columns[-2:] == _TO_FILL_IN and "AssignmentId" in header.columns
    may_lack = len(_TO_FILL_IN) if of_turk else 0
    examples: list[tuple[int, int]] = []
    first, ragged, filled = 1, 0, 0

    def rows() -> Iterator[list[str]]:
        nonlocal first, ragged, filled
        found = records(WatchedBytes(content, 0, watch), delimiter, spaced=spaced)
        for position, (line, record) in enumerate(found):
            missing = width - len(record)
            if position < header.rows:
                first = first if position else line
            elif 0 <= missing <= may_lack:
                filled += missing > 0
                lines.append(line)
                yield record + [""] * missing
            elif missing < 0 and not any(cell.strip() for cell in record[missing:]):
                lines.append(line)
                yield record[:missing]
            else:
                ragged += 1
                if len(examples) < EXAMPLES:
                    examples.append((line, len(record)))

    try:
        data = from_rows(header.columns, rows())
    except UnreadableRowError as error:
        raise error.refusal(name) from None
    if ragged:
        (line, found), *others = examples
        remark = FileProblem.ROWS_OF_OTHER_LENGTH(
            file=name, row=line, found=found, columns=width, more=ragged - 1, delimiter=_NAMES[delimiter]
        )
        shown = [f"row {other}: {number(length, 'field')}" for other, length in others]
        raise_stopping([stop(remark, ragged, shown)])
    if not data.num_rows:
        raise no_rows(name, first)
    numbers = np.frombuffer(lines, dtype=np.int64)
    notes = (know(FileProblem.ROWS_END_EARLY(file=name, rows=filled), filled),) if filled else ()
    return Parsed(data, KINDS[delimiter], lines[0], numbers, notes)


_SNIFFED_ROWS, _HEAD = 100, 1 << 16
_BLANKS = re.compile(rb'("[^"\n]*")| +')  # a quoted field, which is kept, or blanks between fields
_QUOTE, _LF, _CR = 34, 10, 13
_SHOWN = 1_000
_COMMENTS = re.compile(rb"(?:#[^\n]*\n)+")
_DECLARED = re.compile(rb'"?sep=([,\t;|])"?\r?\n', re.IGNORECASE)
"""A first line that names the delimiter for Excel."""
MAX_LINE = 1 << 24  # most bytes of a line; a file with a longer one is no table

Bytes = npt.NDArray[np.uint8]


def parse(content: bytes, name: str, watch: Watch, *, headed: bool = False) -> Parsed:
    """Read text in UTF-8, without byte order mark, whose first row names the columns; `watch` may stop it."""
    _check_bytes(content, name)
    content, comments = _without_comments(content)
    declared = _DECLARED.match(content)
    if declared is not None:
        content = b"\n" + content[declared.end() :]  # an empty line in its place keeps the numbers of rows
    content = _tabbed(content) if declared is None else content
    delimiter = _sniff(content, name) if declared is None else declared[1].decode()
    # "a, b, c": blanks behind delimiters belong to no cell if all names have them.
    _, (head, *more) = next(records(io.BytesIO(content), delimiter, strict=False), (1, [""]))
    spaced = delimiter != "\t" and bool(head) and bool(more) and all(one.startswith(" ") for one in more)
    found = records(io.BytesIO(content), delimiter, spaced=spaced)
    rows: list[tuple[int, list[str]]] = []
    try:
        rows.append(next(found))
        rows += islice(found, 0 if headed else LOOKED_AT)
    except UnreadableRowError as error:  # a later error is raised again when the rows are read
        if not rows:
            raise error.refusal(name) from None
    header = header_below(rows, name)
    parsed = None if spaced else _parse_fast(content, header, delimiter, watch)
    parsed = parsed or parse_with_care(content, header, delimiter, name, watch, spaced=spaced)
    for column in header.unnamed:
        if any(map(str.strip, parsed.distinct(column))):
            raise DataError(
                f"{name}: column {parsed.columns.index(column) + 1} has no name and holds text; "
                "name every column in the header, or remove it"
            )
        parsed = parsed.without([column])
    parsed = _without(parsed, lambda column: "", name)  # rows of delimiters alone, as between Toloka's suites
    parsed = _without_header(parsed, name) if header.rows == 1 and not headed else parsed
    notes = note_titles([[line] for line in comments], rows[0][0], name)
    return dataclasses.replace(parsed, problems=(*notes, *header.notes, *parsed.problems))


def _without_comments(content: bytes) -> tuple[bytes, list[str]]:
    """Empty the lines above the table that begin with '#', and return them too.

    A line with as many fields as the first row below them belongs to the table, as "#,item,label" does.
    """
    found = _COMMENTS.match(content)
    if found is None:
        return content, []
    below = content[found.end() :]
    delimiter = max(KINDS, key=lambda one: _score(below, one))
    table = _lengths(below, delimiter)[:1]
    lines = found[0].splitlines(keepends=True)
    if not table or table[0][1] < 2:
        return content, []
    widths = ((_lengths(line, delimiter) or [(1, 0)])[0][1] for line in lines)
    above = next((at for at, width in enumerate(widths) if width == table[0][1]), len(lines))
    comments = lines[:above]
    rest = content[sum(map(len, comments)) :]
    # Empty lines in their place keep the numbers of rows.
    return b"\n" * above + rest, [line.decode().strip() for line in comments]


def _without(parsed: Parsed, cell: Callable[[str], str], name: str) -> Parsed:
    """Return the table without rows in which each column has the cell that its name gives."""
    found = np.ones(len(parsed), dtype=np.bool_)
    for column in parsed.columns:
        same = pc.is_in(parsed.data.column(column), value_set=pa.array([cell(column)]))
        found &= np.asarray(same, dtype=np.bool_)
        if not found.any():
            return parsed
    if found.all():
        raise no_rows(name)
    return parsed.kept(np.flatnonzero(~found))


def _without_header(parsed: Parsed, name: str) -> Parsed:
    """Return the table without rows that repeat the header, as in files that were put one after another."""
    rest = _without(parsed, lambda column: column, name)
    if rest is parsed:
        return parsed
    count = len(parsed) - len(rest)
    note = know(FileProblem.HEADER_AGAIN(file=name, rows=count), count)
    return dataclasses.replace(rest, problems=(*rest.problems, note))


def _check_bytes(content: bytes, name: str) -> None:
    if not content[:MAX_LINE].strip() and not content.strip():
        raise DataError(f"{name} is empty; it should hold a header and a row per annotation, item or rater")
    if b"\0" in content:
        row = line_of(content, content.index(b"\0"))
        raise DataError(
            f"{name}, row {row}: a NUL byte was found, so this is no text; "
            "save the table as CSV (UTF-8), TSV or Parquet"
        )
    start = 0
    while start + MAX_LINE < len(content):  # the last line end in each piece: few steps, no copy
        end = max(
            content.rfind(b"\n", start, start + MAX_LINE), content.rfind(b"\r", start, start + MAX_LINE)
        )
        if end < start:
            raise DataError(
                f"{name}, row {line_of(content, start)}: a line of more than {MAX_LINE:,} bytes; "
                "a table has a line per row, so end each row with a line break"
            )
        start = end + 1


def _sniff(content: bytes, name: str) -> str:
    """Return the delimiter that splits the first rows into as many fields as the header."""
    scores = {delimiter: _score(content, delimiter) for delimiter in KINDS}
    best = max(scores, key=lambda delimiter: scores[delimiter])
    if scores[best][1] < 2:
        first = content[:_SHOWN].split(b"\n", 1)[0].decode(errors="replace").strip()
        found = f"{name}, row 1: only one column was found ({quoted(first)})"
        begins = _begins(content)
        if begins is not None:
            raise DataError(
                f"{found}, and a table seems to begin in row {begins}; remove what stands above it"
            )
        raise DataError(f"{found}; separate the columns by commas, tabs, semicolons or vertical bars")
    return best


def _tabbed(content: bytes) -> bytes:
    """Replace blanks by tabs in a text whose columns only blanks separate, as in tables of R."""
    head = content[:_HEAD].splitlines()[:_SNIFFED_ROWS]
    if not head or any(delimiter.encode() in head[0] for delimiter in KINDS):
        return content
    tabbed = partial(_BLANKS.sub, lambda found: found[1] or b"\t")
    widths = [len(tabbed(line.strip()).split(b"\t")) for line in head if line.strip()]
    if len(content) > _HEAD:
        widths = widths[:-1]
    usual = max(widths[1:], default=0)
    if usual < 3 or widths[0] not in (usual, usual - 1) or set(widths[1:]) != {usual}:
        return content
    return b"\n".join(tabbed(line.strip()) for line in content.split(b"\n"))


def _begins(content: bytes) -> int | None:
    """Return the first line below a title from which on all rows have the same number of fields, or None."""
    for delimiter in KINDS:
        found = _lengths(content, delimiter)
        width = found[-1][1] if found else 1
        table = [row for row in found if row[1] == width]
        if width > 1 and len(table) > 1 and found[-len(table) :] == table:
            return table[0][0]
    return None


def _score(content: bytes, delimiter: str) -> tuple[float, int]:
    lengths = [length for _, length in _lengths(content, delimiter)]
    if not lengths or lengths[0] < 2:
        return 0.0, 1
    return lengths.count(lengths[0]) / len(lengths), lengths[0]


def _lengths(content: bytes, delimiter: str) -> list[tuple[int, int]]:
    """Return line and number of fields of the first rows, up to a row that cannot be read."""
    found: list[tuple[int, int]] = []
    with suppress(UnreadableRowError):
        for line, record in islice(records(io.BytesIO(content), delimiter, strict=False), _SNIFFED_ROWS):
            found.append((line, len(record)))
    return found


def _parse_fast(content: bytes, header: Header, delimiter: str, watch: Watch) -> Parsed | None:
    """Parse a well-formed file, or return None, so that :func:`parse_with_care` names the error."""
    data = np.frombuffer(content, dtype=np.uint8)
    quotes = _places(data, _QUOTE)
    if not _well_quoted(data, quotes, ord(delimiter)):
        return None
    starts, lines = _row_starts(data, quotes)
    rows = starts.size - header.rows
    if rows < 1:
        return None
    first = int(starts[header.rows])
    lines = lines[header.rows :]
    regular = int(lines[0]) + rows - 1 == int(lines[-1])
    del starts, quotes
    try:
        table = pyarrow.csv.read_csv(
            WatchedBytes(content, first, watch),
            read_options=pyarrow.csv.ReadOptions(column_names=header.columns, block_size=MAX_LINE),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header.columns, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != rows:
        return None
    own = None if regular else lines
    return Parsed(compact(table), KINDS[delimiter], int(lines[0]), own)


def _places(data: Bytes, wanted: int) -> Int64Array:
    """Return positions of a byte, searched by pieces, so that little memory is needed beside the file."""
    starts = range(0, data.size, MAX_LINE)
    return np.concatenate([np.flatnonzero(data[at : at + MAX_LINE] == wanted) + at for at in starts])


def _well_quoted(data: Bytes, quotes: Int64Array, delimiter: int) -> bool:
    """Return whether every quotation mark opens or closes a whole field or is doubled inside one."""
    if quotes.size % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    around = np.array([delimiter, _LF, _CR, _QUOTE], dtype=np.uint8)
    before = data[opening[opening > 0] - 1]
    after = data[closing[closing < data.size - 1] + 1]
    return bool(np.isin(before, around).all() and np.isin(after, around).all())


def _row_starts(data: Bytes, quotes: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return offset and line of each row that is not blank in a well-quoted file."""
    lone = _places(data, _CR)
    lone = lone[data[np.minimum(lone + 1, data.size - 1)] != _LF]
    ends = _places(data, _LF)
    if lone.size:
        ends = np.sort(np.concatenate((ends, lone)))
    starts = np.concatenate(([0], ends + 1))
    lines = np.arange(1, starts.size + 1)
    if quotes.size:
        outside = np.searchsorted(quotes, starts) % 2 == 0
        starts, lines = starts[outside], lines[outside]
    inside = starts < data.size
    starts, lines = starts[inside], lines[inside]
    first = data[starts]
    blank = (first == _LF) | (first == _CR)
    return starts[~blank], lines[~blank]
