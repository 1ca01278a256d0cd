"""Statistics of one question, or of several that are answered about the same items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from grasp_core.remarks.remark import Remark
from grasp_core.statistics.estimable import NotEstimableError

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
