"""Later stages of a run: panels that are computed once its groups are done, one after the other.

What they find is put into the groups' result. They have no checkpoints: after a restart they are computed
again. Another stage is a module with its :class:`~grasp_core.panels.panel.LaterPanel`, a function that gives
a :class:`~grasp_core.panels.panel.Later`, and its place in :data:`STAGES`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from grasp_core.assignment import Unequal, unequal_axes
from grasp_core.engine.run import Prepared
from grasp_core.groups import Grouping
from grasp_core.io.dataset.load import Dataset
from grasp_core.panels.given import given_of
from grasp_core.panels.pairs.panel import pairs_of
from grasp_core.panels.panel import Later
from grasp_core.panels.slices import slices_of
from grasp_core.spec import AnalysisSpec

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
