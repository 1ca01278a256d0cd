"""From prompts to classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.benchmark.language_models.asking import Asking, ask_all
from grasp_core.benchmark.language_models.budget import Prompt, fit
from grasp_core.benchmark.language_models.prompt import shown
from grasp_core.benchmark.language_models.selection import drawn, most_similar
from grasp_core.benchmark.tasks import Rows
from grasp_core.errors import DataError


@dataclass(frozen=True, slots=True)
class Setting:
    """How a model is asked.

    Parameters
    ----------
    shots : int
        Examples.
    instructions : bool
    semantic : bool
        Whether the most similar rows are the examples; else rows by chance.
    """

    shots: int
    instructions: bool = True
    semantic: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Classes of rows.

    Parameters
    ----------
    labels : tuple of str, length n
    probabilities : array of shape (n, classes)
        Each row sums to 1.
    """

    labels: tuple[str, ...]
    probabilities: FloatArray


def predict(asking: Asking, setting: Setting, train: Rows, texts: Sequence[Mapping[str, str]]) -> Predictions:
    """Classes of texts, with the training rows as examples.

    Raises
    ------
    DataError
        If rows stayed without an answer; those that have one are kept.
    """
    every = list(range(len(train.texts)))
    return _classified(asking, _prompts(asking, setting, train, texts, lambda _: every), len(texts))


def leave_one_out(asking: Asking, setting: Setting, train: Rows) -> Predictions:
    """Classes of the training rows, each with the others as examples.

    Raises
    ------
    DataError
        As in :func:`predict`.
    """
    n = len(train.texts)

    def others(target: int) -> list[int]:
        return [row for row in range(n) if row != target]

    return _classified(asking, _prompts(asking, setting, train, train.texts, others), n)


def _prompts(
    asking: Asking,
    setting: Setting,
    train: Rows,
    texts: Sequence[Mapping[str, str]],
    usable: Callable[[int], list[int]],
) -> Iterator[Prompt]:
    task = asking.task
    if train.labels is None:
        raise DataError(f"{train.table.name} has no labels, so its rows cannot be examples")
    cosines = _cosines(asking, setting, train, texts)
    for target, text in enumerate(texts):
        rows = usable(target)
        if cosines is None or not shown(task, text):  # nothing to compare
            labels = [train.labels[row] for row in rows]
            chosen = drawn(labels, setting.shots, asking.seed)
        else:
            chosen = most_similar(cosines[target, rows], setting.shots)
        examples = [(train.texts[rows[row]], train.labels[rows[row]]) for row in chosen]
        yield fit(asking.model, task, text, examples, instructions=setting.instructions)


def _cosines(
    asking: Asking, setting: Setting, train: Rows, texts: Sequence[Mapping[str, str]]
) -> FloatArray | None:
    if not setting.semantic or setting.shots == 0:
        return None
    if asking.similarity is None:
        raise DataError(
            "Choosing similar examples needs embeddings of texts; take examples by chance instead"
        )
    task = asking.task
    return asking.similarity(
        [shown(task, text) for text in texts], [shown(task, text) for text in train.texts]
    )


def _classified(asking: Asking, prompts: Iterator[Prompt], total: int) -> Predictions:
    answers = ask_all(asking, prompts, total)
    logprobs = np.array([answer.logprobs for answer in answers]).reshape(total, len(asking.task.classes))
    probabilities = np.exp(logprobs - logprobs.max(axis=1, keepdims=True, initial=-np.inf))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    labels = tuple(asking.task.classes[best] for best in probabilities.argmax(axis=1))
    return Predictions(labels, probabilities)
