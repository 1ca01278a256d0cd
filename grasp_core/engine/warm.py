"""Compile all kernels before somebody waits for them."""

import dataclasses
import subprocess
import sys

import numpy as np

from grasp_core.analysis.items import design as items
from grasp_core.analysis.items.outcomes import standards
from grasp_core.analysis.models import kernel
from grasp_core.analysis.rater_map import pair_disagreements
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import compiled, label_use
from grasp_core.permutation.design import MOST_PAIRED, build_design
from grasp_core.permutation.jit import CORE, KERNELS
from grasp_core.permutation.kernel.columns import add_rows
from grasp_core.permutation.kernel.profiles import Membership
from grasp_core.permutation.testing.p_values import Maximum
from grasp_core.permutation.testing.tally import Tally

_WARMING = """
import os, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
from grasp_core.engine.warm import warm
warm()
"""
"""A kernel that is half compiled when the input ends is compiled again by the process that needs it."""


def warm() -> None:
    """Compile the kernels of cohesion, models, items and the raters' map, the most needed ones first.

    Compiled code that is stored is read. Nothing else has to be compiled later, except for counts too large
    for 32 bits, from some ten thousand labels of an item on.
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
    _add_up(annotations, raters, grouping, spec)  # data in which everybody rated everything
    residuals = label_use.residuals_of([annotations], spec.level)
    if residuals is not None:
        label_use.observed(label_use.RaterTerms.of(residuals, Membership(raters, grouping, spec)))
    add_rows(np.zeros((1, 1)), *np.zeros((2, 1), np.int64), np.zeros((1, 1)))
    tally = Tally(np.ones(2), np.ones((2, 1), np.bool_), 2, [Maximum((0, 1))], kept=1, extremes=True)
    tally.add(0, np.ones((2, 2)))
    _add_up(annotations, raters, grouping, spec, tables=False)
    _add_up(annotations, raters, grouping, spec, dense=False)
    both = grouping.member[0], grouping.complement(0)
    laid = items.lay_out(annotations, raters, *both, spec)
    use, apart = laid.observed()
    moments = items.first(laid, apart, (0, 1))[0]
    of, none = np.zeros(use.size, np.int64), np.zeros((2, apart.size), np.bool_)
    items.second(laid, standards(moments, of, none, None, centred=False), apart, (0, 1))
    _add_up(many, raters, grouping, spec, dense=False)
    _add_up(many, raters, grouping, dataclasses.replace(spec, level="ordinal", ties="random"), dense=False)
    labels = np.zeros((1, annotations.n_items), np.int32)
    sides = kernel.build_design(
        annotations, raters, grouping, spec, labels, np.ones(annotations.n_categories, np.bool_)
    )
    kernel.observed(sides)
    kernel.shuffled(sides, 1, 0, 1)
    pair_disagreements([annotations], np.arange(annotations.n_raters), "nominal")


def warm_beside() -> subprocess.Popen[bytes] | None:
    """Compile in a process of the lowest priority that ends with this one; None if all is stored."""
    if all(kernel.is_kept for kernel in KERNELS):
        return None
    command = ("nice", "-n", "19", sys.executable, "-c", _WARMING)
    nothing = subprocess.DEVNULL
    return subprocess.Popen(  # noqa: S603  # no part of the command comes from users
        command, cwd=CORE.parent, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing
    )


def _add_up(
    annotations: Annotations,
    raters: Raters,
    grouping: Grouping,
    spec: AnalysisSpec,
    *,
    dense: bool | None = None,
    tables: bool | None = None,
) -> None:
    """Compile one way of adding up, of permutations first: a run that begins now compiles the rest first."""
    design = build_design(annotations, raters, grouping, spec, dense=dense, tables=tables)
    compiled.shuffled(design, 1, 0, 1)
    compiled.observed(design)
