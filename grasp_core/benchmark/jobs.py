"""Jobs for other processes: only these read gold labels, and only scores come back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark import submissions
from grasp_core.benchmark.baselines.classical import Texts
from grasp_core.benchmark.baselines.registry import make_baseline
from grasp_core.benchmark.scoring import human
from grasp_core.benchmark.scoring.all_tasks import predictions_csv
from grasp_core.benchmark.scoring.compare import TaskDifference, compare_task
from grasp_core.benchmark.scoring.evaluate import Fold, label_rows, taken
from grasp_core.benchmark.scoring.scores import TaskDraws, calibration, score_task
from grasp_core.benchmark.tasks import (
    GOLD_FILE,
    TEST_FILE,
    TRAIN_FILE,
    Task,
    TaskRows,
    read_rows,
    read_task,
    read_tasks,
)
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.f1 import Part

Predictions = Mapping[str, Mapping[str, str]]
"""Labels by task and row id."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A server's benchmark: folders with ``TASK/test.csv`` and ``TASK/task.json``; tasks may be built in."""

    gold: Path
    tasks: Path | None

    def open(self, *names: str) -> tuple[Mapping[str, Task], submissions.Gold, submissions.Ids]:
        """Return all tasks, and the gold labels and ids of the named ones."""
        tasks = read_tasks(self.tasks)
        chosen = {name: task for name, task in tasks.items() if name in names}
        ids = submissions.known_ids(self.tasks, chosen)
        return tasks, submissions.read_gold(self.gold, chosen, ids), ids

    def with_gold(self) -> tuple[str, ...]:
        """Return the tasks that can be scored: those with a file of gold labels."""
        return tuple(name for name in read_tasks(self.tasks) if (self.gold / name / GOLD_FILE).is_file())


_PART = 50_000
"""Most rows times classes whose draws are one job; more are several jobs, so that the progress bar moves."""


def parts_of(task: Task, rows: int) -> list[Part]:
    """Return the parts of a task's draws, each for one job."""
    parts = min(10, max(1, rows * len(task.classes) // _PART))
    return [(part, parts) for part in range(parts)]


def score_one(job: tuple[Benchmark, str, Part, Mapping[str, str], bool]) -> TaskDraws:
    """Score one task's labels on a part of the draws; with `some`, people's labels of some of its rows."""
    benchmark, name, part, labels, some = job
    tasks, gold, ids = benchmark.open(name)
    if not some:
        file = submissions.LabelledFile(name, (ID, LABEL), tuple(labels), tuple(labels.values()), len(labels))
        submissions.require_scorable(submissions.Submission({name: file}), tasks, {**gold.ids, **ids})
        return score_task(tasks[name], gold, labels, part=part)
    strange = sorted(labels.keys() - gold.labels.get(name, {}).keys())
    if strange:
        raise DataError(
            f"{number(len(strange), 'item')} of {len(labels):,} are no rows of {name} with a gold label "
            f"here, such as {listed(strange, 3)}; choose the task that people labelled"
        )
    unknown = sorted(set(labels.values()) - set(tasks[name].classes))
    if unknown:
        raise DataError(f"{listed(unknown, 3)}: no class of {name}; people must say the classes' names")
    gold = submissions.Gold({name: {one: gold.labels[name][one] for one in labels}})
    return score_task(tasks[name], gold, labels, part=part)


def calibrate_one(job: tuple[Benchmark, str, Mapping[str, FloatArray]]) -> dict[str, float]:
    """Return the calibration of a task's probabilities, without bins: one of a single row shows its label."""
    benchmark, name, probabilities = job
    tasks, gold, _ = benchmark.open(name)
    found = calibration(tasks[name], gold.labels[name], probabilities)
    return {figure: round(getattr(found, figure), 3) for figure in ("brier", "log_loss", "ece")}


def compare_one(job: tuple[Benchmark, str, Part, Mapping[str, str], Mapping[str, str]]) -> TaskDifference:
    """Compare two systems' labels of one task on a part of the draws."""
    benchmark, name, part, first, second = job
    tasks, gold, _ = benchmark.open(name)
    return compare_task(tasks[name], gold, first, second, part=part)


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Numbered folds of an evaluation for one worker, which embeds their shared texts only once."""

    name: str
    task: Task
    train: TaskRows
    folds: Mapping[int, Fold]
    seed: int
    unlabelled: Texts = ()


def label_folds(job: Folds) -> dict[str, list[str]]:
    """Return labels by fold, as :func:`~.scoring.evaluate.evaluate` stores finished work."""
    fit = make_baseline(job.name, unlabelled=job.unlabelled)
    return {
        f"fold {number}": fit(taken(job.train, fold.train), job.task, job.seed)(
            [job.train.texts[row] for row in fold.test]
        )
        for number, fold in job.folds.items()
    }


@dataclass(frozen=True, slots=True)
class TaskJob:
    """A baseline's name, and the folder of a server's task to label."""

    name: str
    folder: Path
    seed: int


def label_task(job: TaskJob) -> tuple[str, str]:
    """Return the task's name and its file for a submission."""
    task = read_task(job.folder)
    train = read_rows(job.folder / TRAIN_FILE, task, labelled=True)
    test = read_rows(job.folder / TEST_FILE, task, labelled=False)
    fit = make_baseline(job.name, unlabelled=test.texts)
    labels = label_rows(fit, train, task, test.texts, seed=job.seed)
    return task.name, predictions_csv(test.ids, labels)


@dataclass(frozen=True, slots=True, eq=False)
class HumanDraws:
    """A human baseline to compute, with parameters of :func:`~.scoring.human.human_baseline`."""

    dataset: Dataset
    against: Mapping[str, str] | None
    votes: int
    items: int
    seed: int
    qualification: Mapping[str, str] | None = None
    bar: float = 0.0
    by: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class HumanScores:
    """Scores by kind of raters ("" for all raters), and the qualification, if one was asked for."""

    scores: Mapping[str, human.HumanScore]
    qualified: human.Qualification | None


def score_people(job: HumanDraws) -> HumanScores:
    """Score the plurality of a few raters."""
    kinds, qualified = _voters(job)
    scores = {
        kind: human.human_baseline(part, votes=job.votes, items=job.items, seed=job.seed, against=job.against)
        for kind, part in kinds.items()
    }
    return HumanScores(scores, qualified)


def people_labels(job: HumanDraws) -> dict[str, dict[str, str]]:
    """Return the plurality of a few raters by item, for each kind of raters."""
    kinds, _ = _voters(job)
    return {
        kind: human.plurality_of_few(part, votes=job.votes, items=job.items, seed=job.seed)
        for kind, part in kinds.items()
    }


def _voters(job: HumanDraws) -> tuple[Mapping[str, Dataset], human.Qualification | None]:
    """Return the votes of each kind of raters, without raters who do not qualify."""
    dataset, qualified = job.dataset, None
    if job.qualification is not None:
        dataset, qualified = human.qualify(dataset, job.qualification, job.bar)
    return {"": dataset} if job.by is None else human.of_kind(dataset, job.by), qualified
