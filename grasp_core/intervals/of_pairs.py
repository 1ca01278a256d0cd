"""Intervals of what two groups differ in: of their difference, not of each by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from grasp_core.annotations import Annotations, FloatArray, Raters
from grasp_core.groups import Grouping
from grasp_core.intervals.deletions import Sides, answers_of, spreads
from grasp_core.intervals.of_groups import lay_out
from grasp_core.intervals.scales import Scales
from grasp_core.permutation import questions as of_questions
from grasp_core.spec import AnalysisSpec


def interval_of_two(
    questions: Sequence[Annotations],
    raters: Raters,
    grouping: Grouping,
    analysis: AnalysisSpec,
    statistics: Callable[[FloatArray], FloatArray],
    names: Sequence[str],
) -> FloatArray:
    """95 % intervals as :func:`~grasp_core.intervals.of_groups.intervals` of what needs both groups.

    Each rater, item and annotation is left out of both groups' statistics at once.

    Parameters
    ----------
    questions : sequence of Annotations
        Over the same items and raters.
    raters : Raters
    grouping : Grouping
        Of two groups, each the other's complement.
    analysis : AnalysisSpec
    statistics : callable
        From the kernel's statistics of both, shape (N, 2, 6), to those that get an interval, (N, T).
    names : sequence of str, length T
        What these are, see :data:`~grasp_core.intervals.scales.RANGES`.

    Returns
    -------
    float64 array, shape (T, 2)
        Lower and upper end; NaN where there is none.
    """
    design, scales = lay_out(questions, raters, grouping, analysis), Scales.of(names)
    designs = design.designs
    sides = Sides(grouping.member[0], grouping.member[1])
    of_a = [answers_of(one, of_one, sides) for one, of_one in zip(questions, designs, strict=True)]
    of_b = [one.seen_from_the_others() for one in of_a]

    def of_sums(sums: FloatArray) -> FloatArray:
        both = [of_questions.components(design, half) for half in np.split(sums, 2, axis=-1)]
        return scales.with_scaled(
            statistics(np.stack([of_questions.together(half) for half in both], axis=-2))
        )

    found = spreads([*of_a, *of_b], sides, of_sums)
    return scales.ends(found.interval(analysis.interval), found.group.whole[: len(names)])
