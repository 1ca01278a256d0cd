"""Submissions to a server's benchmark: check predictions, score them in a worker, keep them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from grasp_core.benchmark import submissions
from grasp_core.benchmark.folders import MAX_ARCHIVE, RawFile
from grasp_core.benchmark.jobs import Benchmark, Predictions, calibrate_one, compare_one, parts_of, score_one
from grasp_core.benchmark.leaderboard import Entry, is_part_of_raft, over_tasks, published, scored_entry
from grasp_core.benchmark.scoring.compare import SystemComparison, compared, joined_difference
from grasp_core.benchmark.scoring.scores import check_all, gathered, joined, read_probabilities, score_details
from grasp_core.benchmark.submissions import PROBABILITIES
from grasp_core.benchmark.tasks import Task, read_tasks
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.errors import DataError, Problem
from grasp_core.model.settings import Settings
from grasp_core.model.sizes import check_size
from grasp_core.model.text import number
from grasp_core.statistics.f1 import Part
from grasp_core.store.submissions import SubmissionRecord, SubmissionStore

A = TypeVar("A")
Told = Callable[[int, int, str], None]
NAME_LENGTH = 80
"""Characters of a system's name."""


def tasks_folder(settings: Settings) -> Path | None:
    """Return the folder with the server's own tasks; None for the built-in tasks."""
    return Path(settings.raft_tasks) if settings.raft_tasks else None


def benchmark_of(settings: Settings) -> Benchmark | None:
    """Return the benchmark with its gold labels; None if the server has none."""
    return Benchmark(Path(settings.raft_gold), tasks_folder(settings)) if settings.raft_gold else None


def systems(records: Iterable[SubmissionRecord], settings: Settings) -> list[Entry]:
    """Return systems scored here, and published ones if the tasks are RAFT's, or some of RAFT's."""
    names = read_tasks(tasks_folder(settings))
    own = [scored_entry(record.name, record.scores, record.id) for record in records]
    return own + (over_tasks(published(), list(names)) if is_part_of_raft(names) else [])


def looked_at(
    content: bytes, shown: str, settings: Settings
) -> tuple[submissions.Submission, list[Problem], list[Problem]]:
    """Read a zip archive of predictions, called `shown` in messages, and check it.

    Returns it, remarks, and problems that must be mended. Raises DataError if it is none, or has no task.
    """
    names = read_tasks(tasks_folder(settings))
    check_size(len(content), MAX_ARCHIVE, shown, "a submission")
    submission = submissions.read_submission(content, names, shown)
    if not submission.files:
        listing = f"{number(len(names), 'task')}: {', '.join(names)}"
        raise DataError(f"{shown} has no file data/TASK/{submissions.PREDICTIONS} of any of the {listing}")
    ids = submissions.known_ids(tasks_folder(settings))
    faulty = [problem for problem in submissions.check_files(submission, names, ids) if problem.stops]
    labels = replace(submission, probabilities={})  # they are allowed here, if not on RAFT's own leaderboard
    return submission, submissions.validate(labels, names, ids), faulty


def scored(
    held: Benchmark,
    predictions: Predictions,
    *,
    name: str,
    owner: str,
    store: SubmissionStore,
    pool: Pool,
    told: Told = lambda _done, _of, _task: None,
    some: bool = False,
    probabilities: Mapping[str, RawFile] = MappingProxyType({}),
) -> SubmissionRecord:
    """Score and keep predictions; if that was done before, only change the name to the one given now.

    `told`: takes the number of rows scored, the number of all rows, and the task that is being scored.
    `some`: whether the predictions may be of only a part of each task's rows, as people label.
    `probabilities`: files of the classes' probabilities, by task; calibration is of the first ones sent.

    Raises LimitError if the person has used up a task.
    """
    before = store.renamed(name, predictions, owner=owner)
    if before is not None:
        return before
    names = read_tasks(held.tasks)
    there = held.with_gold()
    chosen = {task: labels for task, labels in predictions.items() if task in there}
    given = {task: file for task, file in probabilities.items() if task in chosen}
    likely = {task: read_probabilities(file, names[task]) for task, file in given.items()}
    for task, found in likely.items():
        check_all(names[task], chosen[task], found)
    # Other probabilities of the same labels reveal gold labels, too, so they count as another scoring.
    sha256 = {task: {PROBABILITIES: hashlib.sha256(file.content).hexdigest()} for task, file in given.items()}
    store.reserve({task: {**labels, **sha256.get(task, {})} for task, labels in chosen.items()}, owner=owner)
    parts = _in_parts(chosen, names)
    jobs = ((held, task, part, chosen[task], some) for task, part in parts)
    done = _by_task(pool.each(score_one, jobs), parts, chosen, told)
    scores = score_details(gathered([joined(one) for one in done], names))
    calibrated = pool.each(calibrate_one, ((held, task, one) for task, one in likely.items()))
    for task, figures in zip(likely, calibrated, strict=True):
        scores["tasks"][task]["calibration"] = figures
    return store.add(name, predictions, scores, owner=owner)


def compared_by(
    held: Benchmark,
    first: Predictions,
    second: Predictions,
    *,
    pool: Pool,
    told: Told = lambda _done, _of, _task: None,
) -> SystemComparison:
    """Compare two submissions in the workers, as :func:`scored` scores one."""
    there = held.with_gold()
    both = {task: labels for task, labels in first.items() if task in second and task in there}
    names = read_tasks(held.tasks)
    parts = _in_parts(both, names)
    jobs = ((held, task, part, both[task], second[task]) for task, part in parts)
    done = _by_task(pool.each(compare_one, jobs), parts, both, told)
    return compared([joined_difference(one) for one in done], names)


def _in_parts(rows: Predictions, names: Mapping[str, Task]) -> list[tuple[str, Part]]:
    return [(task, part) for task, labels in rows.items() for part in parts_of(names[task], len(labels))]


def _by_task(
    results: Iterator[A], parts: Sequence[tuple[str, Part]], rows: Predictions, told: Told
) -> list[list[A]]:
    """Return the results of parts, by task; `told` gets the rows' worth of work done before each part."""
    done, of, found = 0.0, sum(map(len, rows.values())), dict[str, list[A]]((name, []) for name in rows)
    for name, (_, share) in parts:
        told(int(done), of, name)
        found[name].append(next(results))
        done += len(rows[name]) / share
    return list(found.values())
