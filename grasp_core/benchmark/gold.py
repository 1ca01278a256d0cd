"""Private labels that submissions are scored against; nothing here repeats one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grasp_core.benchmark.folders import read_bounded
from grasp_core.benchmark.labelled import LabelledFile, read_labelled
from grasp_core.benchmark.tasks import Task
from grasp_core.errors import DataError
from grasp_core.models_as_raters.labels import ID, LABEL
from grasp_core.wording import agree, listed, number

GOLD_FILE = "test.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """Right labels by task and id; they are not shown when the value is printed.

    Parameters
    ----------
    labels : mapping of str to mapping of str to str
        Label by id, by task.
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

    Parameters
    ----------
    folder : path
    tasks : mapping of str to Task
    ids : mapping of str to sequence of str, optional
        Ids of the rows to be labelled, by task, where they are known.

    Raises
    ------
    DataError
        If there is no such file at all, or one cannot be used. Messages name rows and ids, never labels.
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
    _check(file, task, ids)
    return dict(zip(file.ids, file.labels, strict=True))


def _check(file: LabelledFile, task: Task, ids: Sequence[str] | None) -> None:
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
