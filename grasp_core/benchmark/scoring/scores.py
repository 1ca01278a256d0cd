"""Scores of a submission, task by task and overall."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grasp_core.annotations import Codes, FloatArray, Int64Array
from grasp_core.benchmark.gold import Gold
from grasp_core.benchmark.scoring.bootstrap import RESAMPLES, resampled_f1
from grasp_core.benchmark.submissions.submission import Submission
from grasp_core.benchmark.tasks import Task
from grasp_core.errors import DataError
from grasp_core.statistics.f1 import confusion, interval, macro_f1


@dataclass(frozen=True, slots=True, eq=False)
class TaskScore:
    """Scores on one task; counts over items only, no item's gold label.

    Parameters
    ----------
    macro_f1 : float
        Over the classes in gold or predictions, as on the leaderboard.
    macro_f1_declared : float
        Over all classes that the task declares.
    ci95 : (float, float)
        95 % bootstrap interval of `macro_f1`, over items.
    n : int
        Items scored.
    classes : tuple of str, length K
    confusion : int array, shape (K, K)
        Items by gold class (row) and predicted class (column).
    """

    macro_f1: float
    macro_f1_declared: float
    ci95: tuple[float, float]
    n: int
    classes: tuple[str, ...]
    confusion: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of a submission.

    Parameters
    ----------
    tasks : mapping of str to TaskScore
        Those tasks that have both predictions and gold.
    overall : float or None
        Mean macro-F1 over all tasks, each counting alike; None unless every one was scored.
    overall_ci95 : (float, float) or None
        Its 95 % bootstrap interval, over the items of every task.
    unscored : tuple of str
        Tasks without predictions or without gold.
    """

    tasks: Mapping[str, TaskScore]
    overall: float | None
    overall_ci95: tuple[float, float] | None
    unscored: tuple[str, ...]


def score(
    submission: Submission,
    tasks: Mapping[str, Task],
    gold: Gold,
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> Scores:
    """Score a submission that :func:`~grasp_core.benchmark.submissions.validation.require_scorable` takes.

    Parameters
    ----------
    submission : Submission
    tasks : mapping of str to Task
    gold : Gold
    seed, resamples : int
        Of the bootstrap.

    Raises
    ------
    DataError
        If no task has both predictions and gold.
    """
    predictions = submission.predictions
    scored: dict[str, TaskScore] = {}
    total = np.zeros(resamples)
    for name, task in tasks.items():
        if name in predictions and name in gold.labels:
            right, said = paired_codes(task, gold, [predictions[name]])
            scored[name], values = _task_score(task, right, said[0], seed, resamples)
            total += values
    if not scored:
        raise DataError("no task has both predictions and gold labels; name the tasks' folders alike in both")
    unscored = tuple(name for name in tasks if name not in scored)
    if unscored:
        return Scores(scored, None, None, unscored)
    overall = float(np.mean([found.macro_f1 for found in scored.values()]))
    return Scores(scored, overall, interval(total / len(scored)), ())


def paired_codes(
    task: Task, gold: Gold, systems: Sequence[Mapping[str, str]]
) -> tuple[Codes, tuple[Codes, ...]]:
    """Class numbers, each (I,), of the gold labels and of each system's, all in the order of the gold labels.

    Raises
    ------
    DataError
        If a system lacks a row or names no class.
    """
    code_of = {label: code for code, label in enumerate(task.classes)}
    labels = gold.labels[task.name]
    right = np.fromiter((code_of[label] for label in labels.values()), np.int64, len(labels))
    said = []
    for system in systems:
        codes = np.fromiter((code_of.get(system.get(one, ""), -1) for one in labels), np.int64, len(labels))
        if (codes < 0).any():
            raise DataError(f"the labels of {task.name} are incomplete; validate the submission first")
        said.append(codes)
    return right, tuple(said)


def _task_score(
    task: Task, gold: Codes, predicted: Codes, seed: int, resamples: int
) -> tuple[TaskScore, FloatArray]:
    counts = confusion(gold, predicted, len(task.classes))
    counts.flags.writeable = False
    values = resampled_f1(
        gold, [predicted], len(task.classes), seed=seed, purpose=task.name, resamples=resamples
    )[0]
    found = TaskScore(
        macro_f1=macro_f1(counts),
        macro_f1_declared=macro_f1(counts, "declared"),
        ci95=interval(values),
        n=int(gold.size),
        classes=task.classes,
        confusion=counts,
    )
    return found, values


def scores_json(scores: Scores) -> str:
    """The scores as JSON: ``{"tasks": {task: {macro_f1, macro_f1_declared, ci95, n}}, "overall"}``."""
    tasks: dict[str, Any] = {
        name: {
            "macro_f1": found.macro_f1,
            "macro_f1_declared": found.macro_f1_declared,
            "ci95": list(found.ci95),
            "n": found.n,
        }
        for name, found in scores.tasks.items()
    }
    plain = {"tasks": tasks, "overall": scores.overall}
    return json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
