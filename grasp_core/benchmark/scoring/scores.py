"""Scores of labels and probabilities against gold: F1, intervals, scores by class, calibration."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from grasp_core.analysis.models.labels import ID
from grasp_core.benchmark.folders import RawFile
from grasp_core.benchmark.submissions import PROBABILITIES, Gold, Submission
from grasp_core.benchmark.tasks import MAX_ROWS_FILE, Task
from grasp_core.model.annotations import Codes, FloatArray, Int64Array
from grasp_core.model.errors import DataError
from grasp_core.model.sizes import check_size
from grasp_core.model.text import listed, meant, number, quoted
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.statistics.f1 import (
    Part,
    confusion,
    distinct,
    f1_of_totals,
    indicator,
    interval,
    macro_f1,
    streams,
)

RESAMPLES = 10_000
FEW = 16
"""Items per distinct row from which on the counts are drawn at once."""


def resampled_f1(
    gold: Codes,
    systems: Sequence[Codes],
    classes: int,
    *,
    seed: int,
    purpose: str,
    resamples: int = RESAMPLES,
    part: Part = (0, 1),
) -> FloatArray:
    """Return macro-F1 (leaderboard's convention) of one or several systems on items drawn with replacement.

    `gold`: shape (n,).
    `systems`, of shape (n,): predicted classes; every system is scored on the same draws.
    `purpose`: purpose of the draws, e.g. the task's name: tasks must not share their draws.
    `part`: see :func:`grasp_core.statistics.f1.streams`; each of several parts has its share of the B draws.

    Returns shape (systems, B).

    Items with equal gold and predictions are alike, so only the counts of the distinct rows are drawn;
    sums over rows are products with 0/1 matrices.

    Source: Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13 (percentile interval).
    """
    rows, times = distinct([gold, *systems])
    of_gold = indicator(rows[:, 0], classes)
    of_systems = [indicator(rows[:, column], classes) for column in range(1, rows.shape[1])]
    both = [of_gold * of_system for of_system in of_systems]
    blocks = []
    for generator, size in streams(seed, f"bootstrap {purpose}", resamples, part):
        drawn = _drawn(generator, times, size).astype(np.float64)
        golds = drawn @ of_gold
        scores = [
            f1_of_totals(drawn @ right, golds, drawn @ of_system)
            for right, of_system in zip(both, of_systems, strict=True)
        ]
        blocks.append(np.stack(scores))
    return np.concatenate(blocks, axis=1)


def _drawn(generator: np.random.Generator, times: Int64Array, size: int) -> Int64Array:
    """Draw how often each distinct row occurs, shape (size, P).

    Multinomial: a few rows are drawn at once with their counts. Many rows are counted item by item, which is
    faster if they are nearly as many as the items.
    """
    n, P = int(times.sum()), times.size
    if n > P * FEW:
        return generator.multinomial(n, times / n, size=size)
    row_of_item = np.repeat(np.arange(P), times)
    rows = row_of_item[generator.integers(n, size=(size, n), dtype=np.int32)]
    rows += P * np.arange(size)[:, None]
    return np.bincount(rows.ravel(), minlength=size * P).reshape(size, P)


@dataclass(frozen=True, slots=True, eq=False)
class TaskScore:
    """Scores on one task; they contain counts over items, but no item's gold label.

    `confusion`, shape (K, K): items by gold class (row) and predicted class (column).
    """

    macro_f1: float
    macro_f1_declared: float
    ci95: tuple[float, float]
    n: int
    classes: tuple[str, ...]
    confusion: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of a submission by task; the overall mean only if every task was scored."""

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
    on_task: Callable[[str], None] = lambda _task: None,
) -> Scores:
    """Score a submission that passes :func:`~grasp_core.benchmark.submissions.require_scorable`."""
    predictions = submission.predictions
    parts = []
    for name, task in tasks.items():
        if name in predictions and name in gold.labels:
            on_task(name)
            parts.append(score_task(task, gold, predictions[name], seed=seed, resamples=resamples))
    return gathered(parts, tasks)


@dataclass(frozen=True, slots=True, eq=False)
class TaskDraws:
    """A task's counts, and its macro-F1 on bootstrap draws, or on a part of them.

    `classes`: length K; `confusion`: shape (K, K); `values`: shape (B,).
    """

    name: str
    classes: tuple[str, ...]
    confusion: Int64Array
    values: FloatArray

    @property
    def score(self) -> TaskScore:
        """Scores on the task, with interval."""
        return TaskScore(
            macro_f1=macro_f1(self.confusion),
            macro_f1_declared=macro_f1(self.confusion, "declared"),
            ci95=interval(self.values),
            n=int(self.confusion.sum()),
            classes=self.classes,
            confusion=self.confusion,
        )


