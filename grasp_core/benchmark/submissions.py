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
from grasp_core.model.wording import closest, number

_FIRST_TEST_ID = 50
"""The benchmark's training rows have the ids 0 to 49."""


def check_rows(file: LabelledFile, task: Task, ids: Sequence[str] | None) -> Iterator[Problem]:
    """Repeated, unknown and missing ids, and labels that are no class.

    `file`: with the columns ID and Label.
    `ids`: ids of the rows to be labelled, where they are known.
    """
    yield from _repeated(file)
    yield from _ids(file, task, ids)
    yield from _labels(file, task)


def _first(
    file: LabelledFile, positions: Sequence[int], code: SubmissionProblem, **numbers: Value
) -> Problem:
    """One problem for all rows with the same fault: the first row's, and how many more there are."""
    places = [file.place(position) for position in positions]
    return stop(code(place=places[0], more=len(places) - 1, **numbers), len(places), places)


def _repeated(file: LabelledFile) -> Iterator[Problem]:
    first: dict[str, int] = {}
    again = [position for position, one in enumerate(file.ids) if first.setdefault(one, position) != position]
    if again:
        one = file.ids[again[0]]
        yield _first(file, again, SubmissionProblem.ID_AGAIN, id=one, first=file.row(first[one]))


def _ids(file: LabelledFile, task: Task, ids: Sequence[str] | None) -> Iterator[Problem]:
    if ids is None:
        if builtin_tasks().get(task.name) is task:
            strange = [position for position, one in enumerate(file.ids) if not _may_be_test_row(one)]
            for one in strange[:1]:
                code = SubmissionProblem.ID_OF_NO_TEST_ROW
                yield _first(file, strange, code, id=file.ids[one], least=_FIRST_TEST_ID)
        return
    known = set(ids)
    strange = [position for position, one in enumerate(file.ids) if one not in known]
    if strange:
        code = SubmissionProblem.ID_OF_NO_ROW
        yield _first(file, strange, code, id=file.ids[strange[0]], task=task.name)
    yield from _missing(file, task, ids)
    if not strange and len(file.ids) == len(ids) and file.ids != tuple(ids) and set(file.ids) == known:
        yield know(SubmissionProblem.OTHER_ORDER(path=file.path, task=task.name, key=ID))


def _missing(file: LabelledFile, task: Task, ids: Sequence[str]) -> Iterator[Problem]:
    there = set(file.ids)
    missing = [one for one in ids if one not in there]
    if missing:
        remark = SubmissionProblem.ROWS_MISSING(
            path=file.path, ids=len(missing), task=task.name, missing=tuple(missing)
        )
        yield stop(remark, len(missing), missing)


def _may_be_test_row(one: str) -> bool:
    return one.isascii() and one.isdigit() and len(one) < 10 and int(one) >= _FIRST_TEST_ID


