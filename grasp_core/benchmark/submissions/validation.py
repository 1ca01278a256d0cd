"""Faults of a submission: the original validator's checks, and those that it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grasp_core.benchmark.labelled import LabelledFile
from grasp_core.benchmark.submissions.row_checks import check_rows
from grasp_core.benchmark.submissions.submission import PREDICTIONS, Submission
from grasp_core.benchmark.tasks import (
    TASK_FILE,
    TEST_FILE,
    Task,
    read_rows,
    read_task,
)
from grasp_core.errors import DataError, Problem, raise_stopping, stop
from grasp_core.models_as_raters.labels import ID, LABEL
from grasp_core.remarks.remark import said
from grasp_core.remarks.submissions import SubmissionProblem
from grasp_core.wording import number

VALIDATED = "All submission files validated!"
"""The original validator's answer to a submission without faults."""

Ids = Mapping[str, Sequence[str]]


def known_ids(folder: Path | None) -> dict[str, tuple[str, ...]]:
    """Ids of the rows to be labelled, by task, of the tasks whose folder has a ``test_unlabeled.csv``.

    Raises
    ------
    DataError
        If such a file cannot be read.
    """
    if folder is None:
        return {}
    known = {}
    for path in sorted(folder.glob(f"*/{TEST_FILE}")):
        if (path.parent / TASK_FILE).is_file():
            task = read_task(path.parent)
            known[task.name] = read_rows(path, task, labelled=False).ids
    return known


def validate(submission: Submission, tasks: Mapping[str, Task], ids: Ids | None = None) -> list[Problem]:
    """Everything that is wrong with a submission; empty if it can be submitted.

    Parameters
    ----------
    submission : Submission
    tasks : mapping of str to Task
    ids : mapping of str to sequence of str, optional
        Ids of the rows to be labelled, by task, where they are known.

    Returns
    -------
    list of Problem
        The original validator's messages word for word, each followed by what it means, with file and row.
        Problems that do not stop are remarks: nothing has to be mended.
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

    Raises
    ------
    DataError
        With every problem in ``problems``.
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
