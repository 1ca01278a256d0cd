"""Work for other processes: only there are gold labels read, and only scores come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.baselines.registry import make_baseline
from grasp_core.benchmark.gold import GOLD_FILE, Gold, LabelledFile, read_gold
from grasp_core.benchmark.scoring.compare import TaskDifference, compare_task
from grasp_core.benchmark.scoring.folds import Fold, taken
from grasp_core.benchmark.scoring.human import HumanScore, human_baseline
from grasp_core.benchmark.scoring.scores import TaskDraws, score_task
from grasp_core.benchmark.submissions import Ids, Submission, known_ids, require_scorable
from grasp_core.benchmark.tasks import Rows, Task, read_tasks
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.f1 import Part

Predictions = Mapping[str, Mapping[str, str]]
"""Label by row id, by task."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Where a server keeps its benchmark.

    Parameters
    ----------
    gold : Path
        Folder with ``<task>/test.csv``.
    tasks : Path or None
        Folder with ``<task>/task.json``; None for the built-in tasks.
    """

    gold: Path
    tasks: Path | None

    def open(self, *names: str) -> tuple[Mapping[str, Task], Gold, Ids]:
        """Tasks, with the gold labels and ids of those of these names alone."""
        tasks = read_tasks(self.tasks)
        chosen = {name: task for name, task in tasks.items() if name in names}
        ids = known_ids(self.tasks, chosen)
        return tasks, read_gold(self.gold, chosen, ids), ids

    def with_gold(self) -> tuple[str, ...]:
        """Tasks that can be scored: those whose file of gold labels is there."""
        return tuple(name for name in read_tasks(self.tasks) if (self.gold / name / GOLD_FILE).is_file())


_PART = 50_000
"""Rows times classes of a task whose draws are one job; of more they are several, so that a bar moves."""


def parts_of(task: Task, rows: int) -> list[Part]:
    """The jobs that a task's draws are shared among."""
    parts = min(10, max(1, rows * len(task.classes) // _PART))
    return [(part, parts) for part in range(parts)]


def score_one(job: tuple[Benchmark, str, Part, Mapping[str, str]]) -> TaskDraws:
    """Score one task's labels on a part of the draws.

    Raises
    ------
    DataError
        If the benchmark's files cannot be used or the labels do not fit them.
    """
    benchmark, name, part, labels = job
    tasks, gold, ids = benchmark.open(name)
    require_scorable(as_submission({name: labels}), tasks, {**gold.ids, **ids})
    return score_task(tasks[name], gold, labels, part=part)


def compare_one(job: tuple[Benchmark, str, Part, Mapping[str, str], Mapping[str, str]]) -> TaskDifference:
    """Compare two systems' labels of one task on a part of the draws.

    Raises
    ------
    DataError
        If the benchmark's files cannot be used or the labels do not fit them.
    """
    benchmark, name, part, first, second = job
    tasks, gold, _ = benchmark.open(name)
    return compare_task(tasks[name], gold, first, second, part=part)


def as_submission(predictions: Predictions) -> Submission:
    """Stored predictions as a submission."""
    return Submission({task: _file(task, labels) for task, labels in predictions.items()})


def _file(task: str, labels: Mapping[str, str]) -> LabelledFile:
    return LabelledFile(
        path=task, columns=(ID, LABEL), ids=tuple(labels), labels=tuple(labels.values()), rows=len(labels)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Folds of an evaluation for one worker, which shares what it embeds among them.

    Parameters
    ----------
    name : str
        Of the baseline.
    folds : mapping of int to Fold
        By number.
    """

    name: str
    task: Task
    train: Rows
    folds: Mapping[int, Fold]
    seed: int


def label_folds(job: Folds) -> dict[str, list[str]]:
    """Labels by fold, as :func:`~grasp_core.benchmark.scoring.evaluate.evaluate` keeps work that is done.

    Raises
    ------
    MissingPackageError
        If the baseline needs packages that are not installed.
    """
    fit = make_baseline(job.name)
    return {
        f"fold {number}": fit(taken(job.train, fold.train), job.task, job.seed)(
            [job.train.texts[row] for row in fold.test]
        )
        for number, fold in job.folds.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class HumanDraws:
    """A human baseline to compute; parameters are those of :func:`~.scoring.human.human_baseline`."""

    dataset: Dataset
    against: Mapping[str, str] | None
    votes: int
    items: int
    seed: int


def score_people(job: HumanDraws) -> HumanScore:
    """Score the plurality of a few raters.

    Raises
    ------
    DataError
        If too few items can be drawn, or right labels are no categories of the data.
    """
    return human_baseline(job.dataset, votes=job.votes, items=job.items, seed=job.seed, against=job.against)
