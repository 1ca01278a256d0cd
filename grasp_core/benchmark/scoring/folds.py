"""Which labelled rows a baseline learns from, and which are then labelled to score it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.benchmark.baselines.protocol import known_labels
from grasp_core.benchmark.tasks import Rows
from grasp_core.model.annotations import Codes
from grasp_core.model.errors import DataError

SPLITS, TEST_SHARE = 20, 0.2


@dataclass(frozen=True, slots=True)
class Fold:
    """Positions of the rows to learn from, and of those to be labelled."""

    train: tuple[int, ...]
    test: tuple[int, ...]


def leave_one_out(rows: Rows) -> list[Fold]:
    """Each row labelled by what all others teach."""
    everyone = range(len(rows.ids))
    return [Fold(tuple(one for one in everyone if one != left), (left,)) for left in everyone]


def stratified_splits(rows: Rows, seed: int, splits: int = SPLITS) -> list[Fold]:
    """Rows parted at random: a fifth of each class, rounded by chance, is labelled from the others.

    A class of one row stays with those to learn from.

    Raises DataError if no class has two rows.
    """
    labels = np.array(known_labels(rows))
    classes = [np.flatnonzero(labels == name) for name in dict.fromkeys(labels)]
    if max(map(len, classes)) < 2:
        raise DataError(f"{rows.table.name} has no class with two rows, so it cannot be split; use loo")
    return [_split(classes, np.random.Generator(np.random.Philox([seed, k]))) for k in range(splits)]


def _split(classes: Sequence[Codes], rng: np.random.Generator) -> Fold:
    test: set[int] = set()
    while not test:
        for members in classes:
            wanted = len(members) * TEST_SHARE
            size = min(int(wanted) + int(rng.random() < wanted % 1), len(members) - 1)
            test.update(map(int, rng.permutation(members)[:size]))
    everyone = range(sum(map(len, classes)))
    return Fold(tuple(one for one in everyone if one not in test), tuple(sorted(test)))


def taken(rows: Rows, positions: Sequence[int]) -> Rows:
    """Some of the rows, in that order."""
    labels = None if rows.labels is None else tuple(rows.labels[one] for one in positions)
    ids = tuple(rows.ids[one] for one in positions)
    return Rows(ids, tuple(rows.texts[one] for one in positions), labels, rows.table)
