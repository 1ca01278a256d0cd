"""Compile the kernel before somebody waits for it."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import Annotations, Axis, Raters
from grasp_core.groups import form_groups
from grasp_core.permutation import kernel
from grasp_core.permutation.design import build_design
from grasp_core.spec import AnalysisSpec


def warm() -> None:
    """Compile the kernel, or read the compiled code from its cache."""
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
    design = build_design(annotations, raters, form_groups(raters, spec.axes), spec)
    kernel.observed(design)
    kernel.shuffled(design, 1, 0, 1)