def _labels(file: LabelledFile, task: Task) -> Iterator[Problem]:
    unlabeled = [position for position, label in enumerate(file.labels) if label == UNLABELED]
    if unlabeled:
        private = SubmissionProblem.LABEL_PRIVATE
        yield _first(file, unlabeled, private, label=UNLABELED, classes=task.classes)
    allowed = {*task.classes, UNLABELED}
    strange = [position for position, label in enumerate(file.labels) if label not in allowed]
    if strange:
        label = file.labels[strange[0]]
        yield _first(
            file,
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
    Raises DataError if there is no such folder or archive, it holds too much, or a path in an archive leads
    out of it.
    """
    found: dict[str, LabelledFile] = {}
    unexpected = []
    for raw in csv_files(source, name):
        file = read_labelled(raw)
        task = _task_of(file.path)
        if task in tasks and PurePosixPath(file.path).name == PREDICTIONS:
            found[task] = file
        else:
            unexpected.append(file)
    return Submission({task: found[task] for task in tasks if task in found}, tuple(unexpected))


def _task_of(path: str) -> str:
    parent = PurePosixPath(path.removeprefix(f"{DATA}/")).parent
    return parent.as_posix()


VALIDATED = "All submission files validated!"
"""The original validator's answer to a submission without faults."""

Ids = Mapping[str, Sequence[str]]


def known_ids(folder: Path | None, names: Container[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Ids of the rows to be labelled, by task, of the tasks whose folder has a ``test_unlabeled.csv``.

    `names`: of the tasks to be read; by default all.

    Raises DataError if such a file cannot be read.
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
    return [*_number_of_files(submission, tasks), *check_files(submission, tasks, ids or {})]


def check_files(submission: Submission, tasks: Mapping[str, Task], ids: Ids) -> list[Problem]:
    """Faults of the files that are there."""
    files = submission.files
    unread = {name: [stop(said(file.error))] for name, file in files.items() if file.error is not None}
    read = {name: file for name, file in files.items() if file.error is None}
    shapes = {name: _shape(file, tasks[name], ids.get(name)) for name, file in read.items()}
    columns = {name: _columns(file) for name, file in read.items()}
    errors = [found[0].message for found in unread.values()]
    rows = (
        problem
        for name, file in read.items()
        if file.has_columns
        for problem in check_rows(file, tasks[name], ids.get(name))
    )
    return [
        *_headed(SubmissionProblem.SHAPES, submission, shapes),
        *_headed(SubmissionProblem.COLUMNS, submission, columns),
        *([stop(SubmissionProblem.UNREADABLE(errors=str(errors)))] if errors else []),
        *rows,
    ]


def require_scorable(submission: Submission, tasks: Mapping[str, Task], ids: Ids) -> None:
    """Refuse a submission with a faulty file; tasks without a file are no fault here.

    Raises DataError with every problem in ``problems``.
    """
    if not submission.files:
        raise DataError(
            f"the submission has no file of any of the {number(len(tasks), 'task')}; put each task's labels "
            f"into data/<task>/{PREDICTIONS}"
        )
    raise_stopping(check_files(submission, tasks, ids))


def _number_of_files(submission: Submission, tasks: Mapping[str, Task]) -> Iterator[Problem]:
    missing = [name for name in tasks if name not in submission.files]
    found = len(submission.files) + len(submission.unexpected)
    if missing or submission.unexpected:
        yield stop(SubmissionProblem.NUMBER_OF_FILES(expected=len(tasks), found=found))
    for name in missing:
        yield stop(SubmissionProblem.FILE_MISSING(task=name, name=PREDICTIONS))
    for file in submission.unexpected:
        yield stop(SubmissionProblem.FILE_OF_NO_TASK(path=file.path, tasks=len(tasks), name=PREDICTIONS))


def _headed(
    headline: SubmissionProblem, submission: Submission, found: Mapping[str, Sequence[Problem]]
) -> Iterator[Problem]:
    paths = [submission.files[name].path for name, problems in found.items() if problems]
    if paths:
        yield stop(headline(paths=str(paths)), len(paths))
    for problems in found.values():
        yield from problems


def _shape(file: LabelledFile, task: Task, ids: Sequence[str] | None) -> list[Problem]:
    expected = task.test_rows if ids is None else len(ids)
    problems = []
    if expected is not None and file.rows != expected:
        remark = SubmissionProblem.ROWS_EXPECTED(
            path=file.path, rows=file.rows, task=task.name, expected=expected
        )
        problems.append(stop(remark))
    if len(file.columns) != 2:
        problems.append(
            stop(SubmissionProblem.TWO_COLUMNS_EXPECTED(path=file.path, columns=len(file.columns)))
        )
    return problems


def _columns(file: LabelledFile) -> list[Problem]:
    if set(file.columns) == {ID, LABEL}:
        return []
    columns, expected = tuple(file.columns), f"{ID},{LABEL}"
    return [stop(SubmissionProblem.HEADER_EXPECTED(path=file.path, columns=columns, expected=expected))]
