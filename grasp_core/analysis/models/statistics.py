"""Agreement of a model with a group: the definitions, in plain NumPy (docs/models.md).

The compiled kernel computes the same numbers faster and is tested against these definitions.
"""

from collections.abc import Sequence

import numpy as np

from grasp_core.model.annotations import BoolArray, Codes, FloatArray, Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import SIDES
from grasp_core.statistics import cross_group
from grasp_core.statistics import items as counts
from grasp_core.statistics.f1 import confusion, f1_of_totals
from grasp_core.statistics.items import NotEstimableError

CLOSER_BELOW = ("cross_entropy", "js_divergence")
"""Statistics whose smaller values mean closer to the group; larger values do for the others."""


def one_hot(x: Codes, n_categories: int) -> Int64Array:
    """Return a model's counts, as those of one more rater, shape (I, K)."""
    return np.asarray((x[:, None] == np.arange(n_categories)).astype(np.int64))


def xrr(x: Codes, c: Int64Array) -> float:
    """Cross-replication reliability of the model, a single rater, and the group.

    `c`: shape (I, K).
    `x`, shape (I,): the model's labels, -1 where it has none.

    Raises NotEstimableError if no item has labels of both, or all labels are the same.
    """
    c, x = _shared(c, x)
    try:
        return cross_group.xrr(one_hot(x, c.shape[1]), c)
    except NotEstimableError:
        raise NotEstimableError(NoValue.ONE_LABEL_WITH_MODEL()) from None


def plurality(c: Int64Array, ranks: Int64Array) -> Int64Array:
    """Return each item's most frequent label, shape (I,); among tied labels the one with the highest rank."""
    return np.asarray((c * c.shape[1] + ranks).argmax(axis=1))


def compared_classes(models: Sequence[Codes], everybody: Int64Array, ranks: Int64Array) -> BoolArray:
    """Return the classes that macro-F1 averages over, one set for all models and groups.

    `models`: each of shape (I,); `ranks`: shape (I, K).
    `everybody`, shape (I, K): counts of all raters.

    Returns shape (K,): classes that a model gives, or everybody's plurality, on an item that has both.
    """
    found = np.zeros(ranks.shape[1], np.bool_)
    rated, gold = everybody.sum(axis=1) >= 1, plurality(everybody, ranks)
    for x in models:
        shared = rated & (x >= 0)
        found[x[shared]] = found[gold[shared]] = True
    return found


def against_plurality(x: Codes, c: Int64Array, ranks: Int64Array, classes: BoolArray) -> tuple[float, float]:
    """Return macro-F1 of labels (I,) against the plurality of counts (I, K), and the share that agrees.

    Raises NotEstimableError if no item has labels of both.
    """
    c, x, ranks = _shared(c, x, ranks)
    gold = plurality(c, ranks)
    return _macro_f1(confusion(gold, x, c.shape[1]), classes), float((x == gold).mean())


def _macro_f1(counts: Int64Array, classes: BoolArray) -> float:
    """Return macro-F1 over these classes; a class on neither side counts 0. NaN without items."""
    if not counts.any():
        return float("nan")
    totals = (np.diagonal(counts), counts.sum(axis=1), counts.sum(axis=0))
    right, gold, predicted = (of.astype(np.float64)[classes] for of in totals)
    return float(f1_of_totals(right, gold, predicted, "declared"))


def cross_entropy(x: Codes, c: Int64Array) -> float:
    """Mean over shared items of H(p, q), in nats: p the group's shares, q the model's label smoothed.

    Raises NotEstimableError if no item has labels of both.

    q_k = (d_k + 1/2) / (1 + K/2), d being 1 for the model's label and else 0: convention `smooth` of
    docs/methods.md. With one label per item this is a falling linear function of the mean share of
    members who give the model's label.
    """
    c, x = _shared(c, x)
    k = c.shape[1]
    p = c / c.sum(axis=1, keepdims=True)
    q = (one_hot(x, k) + 0.5) / (1 + k / 2)
    return float(counts.cross_entropy(p, q).mean())


def js_divergence(x: Codes, c: Int64Array) -> float:
    """Mean over shared items of the Jensen-Shannon divergence, in nats: 0 (equal) to ln 2.

    Raises NotEstimableError if no item has labels of both.

    H((p + e) / 2) - H(p) / 2 with p the group's shares and e all weight on the model's label (Lin 1991).
    """
    c, x = _shared(c, x)
    p = c / c.sum(axis=1, keepdims=True)
    middle = (p + one_hot(x, c.shape[1])) / 2
    return float((counts.cross_entropy(middle, middle) - counts.cross_entropy(p, p) / 2).mean())


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


def all_sides(
    x: Codes, c: Int64Array, ranks: Int64Array, classes: BoolArray
) -> tuple[FloatArray, dict[str, Remark]]:
    """Return all statistics, in the order of :data:`~grasp_core.model.spec.SIDES`, and reasons for NaN."""
    values, reasons = np.full(len(SIDES), np.nan), dict[str, Remark]()
    if not ((x >= 0) & (c.sum(axis=1) >= 1)).any():
        return values, dict.fromkeys(SIDES, NoValue.NO_ITEM_WITH_BOTH())
    try:
        values[0] = xrr(x, c)
    except NotEstimableError as error:
        reasons["xrr"] = error.reason
    values[1:3] = against_plurality(x, c, ranks, classes)
    values[3:] = cross_entropy(x, c), js_divergence(x, c)
    return values, reasons


def _shared(c: Int64Array, x: Codes, *beside: Int64Array) -> tuple[Int64Array, ...]:
    shared = (x >= 0) & (c.sum(axis=1) >= 1)
    if not shared.any():
        raise NotEstimableError(NoValue.NO_ITEM_WITH_BOTH())
    return tuple(np.asarray(array)[shared] for array in (c, x, *beside))
