"""Counts by item and label, and when a value can be estimated."""

from __future__ import annotations

import numpy as np

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int64Array
from grasp_core.model.remarks.remark import Remark


class NotEstimableError(ValueError):
    """The data do not determine the statistic; `reason` says why."""

    def __init__(self, reason: Remark) -> None:
        super().__init__(str(reason))
        self.reason = reason


ITEMS_AT_A_TIME = 2**15
"""So that counting large data takes little memory beside the counts."""


def count(annotations: Annotations, raters: BoolArray) -> Int64Array:
    """Count the labels that some raters gave to every item.

    Parameters
    ----------
    annotations : Annotations
    raters : bool array, shape (J,)

    Returns
    -------
    int64 array, shape (I, K)
        c[i, k], the number of those raters who gave item i category k.
    """
    k, indptr = annotations.n_categories, annotations.indptr
    counts = np.empty((annotations.n_items, k), dtype=np.int64)
    for start in range(0, annotations.n_items, ITEMS_AT_A_TIME):
        stop = min(start + ITEMS_AT_A_TIME, annotations.n_items)
        here = slice(indptr[start], indptr[stop])
        item = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
        chosen = raters[annotations.rater[here]]
        cell = item[chosen] * k + annotations.category[here][chosen]
        counts[start:stop] = np.bincount(cell, minlength=(stop - start) * k).reshape(-1, k)
    return counts


def cross_entropy(p: FloatArray, q: FloatArray) -> FloatArray:
    """Cross-entropy of shares, in nats; with p twice, the entropy.

    Parameters
    ----------
    p, q : float arrays, shape (..., K)

    Returns
    -------
    float array, shape (...)
        - sum_k p_k ln q_k, a term being 0 where p_k is.
    """
    from scipy.special import xlogy  # takes a tenth of a second to load, and most commands need none of it

    found: FloatArray = -xlogy(p, q).sum(axis=-1)
    return found
