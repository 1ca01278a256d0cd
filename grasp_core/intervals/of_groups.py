"""Intervals of every group's statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from grasp_core.annotations import Annotations, FloatArray
from grasp_core.groups import Grouping
from grasp_core.intervals.deletions import Sides, answers_of, spreads
from grasp_core.permutation import questions as of_questions
from grasp_core.permutation.design import Design
from grasp_core.permutation.kernel.arguments import ORDINAL, distances_between
from grasp_core.permutation.questions import AnyDesign
from grasp_core.spec import IntervalTarget

FEWEST_RATERS = 5
"""Groups of fewer raters have no interval: what they vary by cannot be told from so few."""
MOST_ORDERED = 64
"""Ordered labels up to which their distances, which depend on the marginals, are taken anew for each unit."""


def intervals(
    questions: Sequence[Annotations],
    design: AnyDesign,
    grouping: Grouping,
    statistics: Callable[[FloatArray], FloatArray],
    target: IntervalTarget,
) -> FloatArray:
    """95 % intervals by the delete-one jackknife over raters and items (docs/methods.md, "Intervals").

    Parameters
    ----------
    questions : sequence of Annotations
        Over the same items and raters.
    design : Design or Questions
        Of these data.
    grouping : Grouping
    statistics : callable
        From the kernel's statistics, shape (N, 6), to those that get an interval, (N, T).
    target : {"both", "raters", "items"}

    Returns
    -------
    float64 array, shape (G, T, 2)
        Lower and upper end; NaN where there is none.
    """
    design = with_pairs(design)

    def of_sums(sums: FloatArray) -> FloatArray:
        return statistics(of_questions.together(of_questions.components(design, sums)))

    found = []
    for g, size in enumerate(grouping.n_raters):
        sides = Sides(grouping.member[g], grouping.complement(g))
        if size < FEWEST_RATERS:
            found.append(np.full((*statistics(np.empty((1, 6))).shape[1:], 2), np.nan))
            continue
        designs = of_questions.designs_of(design)
        answers = [answers_of(one, of_one, sides) for one, of_one in zip(questions, designs, strict=True)]
        found.append(spreads(answers, sides, of_sums).interval(target))
    return np.stack(found)


def too_many_labels(design: AnyDesign) -> bool:
    """Whether there are more ordered labels than intervals are computed for."""
    return any(
        one.distances.level == ORDINAL and one.n_categories > MOST_ORDERED
        for one in of_questions.designs_of(design)
    )


def with_pairs(design: AnyDesign) -> AnyDesign:
    """The same data with sums by pairs of ordered labels, from which any marginals give the disagreement."""
    if not isinstance(design, Design) or design.distances.level != ORDINAL:
        return design  # several questions are nominal
    distances = distances_between("ordinal", design.distances.values, paired=True)
    return replace(design, distances=distances)
