"""Macro-F1 of a model and of a group's own members against pluralities, in plain NumPy (docs/models.md)."""

from collections.abc import Sequence

import numpy as np

from grasp_core.model.annotations import BoolArray, Codes, Int64Array
from grasp_core.statistics.f1 import confusion, f1_of_totals

CLOSER_BELOW = ("cross_entropy", "js_divergence")
"""Statistics whose smaller values mean closer to the group; larger values do for the others."""


def plurality(c: Int64Array, ranks: Int64Array) -> Int64Array:
    """Return each item's most frequent label, shape (I,); among tied labels the one with the highest rank."""
    return np.asarray((c * c.shape[1] + ranks).argmax(axis=1))


def compared_classes(models: Sequence[Codes], everybody: Int64Array, ranks: Int64Array) -> BoolArray:
    """Return the classes, (K,), that macro-F1 averages over, one set for all models (I,) and groups.

    They are those that a model gives, or all raters' plurality, on an item that has both.
    """
    found = np.zeros(ranks.shape[1], np.bool_)
    rated, gold = everybody.sum(axis=1) >= 1, plurality(everybody, ranks)
    for x in models:
        shared = rated & (x >= 0)
        found[x[shared]] = found[gold[shared]] = True
    return found


def plurality_macro_f1(x: Codes, c: Int64Array, ranks: Int64Array, classes: BoolArray) -> float:
    """Return macro-F1 of labels (I,) against the plurality of counts (I, K); NaN if no item has both."""
    shared = (x >= 0) & (c.sum(axis=1) >= 1)
    gold = plurality(c[shared], ranks[shared])
    return _macro_f1(confusion(gold, x[shared], c.shape[1]), classes)


def _macro_f1(counts: Int64Array, classes: BoolArray) -> float:
    """Return macro-F1 over these classes; a class on neither side counts 0. NaN without items."""
    if not counts.any():
        return float("nan")
    totals = (np.diagonal(counts), counts.sum(axis=1), counts.sum(axis=0))
    right, gold, predicted = (of.astype(np.float64)[classes] for of in totals)
    return float(f1_of_totals(right, gold, predicted, "declared"))


def members_macro_f1(x: Codes, c: Int64Array, ranks: Int64Array, classes: BoolArray) -> float:
    """Return macro-F1 of all labels by the group's own members, each against the other members' plurality.

    `c`, `ranks`: shape (I, K); `classes`: shape (K,).
    `x`, shape (I,): only items that the model labels count.

    This is leave-one-out: a label of an item is compared with the plurality of the group's other labels of
    that item, and all these pairs make one confusion matrix. NaN if no item has two labels of the group.
    """
    kept = (x >= 0) & (c.sum(axis=1) >= 2)
    c, ranks = c[kept], ranks[kept]
    k = c.shape[1]
    pairs = np.zeros((k, k), dtype=np.int64)
    for given in range(k):
        with_it = c[:, given] > 0
        rest = c[with_it].copy()
        rest[:, given] -= 1
        np.add.at(pairs[given], plurality(rest, ranks[with_it]), c[with_it, given])
    return _macro_f1(pairs.T, classes)
