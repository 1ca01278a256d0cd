"""Axes that go together, of which one may stand behind what the other shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from grasp_core.annotations import Raters
from grasp_core.result import Association
from grasp_core.spec import LEVEL
from grasp_core.statistics.association import chance_of, corrected_v, cross_table

TOGETHER = 0.2
"""Bias-corrected Cramér's V from which two axes go together, if chance hardly makes it."""
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
    p : float or None
        How often independent axes go as far, times the pairs of axes that were looked at; None where V is
        below 0.2.
    """

    first: str
    second: str
    raters: int
    v: float | None
    p: float | None = None

    @property
    def together(self) -> bool:
        """Whether one may stand behind what the other shows."""
        return self.p is not None and self.p <= LEVEL

    @property
    def nearly_identical(self) -> bool:
        """Whether the two cannot be told apart."""
        return self.v is not None and self.v >= NEARLY_IDENTICAL


def overlaps(raters: Raters, names: Sequence[str] | None = None) -> tuple[Overlap, ...]:
    """Measure every pair of axes.

    Parameters
    ----------
    raters : Raters
    names : sequence of str, optional
        Axes; by default all.

    Raises
    ------
    KeyError
        If an axis is not in `raters`.
    """
    names = tuple(raters.axes) if names is None else tuple(names)
    pairs = list(combinations(names, 2))
    return tuple(_overlap(raters, first, second, len(pairs)) for first, second in pairs)


def associations(raters: Raters, names: Sequence[str]) -> tuple[Association, ...]:
    """Pairs of these axes that go together, the closest first."""
    found = [one for one in overlaps(raters, names) if one.together]
    return tuple(
        Association(one.first, one.second, one.v or 0.0, one.p)
        for one in sorted(found, key=lambda one: -(one.v or 0.0))
    )


def _overlap(raters: Raters, first: str, second: str, pairs: int) -> Overlap:
    table = cross_table(raters.axes[first], raters.axes[second])
    v = corrected_v(table)
    p = None if v is None or v < TOGETHER else min(1.0, pairs * chance_of(table))
    return Overlap(first, second, int(table.sum()), v, p)
