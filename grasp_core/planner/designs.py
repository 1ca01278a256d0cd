"""Designs of a plan's range: its grid, and those of it that are simulated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from grasp_core.planner.surface import chance, items_needed
from grasp_core.planner.values import LINES, Fit, PlanSpec

STEPS = 12
MOST_SIMULATED = 60_000
"""Annotations of the largest design that is simulated; what lies beyond is told by the fitted form."""
_NEAR = 1.3
"""A line that passes this close beside the items of the grid is still one of its."""
Design = tuple[int, int]
"""Raters and items."""


def steps(ends: tuple[int, int]) -> tuple[int, ...]:
    """At most 12 whole numbers from end to end, in equal ratios."""
    return tuple(dict.fromkeys(int(value) for value in np.round(np.geomspace(*ends, STEPS))))


def rater_steps(spec: PlanSpec) -> tuple[int, ...]:
    """The numbers of raters of the grid."""
    return steps(spec.raters)


def spread_out(spec: PlanSpec, raters: Sequence[int], items: Sequence[int]) -> list[Design]:
    """The first designs: ends and middle of what can be simulated."""
    able = _able(spec, raters, items)
    if not able:
        return []
    few, many = raters[0], max(j for j, _ in able)
    picked = []
    for j in (few, raters[raters.index(many) // 2], many):
        of = [i for other, i in able if other == j]
        picked += [(j, of[0]), (j, of[-1])] if of else []
    return list(dict.fromkeys(picked))


def near_lines(
    fit: Fit, spec: PlanSpec, raters: Sequence[int], items: Sequence[int], along: int
) -> list[Design]:
    """Designs of the grid on lines of equal chance, so many along each; where none is, the nearest."""
    able = _able(spec, raters, items)
    found: list[Design] = []
    for line in LINES:
        on = _on_line(fit, spec, able, line)
        if not on:
            on = [min(able, key=lambda one: (abs(_at(fit, spec, one) - line), one))]
        chosen = np.unique(np.linspace(0, len(on) - 1, min(along, len(on))).round().astype(int))
        found += [on[place] for place in chosen]
    return list(dict.fromkeys(found))


def _able(spec: PlanSpec, raters: Sequence[int], items: Sequence[int]) -> list[Design]:
    designs = itertools.product(raters, items)
    return [(j, i) for j, i in designs if spec.annotations(j, i) <= MOST_SIMULATED]


def _on_line(fit: Fit, spec: PlanSpec, able: Sequence[Design], line: float) -> list[Design]:
    """For each number of raters the design nearest to the line, where the line passes its items."""
    found = []
    for j, of in itertools.groupby(able, key=lambda one: one[0]):
        items = [i for _, i in of]
        needed = items_needed(fit, spec, line, j)
        if items[0] / _NEAR <= needed <= items[-1] * _NEAR:
            found.append((j, min(items, key=lambda i: abs(np.log(i / needed)))))
    return found


def _at(fit: Fit, spec: PlanSpec, design: Design) -> float:
    return float(chance(fit, np.array(design[0]), np.array(spec.annotations(*design))))
