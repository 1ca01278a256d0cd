"""Axes that say nearly the same of the raters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from grasp_core.annotations import Raters
from grasp_core.statistics.association import corrected_v, cross_table

NEARLY_IDENTICAL = 0.8
"""Bias-corrected Cramér's V from which two axes count as nearly identical."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """How closely two axes go together.

    Parameters
    ----------
    first, second : str
    raters : int
        Known on both.
    v : float or None
        Bias-corrected Cramér's V, 0 to 1; None where an axis has one value only among these raters, or
        there are too few of them.
    """

    first: str
    second: str
    raters: int
    v: float | None

    @property
    def nearly_identical(self) -> bool:
        """Whether the two cannot be told apart."""
        return self.v is not None and self.v >= NEARLY_IDENTICAL


def overlaps(raters: Raters) -> tuple[Overlap, ...]:
    """Measure every pair of axes."""
    return tuple(_overlap(raters, first, second) for first, second in combinations(raters.axes, 2))


def _overlap(raters: Raters, first: str, second: str) -> Overlap:
    table = cross_table(raters.axes[first], raters.axes[second])
    return Overlap(first, second, int(table.sum()), corrected_v(table))
