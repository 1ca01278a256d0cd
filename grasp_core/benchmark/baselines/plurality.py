"""The label that most of the labelled rows have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grasp_core.benchmark.baselines.protocol import Predict, Texts, known_labels
from grasp_core.benchmark.tasks import Rows, Task


def fit_plurality(train: Rows, task: Task, seed: int) -> Predict:
    """Every row gets the most frequent label; among equally frequent ones the first in the task's order."""
    return always_plurality(known_labels(train), task)


def always_plurality(labels: Sequence[str], task: Task) -> Predict:
    """The class that any baseline comes to where there is one alone, or no word to learn from."""
    counts = Counter(labels)
    label = max(task.classes, key=lambda name: counts[name])

    def predict(texts: Texts) -> list[str]:
        return [label] * len(texts)

    return predict
