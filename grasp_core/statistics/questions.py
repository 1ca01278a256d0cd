"""Statistics over several questions, by their indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from grasp_core.model.annotations import FloatArray
from grasp_core.model.remarks.remark import Remark
from grasp_core.statistics.counts import NotEstimableError

ROUNDING = 1e-12


def gai(in_group: FloatArray, cross_group: FloatArray) -> FloatArray:
    """Group association index: in-group over cross-group cohesion.

    Parameters
    ----------
    in_group, cross_group : float arrays of one shape
        NaN where not estimable.

    Returns
    -------
    float array
        Baseline 1; NaN where the cross-group statistic is not positive or either is NaN.

    Notes
    -----
    A cross-group statistic up to 1e-12 is 0 but for rounding, and has no ratio either.
    """
    index = np.full(np.broadcast_shapes(in_group.shape, cross_group.shape), np.nan)
    np.divide(in_group, cross_group, out=index, where=cross_group > ROUNDING)
    return index


def dsi(gais: FloatArray) -> FloatArray:
    """Diversity sensitivity index: the largest GAI of an axis's groups.

    Parameters
    ----------
    gais : float array, shape (..., G)

    Returns
    -------
    float array, shape (...)
        NaN where no group's GAI is estimable.
    """
    largest = np.max(np.where(np.isnan(gais), -np.inf, gais), axis=-1, initial=-np.inf)
    return np.where(np.isneginf(largest), np.nan, largest)


T = TypeVar("T")


def agreement(disagreements: Sequence[Callable[[], tuple[float, float]]], one_label: Remark) -> float:
    """1 - D_o / D_e, both summed over the questions.

    With as many answers to every question this is the agreement of whole vectors of answers, their
    distance being the share of questions that two raters answer differently (normalised Hamming distance).

    Parameters
    ----------
    disagreements : sequence of callable
        D_o and D_e of each question; a question for which they are not estimable adds nothing.
    one_label : Remark
        The reason where D_e is 0.

    Raises
    ------
    NotEstimableError
        If no question is estimable, or D_e is 0.
    """
    found = _estimable(disagreements)
    observed, expected = sum(o for o, _ in found), sum(e for _, e in found)
    if expected == 0:
        raise NotEstimableError(one_label)
    return 1 - observed / expected


def average(statistics: Sequence[Callable[[], float]]) -> float:
    """Mean over the questions that have a value; raises :class:`NotEstimableError` where none has."""
    values = _estimable(statistics)
    return sum(values) / len(values)


def _estimable(computations: Sequence[Callable[[], T]]) -> list[T]:
    found: list[T] = []
    first: NotEstimableError | None = None
    for compute in computations:
        try:
            found.append(compute())
        except NotEstimableError as error:
            first = first or error
    if first is not None and not found:
        raise first
    return found
