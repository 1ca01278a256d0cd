"""Files with the columns ID and Label: predictions and gold."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.annotations import Int64Array
from grasp_core.benchmark.folders import RawFile
from grasp_core.errors import DataError
from grasp_core.io.files import delimited, encodings
from grasp_core.io.table.columns import Column
from grasp_core.models_as_raters.labels import ID, LABEL

MAX_ROWS = 1_000_000
"""More rows than this are taken for a mistake; the benchmark's largest tasks have 5,000."""
_MAX_LINES = 2 * MAX_ROWS
"""More lines are not even taken apart: rows may be blank, or of several lines."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFile:
    """Ids and labels as a file has them.

    Parameters
    ----------
    path : str
        For messages.
    columns : tuple of str
        Empty if the file could not be read.
    ids, labels : tuple of str, length n
        Empty if the file has no such columns.
    rows : int
        Rows of the file.
    error : str or None
        Why it could not be read, in one sentence.
    first_row : int
    lines : int array, shape (n,), or None
        As in :class:`grasp_core.io.table.table.Table`.
    """

    path: str
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: int = 0
    error: str | None = None
    first_row: int = 2
    lines: Int64Array | None = None

    @property
    def has_columns(self) -> bool:
        """Whether there are an ID and a label in every row."""
        return {ID, LABEL} <= set(self.columns)

    def place(self, position: int) -> str:
        """File and row, as they begin a sentence."""
        return f"{self.path}, row {self.row(position)}"

    def row(self, position: int) -> int:
        """Number by which a person finds a row in the file."""
        return position + self.first_row if self.lines is None else int(self.lines[position])


def read_labelled(file: RawFile) -> LabelledFile:
    """Read a file with a header and columns separated by commas; what is wrong with it is in ``error``.

    Notes
    -----
    Rows longer than :data:`~grasp_core.io.files.delimited.MAX_LINE` bytes are refused before they are taken
    apart.
    """
    if file.error is not None:
        return LabelledFile(file.path, error=file.error)
    if max(map(file.content.count, (b"\n", b"\r"))) > _MAX_LINES:
        message = f"{file.path} has more than {_MAX_LINES:,} lines, at most {MAX_ROWS:,} rows are read"
        return LabelledFile(file.path, error=message)
    try:
        text, _, _ = encodings.to_utf8(file.content, file.path)
        parsed = delimited.parse(text, file.path, lambda _done, _all: None, headed=True)
    except DataError as error:
        return LabelledFile(file.path, error=str(error))
    if parsed.kind != "CSV":
        message = f"{file.path} is {parsed.kind}; separate {ID} and {LABEL} by a comma"
        return LabelledFile(file.path, error=message)
    if parsed.data.num_rows > MAX_ROWS:
        message = f"{file.path} has {parsed.data.num_rows:,} rows, at most {MAX_ROWS:,} are read"
        return LabelledFile(file.path, error=message)
    texts = {name: _texts(parsed.data.column(name)) for name in (ID, LABEL) if name in parsed.columns}
    complete = len(texts) == 2
    return LabelledFile(
        path=file.path,
        columns=parsed.columns,
        ids=texts[ID] if complete else (),
        labels=texts[LABEL] if complete else (),
        rows=parsed.data.num_rows,
        first_row=parsed.first_row,
        lines=parsed.lines,
    )


def _texts(column: object) -> tuple[str, ...]:
    encoded = Column.of(column)
    return tuple(encoded.values[code] for code in encoded.codes.tolist())
