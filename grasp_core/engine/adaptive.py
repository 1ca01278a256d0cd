"""Runs that stop once their marks are settled: in stages, each over the groups that still need it.

What is decided after a stage depends on its permutations alone, all of which have come by then: neither
workers nor blocks change how many there are in the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray
from grasp_core.engine.run import Prepared
from grasp_core.groups import Grouping
from grasp_core.permutation import questions
from grasp_core.permutation.columns import dsi_column
from grasp_core.permutation.questions import Layout
from grasp_core.permutation.settled import RISK, looks, still_needed, unsettled
from grasp_core.permutation.tally import Tally
from grasp_core.result import Stopping, Undecided
from grasp_core.spec import STATISTICS, AnalysisSpec


def stages(analysis: AnalysisSpec) -> list[int]:
    """Numbers of permutations after which a run may stop; a fixed one has but one stage."""
    return looks(analysis.permutations) if analysis.adaptive else [analysis.permutations]


def settle(tally: Tally, prepared: Prepared) -> None:
    """After a stage: let the groups stop whose marks are settled."""
    groups, analysis = prepared.grouping.groups, prepared.spec.analysis
    if analysis.adaptive:
        found = unsettled(groups, prepared.observed, tally.null, analysis)
        tally.active = tally.active & still_needed(groups, found, analysis)


def stopping(tally: Tally, prepared: Prepared) -> Stopping | None:
    """How an adaptive run ended."""
    groups, analysis = prepared.grouping.groups, prepared.spec.analysis
    if not analysis.adaptive:
        return None
    found = unsettled(groups, prepared.observed, tally.null, analysis, final=True)
    first_dsi = dsi_column(len(groups), 0)
    marks = []
    for column, corrected in found:
        if column >= first_dsi:
            marks.append(Undecided(analysis.axes[column - first_dsi], None, "dsi", corrected))
        else:
            group = groups[column // len(STATISTICS)]
            marks.append(Undecided(group.axes, group, STATISTICS[column % len(STATISTICS)], corrected))
    return Stopping(tally.permutations, RISK, tuple(marks))


def narrowed(prepared: Prepared, active: BoolArray) -> Layout:
    """What a worker needs to compute permutations of some of the groups."""
    if active.all():
        return prepared.design
    some = some_groups(prepared.grouping, np.flatnonzero(active).tolist())
    dataset = prepared.dataset
    return questions.lay_out(dataset.questions, dataset.raters, some, prepared.spec.analysis)


def some_groups(whole: Grouping, chosen: Sequence[int]) -> Grouping:
    """Some of the groups, each with its own complement."""
    return Grouping(
        tuple(whole.groups[g] for g in chosen), whole.member[chosen], whole.known, whole.known_of[chosen]
    )


def widened(values: FloatArray, active: BoolArray) -> FloatArray:
    """Statistics of the active groups, shape (b, A, 6), among all groups; NaN for those that have stopped."""
    if active.all():
        return values
    wide = np.full((len(values), active.size, values.shape[2]), np.nan)
    wide[:, active] = values
    return wide
