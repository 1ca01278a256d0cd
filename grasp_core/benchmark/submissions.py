"""Submissions: read, held against the rows that are to be labelled, every fault by file and row."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.folders import DATA, csv_files
from grasp_core.benchmark.gold import LabelledFile, read_labelled
from grasp_core.benchmark.tasks import (
    TASK_FILE,
    TEST_FILE,
    UNLABELED,
    Task,
    builtin_tasks,
    read_rows,
    read_task,
)
from grasp_core.model.errors import DataError, Problem, know, raise_stopping, stop
from grasp_core.model.remarks.benchmark import SubmissionProblem
from grasp_core.model.remarks.remark import Value, said
from grasp_core.model.text import closest, number

_FIRST_TEST_ID = 50
"""The benchmark's training rows have the ids 0 to 49."""


def check_rows(file: LabelledFile, task: Task, ids: Sequence[str] | None) -> Iterator[Problem]:
    """Repeated, unknown and missing ids, and labels that are no class.

    `ids`: ids of the rows to be labelled, where they are known.
    """

    def first(positions: Sequence[int], code: SubmissionProblem, **numbers: Value) -> Problem:
        """One problem for all rows with the same fault: the first row's, and how many more there are."""
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


PREDICTIONS = "predictions.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A system's labels.

    `files`: by task, in the tasks' order; tasks without a file are left out.
    `unexpected`: CSV files that belong to no task.
    """

    files: Mapping[str, LabelledFile]
    unexpected: tuple[LabelledFile, ...] = ()

    @property
    def predictions(self) -> Mapping[str, Mapping[str, str]]:
        """Label by id, by task; valid where :func:`~.validation.validate` finds nothing."""
        return {
            task: dict(zip(file.ids, file.labels, strict=True))
            for task, file in self.files.items()
            if file.error is None and file.has_columns
        }


def read_submission(
    source: Path | str | bytes, tasks: Mapping[str, Task], name: str | None = None
) -> Submission:
    """Read ``data/<task>/predictions.csv`` (or ``<task>/predictions.csv``) from a folder or a zip archive.

    `name`: the archive's name for messages.

    Returns what is wrong with single files is for :func:`~.validation.validate` to say.
    """
    found: dict[str, LabelledFile] = {}
    unexpected = []
    for raw in csv_files(source, name):
        file = read_labelled(raw)
        task = PurePosixPath(file.path.removeprefix(f"{DATA}/")).parent.as_posix()
        if task in tasks and PurePosixPath(file.path).name == PREDICTIONS:
            found[task] = file
        else:
            unexpected.append(file)
    return Submission({task: found[task] for task in tasks if task in found}, tuple(unexpected))


VALIDATED = "All submission files validated!"
"""The original validator's answer to a submission without faults."""

Ids = Mapping[str, Sequence[str]]


def known_ids(folder: Path | None, names: Container[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Ids of the rows to be labelled, by task, of the tasks whose folder has a ``test_unlabeled.csv``.

    `names`: of the tasks to be read; by default all.
    """
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
    """Everything that is wrong with a submission; empty if it can be submitted.

    `ids`: ids of the rows to be labelled, by task, where they are known.

    Returns the original validator's messages word for word, each followed by what it means, with file and
    row. Problems that do not stop are remarks: nothing has to be mended.
    """
    missing = [name for name in tasks if name not in submission.files]
    found = len(submission.files) + len(submission.unexpected)
    problems = []
    if missing or submission.unexpected:
        problems.append(stop(SubmissionProblem.NUMBER_OF_FILES(expected=len(tasks), found=found)))
    problems += [stop(SubmissionProblem.FILE_MISSING(task=name, name=PREDICTIONS)) for name in missing]
    for file in submission.unexpected:
        remark = SubmissionProblem.FILE_OF_NO_TASK(path=file.path, tasks=len(tasks), name=PREDICTIONS)
        problems.append(stop(remark))
    return [*problems, *check_files(submission, tasks, ids or {})]


def check_files(submission: Submission, tasks: Mapping[str, Task], ids: Ids) -> list[Problem]:
    """Faults of the files that are there."""
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
    """Refuse a submission with a faulty file; tasks without a file are no fault here."""
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
