"""The protocol of baselines: each is fitted on labelled rows and then labels others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.model.errors import DataError

Texts: TypeAlias = Sequence[Mapping[str, str]]
"""Texts by field, a mapping per row, as in :class:`~grasp_core.benchmark.tasks.Rows`."""


class Predict(Protocol):
    """A fitted baseline: a class for each row, which depends on no other row."""

    def __call__(self, texts: Texts, /) -> list[str]:
        """Label rows."""


class Fit(Protocol):
    """A baseline: labelled rows, their task and a seed to something that labels rows."""

    def __call__(self, train: Rows, task: Task, seed: int, /) -> Predict:
        """Learn from labelled rows."""


def joined(texts: Texts, task: Task) -> list[str]:
    """All fields of each row as one text, joined by a full stop and a space."""
    return [". ".join(text[field] for field in task.fields) for text in texts]


def known_labels(train: Rows) -> tuple[str, ...]:
    """Labels of the rows that a baseline learns from.

    Raises DataError if there are no rows, or they have no labels.
    """
    if not train.labels:
        raise DataError(f"{train.table.name} has no labelled row; a baseline learns from at least one")
    return train.labels
