"""Data sets of some of the items of another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grasp_core.annotations import Annotations, BoolArray
from grasp_core.io.dataset.load import Dataset


def only_items(dataset: Dataset, chosen: BoolArray) -> Dataset:
    """The data set as if its files held the chosen items alone: raters without annotations are gone.

    Parameters
    ----------
    dataset : Dataset
    chosen : bool array, shape (I,)

    Returns
    -------
    Dataset
        With the labels, the account and the order of raters of the whole one.
    """
    counted = np.zeros(dataset.annotations.n_raters, np.bool_)
    for one in dataset.questions:
        counted[one.rater[chosen[one.item]]] = True
    first, *further = (_only(one, chosen, counted) for one in dataset.questions)
    raters = dataset.raters.some(counted)
    found = replace(
        dataset, annotations=first, raters=raters, further=tuple(further), models=(), attributes={}
    )
    return replace(found, raters=replace(raters, workload=found.annotations_of))


def _only(one: Annotations, chosen: BoolArray, counted: BoolArray) -> Annotations:
    kept = chosen[one.item]
    return Annotations.from_codes(
        item=(np.cumsum(chosen) - 1)[one.item[kept]],
        rater=(np.cumsum(counted) - 1)[one.rater[kept]],
        category=one.category[kept],
        item_ids=[one.item_ids[i] for i in np.flatnonzero(chosen)],
        rater_ids=[one.rater_ids[j] for j in np.flatnonzero(counted)],
        categories=one.categories,
    )
