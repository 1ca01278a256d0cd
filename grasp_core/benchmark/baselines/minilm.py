"""Baselines on sentence embeddings of a frozen MiniLM: its weights are never trained."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from grasp_core.benchmark.baselines.embedding import Embedder, Matrix
from grasp_core.benchmark.baselines.linear import logistic
from grasp_core.benchmark.baselines.plurality import always_plurality
from grasp_core.benchmark.baselines.protocol import Fit, Predict, Texts, known_labels
from grasp_core.benchmark.language_models.prompt import shown
from grasp_core.benchmark.tasks import Rows, Task

TIE = 1e-6
"""Cosines closer than this are equal: how far sums in another order may be apart."""


def nearest_neighbour(embed: Embedder) -> Fit:
    """Each row gets the label of the most similar labelled row; of equally similar ones, the first."""

    def fit(train: Rows, task: Task, seed: int) -> Predict:
        return _nearest(embed, task, embed(_texts(train.texts, task)), known_labels(train), _texts)

    return fit


def names_alone(embed: Embedder) -> Fit:
    """Each row gets the class whose name is most similar to its text; labelled rows are not used."""

    def fit(train: Rows, task: Task, seed: int) -> Predict:
        return _nearest(embed, task, embed(list(map(in_words, task.classes))), task.classes, _bare)

    return fit


def shots_and_names(embed: Embedder) -> Fit:
    """Each row gets the class with the most similar labelled row or name, whichever is more similar."""

    def fit(train: Rows, task: Task, seed: int) -> Predict:
        labels = known_labels(train)
        anchors = [*_bare(train.texts, task), *map(in_words, task.classes)]
        return _nearest(embed, task, embed(anchors), [*labels, *task.classes], _bare)

    return fit


def logistic_head(embed: Embedder) -> Fit:
    """Logistic regression on the embeddings, each class of the same weight whatever its number of rows."""

    def fit(train: Rows, task: Task, seed: int) -> Predict:
        labels = known_labels(train)
        if len(set(labels)) == 1:
            return always_plurality(labels, task)
        model = logistic(embed(_texts(train.texts, task)), labels)

        def predict(texts: Texts) -> list[str]:
            return list(map(str, model.predict(embed(_texts(texts, task))))) if texts else []

        return predict

    return fit


def in_words(name: str) -> str:
    """A class's name as words, e.g. "card not working" for ``card_not_working`` or ``cardNotWorking``."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[\s_/|:;?!-]+", " ", parted).strip() or name


def _texts(texts: Texts, task: Task) -> list[str]:
    """Rows as a language model is shown them: ``Field: text``, a line per field."""
    return [shown(task, text) for text in texts]


def _bare(texts: Texts, task: Task) -> list[str]:
    """The same without the fields' names, which class names do not have and labelled rows would share."""
    fields = task.prompt_fields
    return [". ".join(text[field] for field in fields if text[field].strip()) for text in texts]


def _nearest(
    embed: Embedder,
    task: Task,
    anchors: Matrix,
    labels: Sequence[str],
    as_text: Callable[[Texts, Task], list[str]],
) -> Predict:
    def predict(texts: Texts) -> list[str]:
        cosines = embed(as_text(texts, task)) @ anchors.T
        if not texts:
            return []
        first = np.argmax(cosines >= cosines.max(axis=1, keepdims=True) - TIE, axis=1)
        return [labels[position] for position in first]

    return predict
