"""Five groups of two axes, and their outcomes from observed and shuffled values."""

from __future__ import annotations

import numpy as np

from grasp_core.analysis.cohesion.columns import Places, cohesion_tests, members, with_dsi
from grasp_core.analysis.cohesion.results import by_axis, by_group
from grasp_core.model.groups import Group, Grouping
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation.testing.deviations import Kept
from grasp_core.permutation.testing.outcomes import outcomes

GROUPS = tuple(
    Group(axes, values)
    for axes, choices in ((("gender",), ("Man", "Woman")), (("race",), ("Asian", "Black", "White")))
    for values in ((choice,) for choice in choices)
)
SPEC = AnalysisSpec(axes=(("gender",), ("race",)), permutations=300)
GAI = STATISTICS.index("gai")


def kept(observed: np.ndarray, null: np.ndarray, groups=GROUPS) -> Kept:
    """The values, laid out as they are tested."""
    of_axis = members(groups, SPEC)
    return Kept(with_dsi(observed, of_axis), with_dsi(null, of_axis))


def by_group_and_axis(observed: np.ndarray, null, spec: AnalysisSpec = SPEC, groups=GROUPS, reasons=None):
    """Every group's outcomes by statistic, and every axis's DSI."""
    columns = with_dsi(observed, members(groups, spec))
    found = outcomes(cohesion_tests(groups, spec), columns, null, reasons or {})
    return by_group(found, Places(len(groups)), spec), by_axis(
        found, groups, observed[:, GAI], spec, Places(len(groups))
    )


def dsi_p(grouping: Grouping, observed: np.ndarray, null: np.ndarray, spec: AnalysisSpec) -> float:
    """The p of the one axis's DSI; NaN where too few permutations had a GAI."""
    of_axis = members(grouping.groups, spec)
    values = Kept(with_dsi(observed, of_axis), with_dsi(null, of_axis))
    _, (dsi,) = by_group_and_axis(observed, values, spec, grouping.groups)
    p = dsi.outcome.p
    return np.nan if p is None else p
