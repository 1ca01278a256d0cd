"""CSV and TSV files as text.

A well-formed file goes through a compiled parser that checks the number of fields. Whatever is unusual
about a file (stray quotation marks, ragged rows, bytes that are not UTF-8) goes through Python's own
CSV reader instead, which is slower and knows the lines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Generator
from contextlib import suppress
from itertools import islice

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from grasp_core.errors import DataError
from grasp_core.io.parsed import Parsed, check_header, no_rows
from grasp_core.io.problems import number, quoted, raise_stopping, stop

_BOM = b"\xef\xbb\xbf"
_SNIFFED_ROWS = 100
_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a vertical bar"}
_KINDS = {",": "CSV", "\t": "TSV"}
_QUOTE, _LF, _CR = 34, 10, 13

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]


class _UnreadableRowError(Exception):
    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line = line
        self.why = why


def parse(content: bytes, name: str) -> Parsed:
    """Read comma- or tab-separated text in UTF-8 whose first row names the columns.

    Raises
    ------
    DataError
        Naming the row, what was found and what would do.
    """
    content = content.removeprefix(_BOM)
    _check_bytes(content, name)
    delimiter = _sniff(content, name)
    records = _records(content, delimiter)
    try:
        _, header = next(records)
    except _UnreadableRowError as error:
        raise _unreadable(name, error) from None
    columns = tuple(header)
    check_header(columns, name)
    parsed = _parse_fast(content, columns, delimiter)
    return parsed or _parse_with_care(content, columns, delimiter, name)


def _check_bytes(content: bytes, name: str) -> None:
    if not content.strip():
        raise DataError(f"{name} is empty; it should hold a header and a row per annotation, item or rater")
    if b"\0" in content:
        row = _line_of(content, content.index(b"\0"))
        raise DataError(
            f"{name}, row {row}: a NUL byte was found, so this is not UTF-8 text; "
            "save the table as CSV (UTF-8), TSV or Parquet"
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        character = bytes([byte]).decode("latin-1")
        meant = f" ({quoted(character)} in Latin-1)" if character.isprintable() else ""
        raise DataError(
            f"{name}, row {_line_of(content, error.start)}: byte 0x{byte:02X}{meant} is not UTF-8 text; "
            "save the file as 'CSV UTF-8'"
        ) from None


def _line_of(content: bytes, position: int) -> int:
    before = content[:position]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def _records(content: bytes, delimiter: str, *, strict: bool = True) -> Generator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line that it starts on.

    Raises
    ------
    _UnreadableRowError
        Where quotation marks do not match.
    """
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=strict)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise _UnreadableRowError(line, str(error)) from None


def _sniff(content: bytes, name: str) -> str:
    """The delimiter that splits the first rows into the same number of fields as the header."""
    scores = {delimiter: _score(content, delimiter) for delimiter in _NAMES}
    best = max(scores, key=lambda delimiter: scores[delimiter])
    if scores[best][1] < 2:
        first = content.split(b"\n", 1)[0].decode().strip()
        raise DataError(
            f"{name}, row 1: only one column was found ({quoted(first)}); "
            "separate the columns by commas or tabs"
        )
    if best not in _KINDS:
        raise DataError(
            f"{name}, row 1: the columns are separated by {_NAMES[best]}; "
            "save the file as comma- or tab-separated text"
        )
    return best


def _score(content: bytes, delimiter: str) -> tuple[float, int]:
    """Share of the first rows that are as long as the header, and its length."""
    lengths: list[int] = []
    with suppress(_UnreadableRowError):
        for _, record in islice(_records(content, delimiter, strict=False), _SNIFFED_ROWS):
            lengths.append(len(record))
    if not lengths or lengths[0] < 2:
        return 0.0, 1
    return lengths.count(lengths[0]) / len(lengths), lengths[0]


