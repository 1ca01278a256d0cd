"""Runs that stop once their marks are settled: in stages, each over the units that still need it.

What is decided after a stage depends on its permutations alone, all of which have come by then: neither
workers nor blocks change how many there are in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grasp_core.panels.panel import LaterPanel, Panel, RunPanel
from grasp_core.permutation.nulls.tally import Tally
from grasp_core.permutation.testing.early_stopping import RISK, looks, still_needed, unsettled
from grasp_core.result import Stopping
from grasp_core.spec import AnalysisSpec


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
