"""Intervals of what is said of two groups."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.intervals import of_groups
from grasp_core.intervals.of_groups import FEWEST_RATERS
from grasp_core.intervals.of_pairs import interval_of_two
from grasp_core.outcome import Outcome
from grasp_core.panels.cohesion.results import with_interval
from grasp_core.panels.pairs.columns import names_of, of_two
from grasp_core.panels.pairs.sides import TwoGroups
from grasp_core.remarks.remark import Remark
from grasp_core.spec import AnalysisSpec


def with_intervals(
    found: Mapping[str, Outcome], pair: TwoGroups, analysis: AnalysisSpec
) -> dict[str, Outcome]:
    """The outcomes of a pair with their intervals, or with why they have none."""
    inside, outside = pair.grouping.n_raters.tolist()
    ends = _ends(pair, analysis, inside, outside)
    return {
        name: outcome
        if outcome.value is None
        else with_interval(
            outcome, ends if isinstance(ends, Remark) else ends[place], analysis.interval, inside, outside
        )
        for place, (name, outcome) in enumerate(found.items())
    }


def _ends(pair: TwoGroups, analysis: AnalysisSpec, inside: int, outside: int) -> FloatArray | Remark:
    """Lower and upper ends, shape (T, 2), or why there are none."""
    too_large = of_groups.too_large(pair.questions, analysis)
    if too_large is not None:
        return too_large
    if min(inside, outside) < FEWEST_RATERS:
        return np.full((len(names_of(analysis)), 2), np.nan)
    return interval_of_two(
        pair.questions, pair.raters, pair.grouping, analysis, lambda both: of_two(both, analysis)
    )
