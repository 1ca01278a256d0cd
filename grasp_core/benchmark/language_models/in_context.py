"""Labels by a language model from examples in its prompt, and trials of ways to ask."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from grasp_core.benchmark.checkpoints import KeptWork
from grasp_core.benchmark.language_models.answers import Asking, Usage, ask_all
from grasp_core.benchmark.language_models.model import LanguageModel, ModelAnswer
from grasp_core.benchmark.language_models.prompt import Prompt, Similarity, drawn, fit, most_similar, shown
from grasp_core.benchmark.tasks import Task, TaskRows
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import DataError
from grasp_core.reading.table.parsed import Watch, unwatched
from grasp_core.statistics.f1 import confusion, macro_f1


@dataclass(frozen=True, slots=True)
class Setting:
    """A way to ask a model: number of examples, similar ones if `semantic`, else random; instructions."""

    shots: int
    instructions: bool = True
    semantic: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Classes of n rows; `probabilities`, of shape (n, classes): each row sums to 1."""

    labels: tuple[str, ...]
    probabilities: FloatArray


def predict(
    asking: Asking, setting: Setting, train: TaskRows, texts: Sequence[Mapping[str, str]]
) -> Predictions:
    """Return the classes of texts, with the training rows as examples."""
    every = list(range(len(train.texts)))
    return _classified(asking, _prompts(asking, setting, train, texts, lambda _: every), len(texts))


def leave_one_out(asking: Asking, setting: Setting, train: TaskRows) -> Predictions:
    """Return the classes of the training rows, each with the others as examples."""
    n = len(train.texts)

    def others(target: int) -> list[int]:
        return [row for row in range(n) if row != target]

    return _classified(asking, _prompts(asking, setting, train, train.texts, others), n)


def _prompts(
    asking: Asking,
    setting: Setting,
    train: TaskRows,
    texts: Sequence[Mapping[str, str]],
    usable: Callable[[int], list[int]],
) -> Iterator[Prompt]:
    task = asking.task
    if train.labels is None:
        raise DataError(f"{train.table.name} has no labels, so its rows cannot be examples")
    cosines = None
    if setting.semantic and setting.shots:
        if asking.similarity is None:
            raise DataError(
                "Choosing similar examples needs embeddings of texts; take examples by chance instead"
            )
        cosines = asking.similarity(*([shown(task, text) for text in some] for some in (texts, train.texts)))
    for target, text in enumerate(texts):
        rows = usable(target)
        if cosines is None or not shown(task, text):  # nothing to compare
            labels = [train.labels[row] for row in rows]
            chosen = drawn(labels, setting.shots, asking.seed)
        else:
            chosen = most_similar(cosines[target, rows], setting.shots)
        examples = [(train.texts[rows[row]], train.labels[rows[row]]) for row in chosen]
        yield fit(asking.model, task, text, examples, instructions=setting.instructions)


def _classified(asking: Asking, prompts: Iterator[Prompt], total: int) -> Predictions:
    answers = ask_all(asking, prompts, total)
    logprobs = np.array([answer.logprobs for answer in answers]).reshape(total, len(asking.task.classes))
    probabilities = np.exp(logprobs - logprobs.max(axis=1, keepdims=True, initial=-np.inf))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    labels = tuple(asking.task.classes[best] for best in probabilities.argmax(axis=1))
    return Predictions(labels, probabilities)


@dataclass(frozen=True, slots=True)
class InContext:
    """A language model that sees instructions and examples, by default similar ones."""

    model: LanguageModel
    answers: KeptWork[ModelAnswer]
    setting: Setting | None = None
    similarity: Similarity | None = None
    watch: Watch = unwatched
    usage: Usage = field(default_factory=Usage)

    def __call__(
        self, train: TaskRows, task: Task, seed: int
    ) -> Callable[[Sequence[Mapping[str, str]]], list[str]]:
        """Choose examples from labelled rows; the seed is for examples drawn at random."""
        asking = Asking(task, self.model, self.answers, self.similarity, seed, self.watch, self.usage)
        setting = self.setting or Setting(task.shots)
        return lambda texts: list(predict(asking, setting, train, texts).labels)


SHOTS = (5, 10, 25, 49)
Score = Callable[[Sequence[str], Sequence[str], Task], float]
"""Macro-F1 of (gold, predicted) labels over all declared classes of the task."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The score of one way to ask: macro-F1 over the declared classes, by leave-one-out."""

    setting: Setting
    score: float


def grid(rows: int = 50) -> tuple[Setting, ...]:
    """Return every combination of instructions, selection and number of examples: 16 with 50 rows."""
    return tuple(
        Setting(n, instructions, semantic)
        for n, instructions, semantic in product(_shots(rows), (True, False), (True, False))
    )


def paper_sweeps(rows: int = 50) -> tuple[tuple[str, tuple[Setting, ...]], ...]:
    """Return the paper's own trials, which vary one thing at a time.

    Instructions are tried with 20 random examples; similarity with instructions and 20 examples; the number
    of examples with both (raft_train_experiment.py of github.com/oughtinc/raft-baselines).
    """
    return (
        ("instructions", tuple(Setting(20, instructions, False) for instructions in (False, True))),
        ("similar examples", tuple(Setting(20, True, semantic) for semantic in (False, True))),
        ("number of examples", tuple(Setting(n, True, True) for n in _shots(rows))),
    )


def _shots(rows: int) -> list[int]:
    return list(dict.fromkeys(min(n, rows - 1) for n in SHOTS))


def macro_f1_declared(gold: Sequence[str], predicted: Sequence[str], task: Task) -> float:
    """Return macro-F1 over all declared classes, which the paper tunes."""
    codes = [np.array([task.classes.index(label) for label in labels]) for labels in (gold, predicted)]
    return macro_f1(confusion(codes[0], codes[1], len(task.classes)), "declared")


def tune(asking: Asking, train: TaskRows, settings: Sequence[Setting], score: Score) -> list[Trial]:
    """Try settings by leave-one-out, best first; of equal ones, that with fewer examples, which costs less.

    Leave-one-out misleads if classes are balanced, as the class of the row left out is then the rarer one
    among the others, and if a class has a single row, which is left without an example.
    """
    n = len(train.texts)
    trials = []
    for done, setting in enumerate(settings):

        def report(ready: int, _: int, before: int = done * n) -> None:
            asking.watch(before + ready, len(settings) * n)

        found = leave_one_out(replace(asking, watch=report), setting, train)
        trials.append(Trial(setting, score(train.labels or (), found.labels, asking.task)))
    return sorted(trials, key=lambda trial: (-trial.score, trial.setting.shots))
