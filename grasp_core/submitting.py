"""Predictions handed in to a server's benchmark: checked, scored in a worker, kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from grasp_core.benchmark.folders import MAX_ARCHIVE
from grasp_core.benchmark.jobs import Benchmark, Predictions, score_predictions
from grasp_core.benchmark.submissions import (
    PREDICTIONS,
    Submission,
    check_files,
    known_ids,
    read_submission,
    validate,
)
from grasp_core.benchmark.tasks import read_tasks
from grasp_core.engine.pools.pool import Pool
from grasp_core.io.archives.bounded import check_size
from grasp_core.model.errors import DataError, Problem
from grasp_core.model.settings import Settings
from grasp_core.model.wording import number
from grasp_core.store.submissions import SubmissionRecord, SubmissionStore

NAME_LENGTH = 80
"""Characters of a system's name."""


def tasks_folder(settings: Settings) -> Path | None:
    """Where the tasks' own files are; None for the built-in tasks."""
    return Path(settings.raft_tasks) if settings.raft_tasks else None


def benchmark_of(settings: Settings) -> Benchmark | None:
    """The benchmark with its gold labels; None where the server has none."""
    return Benchmark(Path(settings.raft_gold), tasks_folder(settings)) if settings.raft_gold else None


def checked(content: bytes, shown: str, settings: Settings) -> tuple[Submission, list[Problem]]:
    """A zip archive of predictions, and what is to be known of it.

    Parameters
    ----------
    content : bytes
    shown : str
        The archive's name in messages.

    Raises
    ------
    DataError
        If it is none, holds no task, or a file in it has to be mended first.
    """
    names = read_tasks(tasks_folder(settings))
    check_size(len(content), MAX_ARCHIVE, shown, "a submission")
    submission = read_submission(content, names, shown)
    if not submission.files:
        listing = f"{number(len(names), 'task')}: {', '.join(names)}"
        raise DataError(f"{shown} has no file data/TASK/{PREDICTIONS} of any of the {listing}")
    ids = known_ids(tasks_folder(settings))
    faulty = [problem for problem in check_files(submission, names, ids) if problem.stops]
    if faulty:
        raise DataError(faulty[0].remark, faulty)
    return submission, validate(submission, names, ids)


def scored(
    held: Benchmark,
    predictions: Predictions,
    *,
    name: str,
    owner: str,
    store: SubmissionStore,
    pool: Pool,
    score: Callable[[tuple[Benchmark, Predictions]], str] = score_predictions,
) -> SubmissionRecord:
    """Score and keep, unless that was done before: sent twice, a system would stand on the Leaderboard twice.

    Parameters
    ----------
    score : callable
        Runs in a worker; :func:`~grasp_core.benchmark.jobs.score_some` for a part of the rows.

    Raises
    ------
    LimitError
        If the person has used up a task.
    DataError
        If the benchmark's files cannot be used.
    """
    before = store.find(name, predictions, owner=owner)
    if before is not None:
        return before
    store.reserve(predictions, owner=owner)
    found = next(pool.each(score, [(held, predictions)]))
    return store.add(name, predictions, json.loads(found), owner=owner)
