"""Gold labels and submissions: read, and checked against the rows to be labelled, by file and row."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.folders import DATA, RawFile, csv_files, read_bounded
from grasp_core.benchmark.tasks import (
    GOLD_FILE,
    TASK_FILE,
    TEST_FILE,
    UNLABELED,
    Task,
    builtin_tasks,
    read_rows,
    read_task,
)
from grasp_core.model.annotations import Int64Array
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, Problem, know, raise_stopping, stop
from grasp_core.model.remarks.benchmark import SubmissionProblem
from grasp_core.model.remarks.remark import Value, said
from grasp_core.model.text import agree, closest, listed, meant, number, quoted
from grasp_core.reading.dataset.recoding import own_recoded
from grasp_core.reading.files import delimited, encodings
from grasp_core.reading.table.table import Table

_FIRST_TEST_ID = 50
"""The benchmark's training rows have the ids 0 to 49."""


def check_rows(file: LabelledFile, task: Task, ids: Sequence[str] | None) -> Iterator[Problem]:
    """Yield problems of ids that are repeated, unknown or missing, and of labels that are no class."""

    def first(positions: Sequence[int], code: SubmissionProblem, **numbers: Value) -> Problem:
        """Return one problem for all rows with the same fault: the first row, and the number of others."""
        places = [file.place(position) for position in positions]
        return stop(code(place=places[0], more=len(places) - 1, **numbers), len(places), places)

    row_of: dict[str, int] = {}
    again = [at for at, one in enumerate(file.ids) if row_of.setdefault(one, at) != at]
    if again:
        one = file.ids[again[0]]
        yield first(again, SubmissionProblem.ID_AGAIN, id=one, first=file.row(row_of[one]))
    if ids is not None:
        known = set(ids)
        if strange := [at for at, one in enumerate(file.ids) if one not in known]:
            yield first(strange, SubmissionProblem.ID_OF_NO_ROW, id=file.ids[strange[0]], task=task.name)
        if missing := [one for one in ids if one not in row_of]:
            remark = SubmissionProblem.ROWS_MISSING(
                path=file.path, ids=len(missing), task=task.name, missing=tuple(missing)
            )
            yield stop(remark, len(missing), missing)
        if not strange and len(file.ids) == len(ids) and file.ids != tuple(ids) and set(file.ids) == known:
            yield know(SubmissionProblem.OTHER_ORDER(path=file.path, task=task.name, key=ID))
    elif builtin_tasks().get(task.name) is task:
        digits = (one if one.isascii() and one.isdigit() and len(one) < 10 else "0" for one in file.ids)
        if strange := [at for at, one in enumerate(digits) if int(one) < _FIRST_TEST_ID]:
            code = SubmissionProblem.ID_OF_NO_TEST_ROW
            yield first(strange, code, id=file.ids[strange[0]], least=_FIRST_TEST_ID)
    if unlabeled := [at for at, label in enumerate(file.labels) if label == UNLABELED]:
        yield first(unlabeled, SubmissionProblem.LABEL_PRIVATE, label=UNLABELED, classes=task.classes)
    allowed = {*task.classes, UNLABELED}
    if strange := [at for at, label in enumerate(file.labels) if label not in allowed]:
        label = file.labels[strange[0]]
        yield first(
            strange,
            SubmissionProblem.LABEL_OF_NO_CLASS,
            label=label,
            count=len(task.classes),
            task=task.name,
            close=closest(label, task.classes),
            classes=task.classes,
        )


PREDICTIONS, PROBABILITIES = "predictions.csv", "probabilities.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A system's labels and probabilities by task, and the files that belong to no task."""

    files: Mapping[str, LabelledFile]
    unexpected: tuple[LabelledFile, ...] = ()
    probabilities: Mapping[str, RawFile] = field(default_factory=dict)

    @property
    def predictions(self) -> Mapping[str, Mapping[str, str]]:
        """Labels by task and id; valid if :func:`validate` finds nothing."""
        return {
            task: dict(zip(file.ids, file.labels, strict=True))
            for task, file in self.files.items()
            if file.error is None and file.has_columns
        }


def read_submission(
    source: Path | str | bytes, tasks: Mapping[str, Task], name: str | None = None
) -> Submission:
    """Read ``data/<task>/predictions.csv`` (or ``<task>/predictions.csv``) from a folder or a zip archive."""
    found: dict[str, LabelledFile] = {}
    probabilities: dict[str, RawFile] = {}
    unexpected = []
    for raw in csv_files(source, name):
        path = PurePosixPath(raw.path.removeprefix(f"{DATA}/"))
        task = path.parent.as_posix()
        if task in tasks and path.name == PREDICTIONS:
            found[task] = read_labelled(raw)
        elif task in tasks and path.name == PROBABILITIES:
            probabilities[task] = raw
        else:
            unexpected.append(read_labelled(raw))
    files = {task: found[task] for task in tasks if task in found}
    return Submission(files, tuple(unexpected), probabilities)


VALIDATED = "All submission files validated!"

Ids = Mapping[str, Sequence[str]]


