"""Compile all kernels before somebody waits for them."""

from __future__ import annotations

import dataclasses

import numpy as np

from grasp_core.annotations import Annotations, Axis, Raters
from grasp_core.groups import form_groups
from grasp_core.panels.items import design as items
from grasp_core.panels.items.outcomes import standards
from grasp_core.panels.models import kernel
from grasp_core.permutation import compiled
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.kernel.label_use import OfRaters
from grasp_core.permutation.kernel.profiles import Membership
from grasp_core.permutation.nulls.deviations import Maximum
from grasp_core.permutation.nulls.tally import Tally
from grasp_core.permutation.ways import MOST_PAIRED
from grasp_core.spec import AnalysisSpec, Level


def warm() -> None:
    """Compile the kernels of cohesion, models and items, or read the compiled code from its cache.

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
    grouping = form_groups(raters, spec.axes)
    many = dataclasses.replace(annotations, categories=tuple(f"label {k}" for k in range(MOST_PAIRED + 1)))
    ways: tuple[tuple[Annotations, Level, bool | None, bool | None], ...] = (
        (annotations, "nominal", True, None),
        (annotations, "nominal", False, None),
        (annotations, "nominal", None, False),
        (many, "nominal", False, None),
        (many, "ordinal", False, None),
    )
    for data, level, dense, tables in ways:  # one way of adding up each
        of_level = dataclasses.replace(spec, level=level)
        design = build_design(data, raters, grouping, of_level, dense=dense, tables=tables)
        compiled.observed(design)
        compiled.shuffled(design, 1, 0, 1)
        if design.of_raters is not None:
            _add_up_raters(design, Membership(raters, grouping, spec), design.of_raters)
    labels = np.zeros((1, annotations.n_items), np.int32)
    sides = kernel.build_design(annotations, raters, grouping, spec, labels)
    kernel.observed(sides)
    kernel.shuffled(sides, 1, 0, 1)
    both = grouping.member[0], grouping.complement(0)
    laid = items.lay_out(annotations, raters, *both, spec)
    use, apart = laid.observed()
    moments = items.first(items.FirstTask(laid, 0, 1, apart)).moments
    of, none = np.zeros(use.size, np.int64), np.zeros((2, apart.size), np.bool_)
    items.second(items.SecondTask(laid, 0, 1, standards(moments, of, none), apart))
    # Values beyond those that are kept are counted by compiled code too.
    tally = Tally(np.ones(2), np.ones((2, 1), np.bool_), 2, [Maximum((0, 1))], kept=1)
    tally.add(0, np.ones((2, 2)))


def _add_up_raters(design: Design, membership: Membership, of_raters: OfRaters) -> None:
    for array in of_raters:
        array.flags.writeable = False  # as what data in parts read again is
    compiled.sums_of_raters(design, membership, of_raters, compiled.draw(membership, 1, 0, 1))
