"""Submissions: what a system says about every row of every task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grasp_core.benchmark.folders import DATA, csv_files
from grasp_core.benchmark.labelled import LabelledFile, read_labelled
from grasp_core.benchmark.tasks import Task

PREDICTIONS = "predictions.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A system's labels.

    Parameters
    ----------
    files : mapping of str to LabelledFile
        By task, in the tasks' order; tasks without a file are left out.
    unexpected : tuple of LabelledFile
        CSV files that belong to no task.
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

    Parameters
    ----------
    source : path of a folder or zip archive, or the content of a zip archive
    tasks : mapping of str to Task
    name : str, optional
        The archive's name for messages.

    Returns
    -------
    Submission
        What is wrong with single files is for :func:`~.validation.validate` to say.

    Raises
    ------
    DataError
        If there is no such folder or archive, it holds too much, or a path in an archive leads out of it.
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
