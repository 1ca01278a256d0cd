"""Results of cohesion, by group and by axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.groups import Group
from grasp_core.panels.cohesion.columns import column, dsi_column, members
from grasp_core.remarks.reasons import NoValue
from grasp_core.result import DsiResult, Outcome
from grasp_core.spec import STATISTICS, AnalysisSpec


def by_group(found: Mapping[int, Outcome], n_groups: int, spec: AnalysisSpec) -> list[dict[str, Outcome]]:
    """The chosen statistics' outcomes of each group, by name."""
    return [
        {name: found[column(g, s)] for s, name in enumerate(STATISTICS) if name in spec.statistics}
        for g in range(n_groups)
    ]


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
        outcome = found[dsi_column(len(groups), axis)]
        results.append(DsiResult(axes, groups[largest], outcome, own.p, own.significance, "studentised"))
    return tuple(results)