def score_task(
    task: Task,
    gold: Gold,
    labels: Mapping[str, str],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
    part: Part = (0, 1),
) -> TaskDraws:
    """Score one task's labels, by row id, on all draws or a part of them."""
    right, (said,) = paired_codes(task, gold, [labels])
    classes = len(task.classes)
    counts = confusion(right, said, classes)
    counts.flags.writeable = False
    values = resampled_f1(
        right, [said], classes, seed=seed, purpose=task.name, resamples=resamples, part=part
    )[0]
    return TaskDraws(task.name, task.classes, counts, values)


def joined(parts: Sequence[TaskDraws]) -> TaskDraws:
    """Join the parts of a task's draws, in their order."""
    return replace(parts[0], values=np.concatenate([part.values for part in parts]))


def gathered(parts: Sequence[TaskDraws], tasks: Iterable[str]) -> Scores:
    """Return the scores of a submission from the draws of its tasks."""
    if not parts:
        raise DataError("no task has both predictions and gold labels; name the tasks' folders alike in both")
    scored = {part.name: part.score for part in parts}
    unscored = tuple(name for name in tasks if name not in scored)
    if unscored:
        return Scores(scored, None, None, unscored)
    overall = float(np.mean([found.macro_f1 for found in scored.values()]))
    total = np.sum([part.values for part in parts], axis=0)
    return Scores(scored, overall, interval(total / len(scored)), ())


def paired_codes(
    task: Task, gold: Gold, systems: Sequence[Mapping[str, str]]
) -> tuple[Codes, tuple[Codes, ...]]:
    """Return class numbers, each (I,), of the gold labels and of each system's labels, in gold's order."""
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


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Counts of one class: right items, others taken for it, and its items taken for others."""

    name: str
    right: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float | None:
        """Share of the items given the class that belong to it; None if no item was given it."""
        given = self.right + self.false_positives
        return self.right / given if given else None

    @property
    def recall(self) -> float | None:
        """Share of the items of the class that were given it; None if no item belongs to it."""
        there = self.right + self.false_negatives
        return self.right / there if there else None

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, as in macro-F1; 0 if the class never occurs."""
        either = 2 * self.right + self.false_positives + self.false_negatives
        return 2 * self.right / either if either else 0.0

    def cost(self, false_positive: float, false_negative: float) -> float:
        """Return the cost of the class's mistakes, from the cost of one mistake of each kind."""
        return self.false_positives * false_positive + self.false_negatives * false_negative


def class_scores(score: TaskScore) -> list[ClassScore]:
    """Return precision, recall and F1 of every class that the task declares, in its order."""
    right = np.diagonal(score.confusion).tolist()
    gold, predicted = score.confusion.sum(axis=1).tolist(), score.confusion.sum(axis=0).tolist()
    return [
        ClassScore(name, t, p - t, g - t)
        for name, t, g, p in zip(score.classes, right, gold, predicted, strict=True)
    ]


_TOLD = ("precision", "recall", "f1", "right", "false_positives", "false_negatives")


def scores_json(scores: Scores) -> str:
    """Return the scores as JSON: ``{"tasks": {task: {macro_f1, macro_f1_declared, ci95, n}}, "overall"}``."""
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


def score_details(scores: Scores) -> dict[str, Any]:
    """Return the same, JSON-ready, with overall interval and counts by class, which hint at gold labels."""
    plain: dict[str, Any] = json.loads(scores_json(scores))
    plain["overall_ci95"] = None if scores.overall_ci95 is None else list(scores.overall_ci95)
    for name, found in scores.tasks.items():
        plain["tasks"][name]["classes"] = [
            {"class": one.name, **{field: getattr(one, field) for field in _TOLD}}
            for one in class_scores(found)
        ]
        plain["tasks"][name]["confusion"] = found.confusion.tolist()
    return plain


