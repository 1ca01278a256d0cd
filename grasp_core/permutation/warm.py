"""Compile the kernel before somebody waits for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grasp_core.annotations import Annotations, Axis, Raters
from grasp_core.groups import form_groups
from grasp_core.permutation import kernel
from grasp_core.permutation.design import build_design
from grasp_core.permutation.tally import Tally
from grasp_core.spec import AnalysisSpec


def warm() -> None:
    """Compile the kernel, or read the compiled code from its cache.

    Notes
    -----
    What few data need is compiled when they come: counts that 32 bits do not hold, from some ten thousand
    labels of an item on.
    """
    annotations = Annotations.from_codes(
        item=np.repeat(np.arange(2), 4),
        rater=np.tile(np.arange(4), 2),
        category=[0, 1, 1, 0, 1, 1, 0, 0],
        item_ids=["a", "b"],
        rater_ids=list("1234"),
        categories=["no", "yes"],
    )
    raters = Raters(annotations.rater_ids, {"axis": Axis.from_values(["x", "x", "y", "y"])})
    spec = AnalysisSpec(axes=(("axis",),))
    for dense, tables in ((True, None), (False, None), (None, False)):  # one way of adding up each
        grouping = form_groups(raters, spec.axes)
        design = build_design(annotations, raters, grouping, spec, dense=dense, tables=tables)
        kernel.observed(design)
        kernel.shuffled(design, 1, 0, 1)
    # Values beyond those that are kept are counted by compiled code too.
    tally = Tally(grouping.groups, np.ones((2, 7)), replace(spec, correction="max-t"), kept=1)
    tally.add(0, np.ones((2, 2, 7)))
