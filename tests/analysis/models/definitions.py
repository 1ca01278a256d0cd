"""Agreement of a model with a group: the definitions of docs/models.md, with which the kernel is compared."""

import numpy as np

from grasp_core.analysis.models.statistics import plurality, plurality_macro_f1
from grasp_core.model.annotations import BoolArray, Codes, FloatArray, Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import SIDES
from grasp_core.statistics import cross_group
from grasp_core.statistics import items as counts
from grasp_core.statistics.items import NotEstimableError


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


def against_plurality(x: Codes, c: Int64Array, ranks: Int64Array, classes: BoolArray) -> tuple[float, float]:
    """Return macro-F1 of labels (I,) against the plurality of counts (I, K), and the share that agrees.

    Raises NotEstimableError if no item has labels of both.
    """
    f1 = plurality_macro_f1(x, c, ranks, classes)
    c, x, ranks = _shared(c, x, ranks)
    return f1, float((x == plurality(c, ranks)).mean())


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
