"""Intervals of every group's statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from grasp_core.annotations import Annotations, FloatArray, Raters
from grasp_core.groups import Grouping
from grasp_core.intervals.deletions import Sides, answers_of, spreads
from grasp_core.intervals.scales import Scales
from grasp_core.permutation import questions as of_questions
from grasp_core.permutation.design import build_design
from grasp_core.permutation.questions import Questions
from grasp_core.remarks.reasons import NoInterval
from grasp_core.remarks.remark import Remark
from grasp_core.spec import AnalysisSpec

FEWEST_RATERS = 5
"""Groups of fewer raters have no interval: what they vary by cannot be told from so few."""
MOST_ORDERED = 64
"""Ordered labels up to which their distances, which depend on the marginals, are taken anew for each unit."""
MOST_COUNTS = 2**24
"""Items times labels, all of which are counted for a group at a time."""


def intervals(
    questions: Sequence[Annotations],
    raters: Raters,
    grouping: Grouping,
    analysis: AnalysisSpec,
    columns: Callable[[FloatArray, int], FloatArray],
    names: Sequence[str],
    fewest: int = FEWEST_RATERS,
) -> FloatArray:
    """95 % intervals by the delete-one jackknife over raters and items (docs/methods.md, "Intervals").

    Parameters
    ----------
    questions : sequence of Annotations
        Over the same items and raters.
    raters : Raters
    grouping : Grouping
    analysis : AnalysisSpec
    columns : callable
        From the kernel's values of a group, shape (N, V), and its place to what gets an interval, (N, T).
    names : sequence of str, length T
        What these are, see :data:`~grasp_core.intervals.scales.RANGES`.
    fewest : int
        Groups of fewer raters have no interval.

    Returns
    -------
    float64 array, shape (G, T, 2)
        Lower and upper end; NaN where there is none.
    """
    design, scales = lay_out(questions, raters, grouping, analysis), Scales.of(names)

    def of_sums(sums: FloatArray, g: int) -> FloatArray:
        return scales.with_scaled(columns(of_questions.together(of_questions.components(design, sums)), g))

    found = []
    for g, size in enumerate(grouping.n_raters):
        sides = Sides(grouping.member[g], grouping.complement(g))
        if size < fewest:
            found.append(np.full((len(names), 2), np.nan))
            continue
        designs = design.designs
        answers = [answers_of(one, of_one, sides) for one, of_one in zip(questions, designs, strict=True)]
        of_units = spreads(answers, sides, partial(of_sums, g=g))
        found.append(scales.ends(of_units.interval(analysis.interval), of_units.group.whole[: len(names)]))
    return np.stack(found)


def too_large(questions: Sequence[Annotations], analysis: AnalysisSpec) -> Remark | None:
    """Why no value of these data gets an interval, if that is so."""
    if analysis.level == "ordinal" and any(one.n_categories > MOST_ORDERED for one in questions):
        return NoInterval.MANY_ORDERED_LABELS(most=MOST_ORDERED)
    if any(one.n_items * one.n_categories > MOST_COUNTS for one in questions):
        return NoInterval.MANY_ITEMS_AND_LABELS(most=MOST_COUNTS)
    return None


def lay_out(
    questions: Sequence[Annotations], raters: Raters, grouping: Grouping, analysis: AnalysisSpec
) -> Questions:
    """Data with ties for every item and label, and sums from which any marginals give a disagreement."""
    designs = tuple(
        build_design(one, raters, grouping, analysis, dense=False, tables=False) for one in questions
    )
    return Questions(designs)
