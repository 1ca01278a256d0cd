"""Results of cohesion, by group and by axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.groups import Group
from grasp_core.intervals.of_groups import FEWEST_RATERS
from grasp_core.outcome import Interval, Outcome
from grasp_core.panels.cohesion.columns import column, dsi_column, members
from grasp_core.remarks.reasons import NoInterval, NoValue
from grasp_core.remarks.remark import Remark
from grasp_core.result import DsiResult
from grasp_core.spec import STATISTICS, AnalysisSpec, IntervalTarget


def by_group(found: Mapping[int, Outcome], n_groups: int, spec: AnalysisSpec) -> list[dict[str, Outcome]]:
    """The chosen statistics' outcomes of each group, by name."""
    return [
        {name: found[column(g, s)] for s, name in enumerate(STATISTICS) if name in spec.statistics}
        for g in range(n_groups)
    ]


def with_interval(
    outcome: Outcome, ends: FloatArray | Remark, target: IntervalTarget, inside: int, outside: int | None
) -> Outcome:
    """An outcome with its interval, or with why it has none.

    Parameters
    ----------
    outcome : Outcome
        With a value.
    ends : float64 array, shape (2,), or Remark
        NaN where there is none; or why no value of the run has one.
    target : {"both", "raters", "items"}
    inside : int
        Raters of the group.
    outside : int, optional
        Those outside it, where the statistic takes their labels too.
    """
    if isinstance(ends, Remark):
        reason = ends
    elif inside < FEWEST_RATERS:
        reason = NoInterval.FEW_RATERS_INSIDE(raters=inside, least=FEWEST_RATERS)
    elif outside is not None and outside < FEWEST_RATERS:
        reason = NoInterval.FEW_RATERS_OUTSIDE(raters=outside, least=FEWEST_RATERS)
    elif np.isnan(ends).any():
        reason = NoInterval.NO_VALUE_WITHOUT_ONE()
    else:
        low, high = ends.tolist()
        return replace(outcome, interval=Interval(low, high, target))
    return replace(outcome, no_interval=reason)


def by_axis(
    found: Mapping[int, Outcome], groups: Sequence[Group], gai: FloatArray, spec: AnalysisSpec
) -> tuple[DsiResult, ...]:
    """Each axis's largest GAI, and the test of its groups' largest studentised GAI.

    Parameters
    ----------
    found : mapping from column to Outcome
    groups : sequence of Group, length G
    gai : float array, shape (G,)
        As observed.
    spec : AnalysisSpec

    Returns
    -------
    tuple of DsiResult, one per axis set of the spec
        The attaining group's own p is the paper's test.
    """
    results: list[DsiResult] = []
    for axis, of_axis in enumerate(members(groups, spec)):
        axes = spec.axes[axis]
        if np.isnan(gai[of_axis]).all():
            missing = Outcome(None, reason=NoValue.NO_GROUP_WITH_GAI())
            results.append(DsiResult(axes, None, missing, None, "none", "studentised"))
            continue
        largest = of_axis[int(np.nanargmax(gai[of_axis]))]
        own = found.get(column(largest, STATISTICS.index("gai")), Outcome(None))
        outcome = replace(
            found[dsi_column(len(groups), axis)], interval=own.interval, no_interval=own.no_interval
        )
        results.append(DsiResult(axes, groups[largest], outcome, own.p, own.significance, "studentised"))
    return tuple(results)
