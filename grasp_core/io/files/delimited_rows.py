"""Delimited text row by row, by Python's own CSV reader: slow, but it knows the lines."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Generator, Iterator
from typing import BinaryIO

import numpy as np

from grasp_core.errors import DataError, Problem, know, raise_stopping, stop
from grasp_core.io.files.headers import Header
from grasp_core.io.table.parsed import Parsed, Watch, from_rows, no_rows
from grasp_core.remarks.problems import FileProblem
from grasp_core.wording import EXAMPLES, number

_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a vertical bar"}
KINDS = {",": "CSV", "\t": "TSV", ";": "CSV, semicolons", "|": "CSV, bars"}
_TO_FILL_IN = ("Approve", "Reject")


class UnreadableRowError(Exception):
    """A row whose quotation marks do not match.

    Parameters
    ----------
    line : int
        Line that the row starts on.
    why : str
        The CSV reader's words.
    """

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line = line
        self.why = why

    def refusal(self, name: str) -> DataError:
        """The sentence that refuses the file."""
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


def records(file: BinaryIO, delimiter: str, *, strict: bool = True) -> Generator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line that it starts on.

    Raises
    ------
    UnreadableRowError
        Where quotation marks do not match.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=strict)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableRowError(line, str(error)) from None


class WatchedBytes(io.BytesIO):
    """Bytes that tell how far they have been read."""

    def __init__(self, content: bytes, start: int, watch: Watch) -> None:
        super().__init__(content)  # shares the bytes, does not copy them
        self.seek(start)
        self._watch, self._total = watch, len(content)

    def read(self, size: int | None = -1, /) -> bytes:
        """Some of the bytes."""
        self._watch(self.tell(), self._total)
        return super().read(size)

    def read1(self, size: int | None = -1, /) -> bytes:
        """The same; text is read by this."""
        return self.read(size)


def parse_with_care(content: bytes, header: Header, delimiter: str, name: str, watch: Watch) -> Parsed:
    """Read every row by itself, where a file is unusual.

    Parameters
    ----------
    content : bytes
        In UTF-8.
    header : Header
    delimiter, name : str
    watch : callable

    Raises
    ------
    DataError
        Naming the row whose quotation marks do not match or whose fields are not as many as the header's.
    """
    careful = _Careful(WatchedBytes(content, 0, watch), delimiter, header)
    try:
        data = from_rows(header.columns, careful.rows())
    except UnreadableRowError as error:
        raise error.refusal(name) from None
    careful.check(name)
    if not data.num_rows:
        raise no_rows(name, careful.first)
    lines = np.frombuffer(careful.lines, dtype=np.int64)
    return Parsed(header.columns, data, KINDS[delimiter], int(lines[0]), lines, tuple(careful.notes(name)))


def _may_lack(columns: tuple[str, ...]) -> int:
    """Fields that rows may end before: Mechanical Turk names two that are for the requester to fill in."""
    return len(_TO_FILL_IN) if columns[-2:] == _TO_FILL_IN and "AssignmentId" in columns else 0


class _Careful:
    """Rows one by one; those of another length than the header's are counted and left out.

    Rows may lack a few of the last fields, see :func:`_may_lack`; these are then empty. Empty fields behind
    the last column count for nothing.
    """

    def __init__(self, file: BinaryIO, delimiter: str, header: Header) -> None:
        self._file, self._delimiter, self._width = file, delimiter, len(header.columns)
        self._header_rows, self._may_lack = header.rows, _may_lack(header.columns)
        self.first = 1
        self.lines = array("q")
        self.ragged = self._filled = 0
        self._examples: list[tuple[int, int]] = []

    def rows(self) -> Iterator[list[str]]:
        for position, (line, record) in enumerate(records(self._file, self._delimiter)):
            if position < self._header_rows:
                self.first = line if not position else self.first
                continue
            missing = self._width - len(record)
            if 0 <= missing <= self._may_lack:
                self._filled += missing > 0
                self.lines.append(line)
                yield record + [""] * missing
            elif missing < 0 and not any(cell.strip() for cell in record[missing:]):
                self.lines.append(line)
                yield record[:missing]
            else:
                self.ragged += 1
                if len(self._examples) < EXAMPLES:
                    self._examples.append((line, len(record)))

    def notes(self, name: str) -> list[Problem]:
        """Sentences on what was filled in."""
        note = know(FileProblem.ROWS_END_EARLY(file=name, rows=self._filled), self._filled)
        return [note] if self._filled else []

    def check(self, name: str) -> None:
        """Refuse the file if rows differed in length."""
        if not self.ragged:
            return
        (line, found), *others = self._examples
        remark = FileProblem.ROWS_OF_OTHER_LENGTH(
            file=name,
            row=line,
            found=found,
            columns=self._width,
            more=self.ragged - 1,
            delimiter=_NAMES[self._delimiter],
        )
        examples = [f"row {other}: {number(length, 'field')}" for other, length in others]
        raise_stopping([stop(remark, self.ragged, examples)])
