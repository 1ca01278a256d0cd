"""Pairs of a run's axes that go together, of which one may stand behind what the other shows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from grasp_core.annotations import Raters
from grasp_core.result import Association
from grasp_core.statistics.association import corrected_v, cross_table

TOGETHER = 0.2
"""Bias-corrected Cramér's V from which two axes are told to go together."""


def associations(raters: Raters, names: Sequence[str]) -> tuple[Association, ...]:
    """Pairs of these axes with a Cramér's V of :data:`TOGETHER` or more, the closest first."""
    found = [
        Association(first, second, v)
        for first, second in combinations(names, 2)
        if (v := corrected_v(cross_table(raters.axes[first], raters.axes[second]))) is not None
        and v >= TOGETHER
    ]
    return tuple(sorted(found, key=lambda one: -one.v))
