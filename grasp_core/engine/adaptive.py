"""Stages of permutations, and later panels."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from grasp_core.analysis.pairs import pairs_of
from grasp_core.analysis.panel import Later, LaterPanel, Panel, RunPanel
from grasp_core.analysis.stages import given_of, slices_of
from grasp_core.engine.run import Prepared
from grasp_core.model.groups import Grouping
from grasp_core.model.outcome import Unequal, unequal_axes
from grasp_core.model.result import Stopping
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.testing.outcomes import RISK, looks, still_needed, unsettled
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset


def stages(analysis: AnalysisSpec) -> list[int]:
    """Numbers of permutations after which a run may stop; a fixed one has but one stage."""
    return looks(analysis.permutations) if analysis.adaptive else [analysis.permutations]


def settle(
    tally: Tally, panel: Panel, analysis: AnalysisSpec, together: Callable[[Tally], bool] = lambda _: False
) -> None:
    """After a stage: let the units stop, such as groups, whose marks are settled.

    None stops while `together` says that what is told of all of them is not.
    """
    if analysis.adaptive and not together(tally):
        found = unsettled(panel.tests, panel.observed, tally.null, analysis.permutations)
        tally.active = tally.active & still_needed(panel.tests, found)


def stopping(tally: Tally, panel: RunPanel | LaterPanel, analysis: AnalysisSpec) -> Stopping | None:
    """How an adaptive run ended, as far as a panel of it goes."""
    if not analysis.adaptive:
        return None
    found = unsettled(panel.tests, panel.observed, tally.null, analysis.permutations, final=True)
    marks = (panel.undecided(column, corrected=corrected) for column, corrected in found)
    return Stopping(tally.permutations, RISK, tuple(marks))


def together(first: Stopping | None, then: Stopping | None) -> Stopping | None:
    """How a run ended that had several panels; each of a fixed one is None."""
    if first is None or then is None:
        return first
    most = max(first.permutations, then.permutations)
    return replace(first, permutations=most, undecided=(*first.undecided, *then.undecided))


Stage = Callable[[Dataset, Grouping, AnalysisSpec, Unequal], Later]
"""Gives a later stage of a run."""

STAGES: tuple[Stage, ...] = (pairs_of, slices_of, given_of)


def later_stages(prepared: Prepared) -> Later:
    """The panels of all stages that were asked, and what of it is not computed."""
    asked = prepared.dataset, prepared.grouping, prepared.spec.analysis, unequal_axes(prepared.assignment)
    found = [stage(*asked) for stage in STAGES]
    return Later(
        itertools.chain.from_iterable(one.panels for one in found),
        tuple(remark for one in found for remark in one.left_out),
    )
