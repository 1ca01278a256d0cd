"""Levels of measurement that labels ask for: numbers in an order are more than names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.annotations import FloatArray, number_of
from grasp_core.spec import Level
from grasp_core.statistics.distance import possible_levels

_MOST_STEPS = 11
"""A scale of more steps, such as a slider's, is rather measured than ranked."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Levels that suit the labels better than nominal.

    Parameters
    ----------
    levels : tuple of levels
        The best first.
    reason : str
        What the labels are and what that means, as a sentence without its full stop.
    """

    levels: tuple[Level, ...]
    reason: str


def proposed_levels(categories: Sequence[str]) -> Proposal | None:
    """Ordinal or interval where the labels are numbers of one scale; None for names and for codes.

    Parameters
    ----------
    categories : sequence of str, length K
        In declared order.

    Notes
    -----
    Numbers are of one scale if they lie close together or are many. Few numbers far apart, such as 1, 2 and
    99, may be codes. Of two labels every level says the same.
    """
    values = np.array([number_of(label) for label in categories], dtype=np.float64)
    if values.size < 3 or not np.isfinite(values).all() or "interval" not in possible_levels(categories):
        return None
    if not _one_scale(np.sort(values)):
        return None
    steps = np.diff(values)
    ranked = bool((steps > 0).all() or (steps < 0).all())
    few = values.size <= _MOST_STEPS
    levels: tuple[Level, ...] = ("ordinal", "interval") if few else ("interval", "ordinal")
    levels = levels if ranked else ("interval",)
    return Proposal(levels, _reason(np.sort(values), levels))


def _one_scale(values: FloatArray) -> bool:
    """Whether ascending numbers are close together, at equal distances, or many."""
    steps = np.diff(values)
    even = bool(np.allclose(steps, steps[0]))
    return even or values.size > _MOST_STEPS or values[-1] - values[0] < _MOST_STEPS


def _reason(values: FloatArray, levels: Sequence[Level]) -> str:
    first, second, last = (f"{value:g}" for value in (values[0], values[1], values[-1]))
    return (
        f"labels are the numbers {first} to {last}: {' or '.join(levels)} takes their order into account; as "
        f"nominal, {first} and {last} differ no more than {first} and {second}"
    )
