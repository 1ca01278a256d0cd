"""Gold labels of the benchmark: files of them, the column that holds them, rows with labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.folders import RawFile, read_bounded
from grasp_core.benchmark.tasks import Task
from grasp_core.model.annotations import Int64Array
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.text import agree, closest, listed, number, quoted
from grasp_core.reading.dataset.recoding import own_recoded
from grasp_core.reading.files import delimited, encodings
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.table import Table

MAX_ROWS = 1_000_000
"""More rows than this are taken for a mistake; the benchmark's largest tasks have 5,000."""
_MAX_LINES = 2 * MAX_ROWS
"""More lines are not even taken apart: rows may be blank, or of several lines."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFile:
    """Ids and labels as a file has them.

    `path`: for messages.
    `columns`: empty if the file could not be read.
    `ids`, `labels`, length n: empty if the file has no such columns.
    `rows`: rows of the file.
    `error`: why it could not be read, in one sentence.
    `lines`, shape (n,), or None: as in :class:`grasp_core.reading.table.table.Table`.
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

    Rows longer than :data:`~grasp_core.reading.files.delimited.MAX_LINE` bytes are refused before being taken
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
    texts = {}
    for name in (one for one in (ID, LABEL) if one in parsed.columns):
        column = Column.of(parsed.data.column(name))
        texts[name] = tuple(column.values[code] for code in column.codes.tolist())
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


def gold_labels(annotations: Table, spec: DataSpec, column: str) -> dict[str, str]:
    """Right label of each item that has one in a column of the annotations file, recoded as the data are."""
    table = own_recoded(annotations, spec)
    item = spec.item
    if spec.layout == "raters-by-items" or item is None:
        raise DataError(f"{table.name}: in this layout no column can tell right labels; write a row per item")
    for name in (column, item):
        if name not in table.columns:
            close = closest(name, table.columns)
            hint = f"did you mean {listed(close)}?" if close else f"its columns are {listed(table.columns)}"
            raise DataError(f"{table.name} has no column {quoted(name)}; {hint}")
    items, labels = table.column(item), table.column(column)
    known: dict[str, str] = {}
    for position, (one, label) in enumerate(zip(items.codes.tolist(), labels.codes.tolist(), strict=True)):
        text = labels.values[label]
        if text and text not in spec.missing:
            first = known.setdefault(items.values[one], text)
            if first != text:
                raise DataError(
                    f"{table.name}, row {table.row(position)}, column {quoted(column)}: the item has another "
                    "right label in an earlier row; give every item one"
                )
    return known


def right_labels(file: RawFile) -> dict[str, str]:
    """Right label of each item, from a file of its own with the columns ID and Label."""
    found = read_labelled(file)
    if found.error is not None:
        raise DataError(found.error)
    if not found.has_columns:
        raise DataError(f"{file.path}: right labels need the columns {ID} and {LABEL} in row 1")
    first: dict[str, int] = {}
    for position, one in enumerate(found.ids):
        if first.setdefault(one, position) != position:
            raise DataError(f"{found.place(position)}: the ID {quoted(one)} occurs twice; keep one row")
    return dict(zip(found.ids, found.labels, strict=True))


GOLD_FILE = "test.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """Right labels by task and id; they are not shown when the value is printed.

    `labels`: label by id, by task.
    """

    labels: Mapping[str, Mapping[str, str]] = field(repr=False)

    @property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """Ids with a right label, by task."""
        return {task: tuple(labels) for task, labels in self.labels.items()}


def read_gold(
    folder: Path, tasks: Mapping[str, Task], ids: Mapping[str, Sequence[str]] | None = None
) -> Gold:
    """Read ``<task>/test.csv`` with the columns ID and Label of every task that has it.

    `ids`: ids of the rows to be labelled, by task, where they are known.
    """
    known = ids or {}
    paths = {name: folder / name / GOLD_FILE for name in tasks}
    there = {name: path for name, path in paths.items() if path.is_file()}
    if not there:
        raise DataError(f"{folder} has no gold labels of any task; put them into <task>/{GOLD_FILE}")
    return Gold({name: _labels(path, tasks[name], known.get(name)) for name, path in there.items()})


def _labels(path: Path, task: Task, ids: Sequence[str] | None) -> dict[str, str]:
    shown = f"{path.parent.name}/{path.name}"
    raw = read_bounded(path, shown)
    file = read_labelled(raw)
    if file.error is not None:
        # Its sentence could quote what the file holds.
        what = raw.error or f"{shown}: the gold labels cannot be read as CSV; write it again"
        raise DataError(f"{what} (header {ID},{LABEL}, a row per test row)")
    if not file.has_columns:
        raise DataError(f"{shown}: the gold labels need the columns {ID} and {LABEL} in row 1")
    first: dict[str, int] = {}
    for position, (one, label) in enumerate(zip(file.ids, file.labels, strict=True)):
        if first.setdefault(one, position) != position:
            raise DataError(f"{file.place(position)}: the ID occurs twice in the gold labels; keep one row")
        if label not in task.classes:
            raise DataError(
                f"{file.place(position)}: the gold label is none of the {len(task.classes)} classes of "
                f"{task.name}; correct the row"
            )
    if ids is not None and (strange := sorted(first.keys() - set(ids))):
        belong = agree(len(strange), "belongs", "belong")
        raise DataError(
            f"{file.path}: {number(len(strange), 'ID')} of the gold labels {belong} to no row of "
            f"{task.name}: {listed(strange, 5)}; use the gold labels of these rows"
        )
    return dict(zip(file.ids, file.labels, strict=True))
