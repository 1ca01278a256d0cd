"""Results of cohesion, by group and by axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from grasp_core.analysis.cohesion.columns import GAI, Places, members
from grasp_core.analysis.intervals import FEWEST_RATERS
from grasp_core.model.annotations import FloatArray
from grasp_core.model.groups import Group
from grasp_core.model.outcome import Interval, Outcome
from grasp_core.model.remarks.reasons import NoInterval, NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DsiResult
from grasp_core.model.spec import AnalysisSpec, IntervalTarget


def by_group(found: Mapping[int, Outcome], places: Places, spec: AnalysisSpec) -> list[dict[str, Outcome]]:
    """The chosen statistics' outcomes of each group, by name."""
    at = places.statistics
    return [
        {name: found[places.column(g, at[name])] for name in spec.statistics} for g in range(places.n_groups)
    ]


def with_interval(
    outcome: Outcome, ends: FloatArray | Remark, target: IntervalTarget, inside: int, outside: int | None
) -> Outcome:
    """An outcome with its interval, or with why it has none.

    `outcome`: with a value.
    `ends`, shape (2,), or Remark: NaN where there is none; or why no value of the run has one.
    `inside`: raters of the group.
    `outside`: those outside it, where the statistic takes their labels too.
    """
    reason = no_interval(ends, inside, outside)
    if reason is not None or isinstance(ends, Remark):
        return replace(outcome, no_interval=reason)
    low, high = ends.tolist()
    return replace(outcome, interval=Interval(low, high, target))


def no_interval(ends: FloatArray | Remark, inside: int, outside: int | None) -> Remark | None:
    """Why values with these ends have no interval; see :func:`with_interval`."""
    if isinstance(ends, Remark):
        return ends
    if inside < FEWEST_RATERS:
        return NoInterval.FEW_RATERS_INSIDE(raters=inside, least=FEWEST_RATERS)
    if outside is not None and outside < FEWEST_RATERS:
        return NoInterval.FEW_RATERS_OUTSIDE(raters=outside, least=FEWEST_RATERS)
    return NoInterval.NO_VALUE_WITHOUT_ONE() if np.isnan(ends).any() else None


def by_axis(
    found: Mapping[int, Outcome],
    groups: Sequence[Group],
    gai: FloatArray,
    spec: AnalysisSpec,
    places: Places,
) -> tuple[DsiResult, ...]:
    """Each axis's largest GAI, and the test of its groups' largest studentised GAI.

    `groups`: length G.
    `gai`, shape (G,): as observed.

    Returns the attaining group's own p is the paper's test.
    """
    results: list[DsiResult] = []
    for axis, of_axis in enumerate(members(groups, spec)):
        axes = spec.axes[axis]
        if np.isnan(gai[of_axis]).all():
            missing = Outcome(None, reason=NoValue.NO_GROUP_WITH_GAI())
            results.append(DsiResult(axes, None, missing, None, "none", "studentised"))
            continue
        largest = of_axis[int(np.nanargmax(gai[of_axis]))]
        own = found.get(places.column(largest, GAI), Outcome(None))
        outcome = replace(found[places.dsi(axis)], interval=own.interval, no_interval=own.no_interval)
        results.append(DsiResult(axes, groups[largest], outcome, own.p, own.significance, "studentised"))
    return tuple(results)