def known_ids(folder: Path | None, names: Container[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Return the ids of rows to be labelled, by task, for tasks whose folder has a ``test_unlabeled.csv``."""
    if folder is None:
        return {}
    known = {}
    for path in sorted(folder.glob(f"*/{TEST_FILE}")):
        if (path.parent / TASK_FILE).is_file():
            task = read_task(path.parent)
            if names is not None and task.name not in names:
                continue
            known[task.name] = read_rows(path, task, labelled=False).ids
    return known


def validate(submission: Submission, tasks: Mapping[str, Task], ids: Ids | None = None) -> list[Problem]:
    """Return everything that is wrong with a submission; empty if it can be submitted.

    The messages are the original validator's, word for word, each followed by its meaning with file and row.
    Problems that do not stop are remarks: nothing has to be mended.
    """
    missing = [name for name in tasks if name not in submission.files]
    strange = [file.path for file in submission.unexpected]
    strange += [file.path for file in submission.probabilities.values()]
    found = len(submission.files) + len(strange)
    problems = []
    if missing or strange:
        problems.append(stop(SubmissionProblem.NUMBER_OF_FILES(expected=len(tasks), found=found)))
    problems += [stop(SubmissionProblem.FILE_MISSING(task=name, name=PREDICTIONS)) for name in missing]
    for path in strange:
        remark = SubmissionProblem.FILE_OF_NO_TASK(path=path, tasks=len(tasks), name=PREDICTIONS)
        problems.append(stop(remark))
    return [*problems, *check_files(submission, tasks, ids or {})]


def check_files(submission: Submission, tasks: Mapping[str, Task], ids: Ids) -> list[Problem]:
    """Return the faults of the files that the submission has."""
    shapes: dict[str, list[Problem]] = {}
    columns: dict[str, list[Problem]] = {}
    errors: list[str] = []
    rows: list[Problem] = []
    for name, file in submission.files.items():
        if file.error is not None:
            errors.append(stop(said(file.error)).message)
            continue
        task, shape = tasks[name], []
        expected = len(ids[name]) if name in ids else task.test_rows
        if expected is not None and file.rows != expected:
            remark = SubmissionProblem.ROWS_EXPECTED(
                path=file.path, rows=file.rows, task=name, expected=expected
            )
            shape.append(stop(remark))
        if len(file.columns) != 2:
            remark = SubmissionProblem.TWO_COLUMNS_EXPECTED(path=file.path, columns=len(file.columns))
            shape.append(stop(remark))
        shapes[name] = shape
        if set(file.columns) != {ID, LABEL}:
            remark = SubmissionProblem.HEADER_EXPECTED(
                path=file.path, columns=tuple(file.columns), expected=f"{ID},{LABEL}"
            )
            columns[name] = [stop(remark)]
        if file.has_columns:
            rows += check_rows(file, task, ids.get(name))
    return [
        *_headed(SubmissionProblem.SHAPES, submission, shapes),
        *_headed(SubmissionProblem.COLUMNS, submission, columns),
        *([stop(SubmissionProblem.UNREADABLE(errors=str(errors)))] if errors else []),
        *rows,
    ]


def require_scorable(submission: Submission, tasks: Mapping[str, Task], ids: Ids) -> None:
    """Refuse a submission with a faulty file; a task without a file is no fault here."""
    if not submission.files:
        raise DataError(
            f"the submission has no file of any of the {number(len(tasks), 'task')}; put each task's labels "
            f"into data/<task>/{PREDICTIONS}"
        )
    raise_stopping(check_files(submission, tasks, ids))


def _headed(
    headline: SubmissionProblem, submission: Submission, found: Mapping[str, Sequence[Problem]]
) -> Iterator[Problem]:
    paths = [submission.files[name].path for name, problems in found.items() if problems]
    if paths:
        yield stop(headline(paths=str(paths)), len(paths))
    for problems in found.values():
        yield from problems


MAX_ROWS = 1_000_000
"""Most rows of a file; more are taken for a mistake, since the benchmark's largest tasks have 5,000."""
_MAX_LINES = 2 * MAX_ROWS
"""Most lines of a file that is parsed at all: rows may be blank, or have several lines."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFile:
    """Ids and labels as a file has them.

    `columns`: empty if the file could not be read.
    `ids`, `labels`, length n: empty if the file has no such columns.
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
        """True if there are columns of ids and labels."""
        return {ID, LABEL} <= set(self.columns)

    def place(self, position: int) -> str:
        """Return file and row, as they begin a sentence."""
        return f"{self.path}, row {self.row(position)}"

    def row(self, position: int) -> int:
        """Return the number by which a person finds a row in the file."""
        return position + self.first_row if self.lines is None else int(self.lines[position])


def read_labelled(file: RawFile) -> LabelledFile:
    """Read a file with a header and columns separated by commas; ``error`` says what is wrong with it."""
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
    texts = {name: tuple(parsed.column(name).cells) for name in (ID, LABEL) if name in parsed.columns}
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
    """Return the right label of each item, from a column of the annotations file, recoded as the data are."""
    table = own_recoded(annotations, spec)
    item = spec.item
    if spec.layout == "raters-by-items" or item is None:
        raise DataError(f"{table.name}: in this layout no column can tell right labels; write a row per item")
    for name in (column, item):
        if name not in table.columns:
            hint = meant(name, table.columns, f"its columns are {listed(table.columns)}")
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
    """Return the right label of each item, from a file of its own with the columns ID and Label."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """Right labels by task and id; printing the value does not show them."""

    labels: Mapping[str, Mapping[str, str]] = field(repr=False)

    @property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """Ids with a right label, by task."""
        return {task: tuple(labels) for task, labels in self.labels.items()}


def read_gold(
    folder: Path, tasks: Mapping[str, Task], ids: Mapping[str, Sequence[str]] | None = None
) -> Gold:
    """Read ``<task>/test.csv`` with the columns ID and Label, for every task that has it."""
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
        # The error's sentence could quote gold labels.
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
