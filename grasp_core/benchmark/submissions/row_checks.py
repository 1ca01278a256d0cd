"""Faults in the rows of a file of predictions: ids and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grasp_core.benchmark.labelled import LabelledFile
from grasp_core.benchmark.tasks import UNLABELED, Task, builtin_tasks
from grasp_core.errors import Problem, know, stop
from grasp_core.models_as_raters.labels import ID
from grasp_core.remarks.remark import Value
from grasp_core.remarks.submissions import SubmissionProblem
from grasp_core.wording import closest

_FIRST_TEST_ID = 50
"""The benchmark's training rows have the ids 0 to 49."""


def check_rows(file: LabelledFile, task: Task, ids: Sequence[str] | None) -> Iterator[Problem]:
    """Repeated, unknown and missing ids, and labels that are no class.

    Parameters
    ----------
    file : LabelledFile
        With the columns ID and Label.
    task : Task
    ids : sequence of str or None
        Ids of the rows to be labelled, where they are known.
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