def _parse_fast(content: bytes, columns: tuple[str, ...], delimiter: str) -> Parsed | None:
    """Parse a well-formed file, or return None for :func:`_parse_with_care` to say what is wrong."""
    data = np.frombuffer(content, dtype=np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if not _well_quoted(data, quotes, ord(delimiter)):
        return None
    starts, lines = _row_starts(data, quotes)
    if starts.size < 2:
        return None
    try:
        frame = _arrow_frame(content, int(starts[1]), columns, delimiter)
    except pa.ArrowInvalid:
        return None
    if len(frame) != starts.size - 1:
        return None
    lines = lines[1:]
    regular = int(lines[0]) + len(frame) - 1 == int(lines[-1])
    return Parsed(columns, frame, _KINDS[delimiter], int(lines[0]), None if regular else lines)


def _well_quoted(data: Bytes, quotes: Positions, delimiter: int) -> bool:
    """Whether every quotation mark opens or closes a whole field or is doubled inside one."""
    if quotes.size % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    around = np.array([delimiter, _LF, _CR, _QUOTE], dtype=np.uint8)
    before = data[opening[opening > 0] - 1]
    after = data[closing[closing < data.size - 1] + 1]
    return bool(np.isin(before, around).all() and np.isin(after, around).all())


def _row_starts(data: Bytes, quotes: Positions) -> tuple[Positions, Positions]:
    """Offset and line of each row that is not blank, from a well-quoted file."""
    newline = data == _LF
    lone = np.flatnonzero(data == _CR)
    lone = lone[~newline[np.minimum(lone + 1, data.size - 1)]]
    ends = np.flatnonzero(newline)
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


def _arrow_frame(content: bytes, start: int, columns: tuple[str, ...], delimiter: str) -> pd.DataFrame:
    table = pyarrow.csv.read_csv(
        pa.BufferReader(pa.py_buffer(content).slice(start)),
        read_options=pyarrow.csv.ReadOptions(column_names=columns, block_size=1 << 24),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
        ),
    )
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _parse_with_care(content: bytes, columns: tuple[str, ...], delimiter: str, name: str) -> Parsed:
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for line, record in _records(content, delimiter):
            rows.append(record)
            lines.append(line)
    except _UnreadableRowError as error:
        raise _unreadable(name, error) from None
    _check_lengths(rows, lines, len(columns), delimiter, name)
    if len(rows) < 2:
        raise no_rows(name, f" (row {lines[0]})")
    frame = pd.DataFrame(rows[1:], columns=pd.Index(columns, dtype="str"), dtype="str")
    return Parsed(columns, frame, _KINDS[delimiter], lines[1], np.array(lines[1:], dtype=np.int64))


def _unreadable(name: str, error: _UnreadableRowError) -> DataError:
    if "expected after" in error.why:
        found = "text follows a quotation mark that closes a field"
    elif "larger than" in error.why:
        found = f"a field of more than {csv.field_size_limit():,} characters starts here (an open quote?)"
    else:
        found = "a quotation mark opens a field and is never closed"
    return DataError(
        f"{name}, row {error.line}: {found}; close the field before the next separator, "
        'and write a quotation mark inside a quoted field twice ("")'
    )


def _check_lengths(rows: list[list[str]], lines: list[int], width: int, delimiter: str, name: str) -> None:
    ragged = [(line, len(row)) for line, row in zip(lines, rows, strict=True) if len(row) != width]
    if not ragged:
        return
    line, found = ragged[0]
    others = f" ({number(len(ragged) - 1, 'more row')} likewise)" if len(ragged) > 1 else ""
    raise_stopping(
        [
            stop(
                f"{name}, row {line}: {number(found, 'field')} found, the header names {width:,}{others}; "
                f"give every row {width:,} fields, and put a field that contains {_NAMES[delimiter]} "
                "in double quotation marks",
                len(ragged),
                [f"row {line}: {number(length, 'field')}" for line, length in ragged],
            )
        ]
    )