BINS = 10
_SUM = 0.01
"""Most by which the sum of a row's probabilities may differ from 1, because they were rounded."""
_LEAST = 1e-15
"""Least probability in the log loss; smaller ones count as this, as in scikit-learn before 1.5."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Items whose top class has a probability from `low` to `high`: its mean, and the share right."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Agreement of a task's class probabilities with the gold labels.

    `brier`: mean over items of the sum over classes of squared differences from 1 (gold) or 0; from 0 to 2.
    `log_loss`: mean of -ln of the gold class's probability.
    `ece`: expected calibration error: mean over bins, weighted by items, of |accuracy - confidence|.

    Source: Brier (1950), Verification of forecasts expressed in terms of probability. Naeini, Cooper and
    Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning.
    """

    n: int
    brier: float
    log_loss: float
    ece: float
    bins: tuple[Bin, ...]

    @property
    def plain(self) -> dict[str, Any]:
        """The figures, JSON-ready."""
        plain = asdict(self)
        return {name: plain[name] for name in ("brier", "log_loss", "ece")} | {"bins": list(plain["bins"])}


def calibration(task: Task, gold: Mapping[str, str], probabilities: Mapping[str, FloatArray]) -> Calibration:
    """Compute the calibration of probabilities against gold labels.

    `probabilities`, shape (K,): by row id, in the order of the task's classes.
    """
    check_all(task, gold, probabilities)
    values = np.stack([probabilities[one] for one in gold])
    code_of = {name: code for code, name in enumerate(task.classes)}
    right = np.array([code_of[label] for label in gold.values()])
    rows = np.arange(right.size)
    aim = np.zeros_like(values)
    aim[rows, right] = 1.0
    top = values.argmax(axis=1)
    confidence, correct = values[rows, top], top == right
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    bins = []
    for at in range(BINS):
        here = place == at
        means = (float(confidence[here].mean()), float(correct[here].mean())) if here.any() else (None, None)
        bins.append(Bin(at / BINS, (at + 1) / BINS, int(here.sum()), *means))
    gaps = [one.n * abs(one.accuracy - one.confidence) for one in bins if one.n]  # type: ignore[operator]
    return Calibration(
        n=int(right.size),
        brier=float(((values - aim) ** 2).sum(axis=1).mean()),
        log_loss=float(-np.log(np.maximum(values[rows, right], _LEAST)).mean()),
        ece=float(sum(gaps) / right.size),
        bins=tuple(bins),
    )


def check_all(task: Task, ids: Collection[str], probabilities: Mapping[str, FloatArray]) -> None:
    """Refuse probabilities in which a row is missing."""
    missing = [one for one in ids if one not in probabilities]
    if missing or not ids:
        raise DataError(
            f"{PROBABILITIES} of {task.name} has no row for {number(len(missing), 'ID')}: "
            f"{listed(missing, 3)}"
        )


def read_probabilities(source: Path | RawFile, task: Task) -> dict[str, FloatArray]:
    """Read a file with the column ID and a column per class, named like the class."""
    if isinstance(source, RawFile):
        shown = source.path
        if source.error is not None:
            raise DataError(source.error)
        table = read_table(source.content, shown)
    else:
        shown = f"{source.parent.name}/{source.name}"
        if source.is_file():
            check_size(source.stat().st_size, MAX_ROWS_FILE, shown, "probabilities")
        table = read_table(source)
    for name in (ID, *task.classes):
        if name not in table.columns:
            hint = meant(name, table.columns, f"its columns are {listed(table.columns, 5)}")
            raise DataError(f"{shown} has no column {quoted(name)}, as {task.name} needs; {hint}")
    columns = [_numbers(table, name, shown) for name in task.classes]
    values = np.stack(columns, axis=1)
    ids = table.column(ID)
    found: dict[str, FloatArray] = {}
    for position, code in enumerate(ids.codes.tolist()):
        one = ids.values[code]
        place = f"{shown}, row {table.row(position)}"
        if one in found:
            raise DataError(f"{place}: the ID {quoted(one)} occurs twice; give every ID one row")
        total = values[position].sum()
        if not abs(total - 1) <= _SUM:
            raise DataError(f"{place}: the probabilities add up to {total:.3g}; they must add up to 1")
        found[one] = values[position] / total
    return found


def _numbers(table: Table, name: str, shown: str) -> FloatArray:
    column = table.column(name)
    numbers = np.empty(len(column.values))
    for code, text in enumerate(column.values):
        try:
            numbers[code] = float(text)
        except ValueError:
            numbers[code] = np.nan
    values: FloatArray = numbers[column.codes]
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        position = int(bad[0])
        raise DataError(
            f"{shown}, row {table.row(position)}, column {quoted(name)}: "
            f"{quoted(column.values[column.codes[position]])} is no number from 0 to 1"
        )
    return values
