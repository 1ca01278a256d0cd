"""Later stages of a run: panels that are computed once its groups are done, one after the other.

What they find is put into the groups' result. They have no checkpoints: after a restart they are computed
again. Another stage is a module with its :class:`~grasp_core.panels.panel.LaterPanel` and a line in
:data:`STAGES`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from grasp_core.assignment import unequal_axes
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.run import Prepared
from grasp_core.engine.watching import Watcher
from grasp_core.groups import AxisSet, Grouping
from grasp_core.io.dataset.load import Dataset
from grasp_core.panels.given.panel import given_of, not_given
from grasp_core.panels.pairs.panel import not_compared, pairs_of
from grasp_core.panels.panel import LaterPanel
from grasp_core.panels.slices.panel import not_sliced, slices_of
from grasp_core.remarks.remark import Remark
from grasp_core.result import Result
from grasp_core.spec import AnalysisSpec


class Stage(NamedTuple):
    """A later stage: its panels, and why some of what was asked is not computed."""

    panels: Callable[[Dataset, Grouping, AnalysisSpec, Collection[AxisSet]], Iterator[LaterPanel]]
    left_out: Callable[[Dataset, Grouping, AnalysisSpec], tuple[Remark, ...]]


STAGES = (Stage(pairs_of, not_compared), Stage(slices_of, not_sliced), Stage(given_of, not_given))


def later_panels(prepared: Prepared) -> Iterator[LaterPanel]:
    """The panels of all stages that were asked; each is made when the one before is done."""
    asked = prepared.dataset, prepared.grouping, prepared.spec.analysis, unequal_axes(prepared.assignment)
    for stage in STAGES:
        yield from stage.panels(*asked)


def left_out(prepared: Prepared) -> tuple[Remark, ...]:
    """What was asked of later stages and is not computed."""
    asked = prepared.dataset, prepared.grouping, prepared.spec.analysis
    return tuple(remark for stage in STAGES for remark in stage.left_out(*asked))


class WithinStage(Watcher):
    """Watches a stage for the watcher of its run.

    Parameters
    ----------
    watcher : Watcher
    panel : LaterPanel
    """

    def __init__(self, watcher: Watcher, panel: LaterPanel) -> None:
        self._watcher, self._of = watcher, panel.name

    @property
    def side_by_side(self) -> int:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        return self._watcher.side_by_side

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        self._watcher.check(replace(progress, of=self._of))

    def found(self, provisional: Result) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        self._watcher.found(replace(provisional, later=self._of))
