"""Counting annotations per item and category."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import Annotations, BoolArray, OffsetArray


def count(annotations: Annotations, raters: BoolArray) -> OffsetArray:
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
    chosen = raters[annotations.rater]
    cell = annotations.item[chosen].astype(np.int64) * annotations.n_categories
    cell += annotations.category[chosen]
    size = annotations.n_items * annotations.n_categories
    counts: OffsetArray = np.bincount(cell, minlength=size).reshape(-1, annotations.n_categories)
    return counts


def surprise(share: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """-ln of a share; 0 where the share is 0, because it then has no weight."""
    return -np.log(share, out=np.zeros_like(share), where=share > 0)
