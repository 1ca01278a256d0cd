"""Intervals of what is said of two groups."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grasp_core.analysis import intervals as of_groups
from grasp_core.analysis.cohesion import label_use
from grasp_core.analysis.cohesion.columns import LABELS, Places, group_columns
from grasp_core.analysis.cohesion.results import with_interval
from grasp_core.analysis.intervals import FEWEST_RATERS, interval_of_two
from grasp_core.analysis.pairs.columns import OF_BOTH, TwoGroups, pair_columns, place_of
from grasp_core.model.annotations import FloatArray
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec


def with_intervals(
    found: Mapping[str, Outcome],
    use: LabelUse,
    pair: TwoGroups,
    analysis: AnalysisSpec,
    *,
    by_shares: bool,
) -> tuple[dict[str, Outcome], LabelUse]:
    """The outcomes and label use of a pair with their intervals, or with why they have none."""
    inside, outside = pair.grouping.n_raters.tolist()
    ends = _ends(pair, analysis, by_shares=by_shares)
    target = analysis.interval
    outcomes = dict(found)
    for name, outcome in found.items():
        if outcome.value is not None:
            of_one = ends if isinstance(ends, Remark) else ends[place_of(name)]
            outcomes[name] = with_interval(outcome, of_one, target, inside, outside)
    of_first = ends if isinstance(ends, Remark) else ends[: -len(OF_BOTH)]
    return outcomes, label_use.with_intervals(use, of_first, target, inside, outside)


def _ends(pair: TwoGroups, analysis: AnalysisSpec, *, by_shares: bool) -> FloatArray | Remark:
    """Lower and upper ends of what :func:`pair_columns` has of this pair, or why there are none."""
    too_large = of_groups.too_large(pair.questions, analysis)
    if too_large is not None:
        return too_large
    if pair.grouping.n_raters.min() < FEWEST_RATERS:
        return np.full((LABELS + pair.n_labels + len(OF_BOTH), 2), np.nan)
    return interval_of_two(
        pair.questions,
        pair.raters,
        pair.grouping,
        analysis,
        lambda both: pair_columns(group_columns(both, analysis, by_shares)),
        (*Places(1, pair.n_labels).names, *OF_BOTH),
    )
