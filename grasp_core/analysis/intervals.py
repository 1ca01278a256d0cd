"""Intervals of the statistics of groups and pairs, on the scale of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit, logit

from grasp_core.analysis._deletions import Sides, answers_of, spreads
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Raters
from grasp_core.model.groups import Grouping
from grasp_core.model.remarks.reasons import NoInterval
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.statistic import TABLE, Scale
from grasp_core.permutation import questions as of_questions
from grasp_core.permutation.design import build_design
from grasp_core.permutation.further import Further
from grasp_core.permutation.questions import Questions

CLOSEST: Mapping[Scale, float] = {"logit": 2.0, "log": 1.0}
"""A statistic closer to 0 than its interval's half width divided by so much has that interval as it is."""
_MOST = 700.0
"""Larger exponents have no power."""


_RANGES = {"gap_b": (-2.0, 2.0), "irr_difference": (-2.0, 2.0), "label": (-1.0, 1.0)}
"""The least and the largest value where it is no statistic of a group; others may have any."""


class Scales(NamedTuple):
    """Ranges of T statistics, which have a scale, shape (T,), and which of these L the logit, shape (L,)."""

    low: FloatArray
    high: FloatArray
    scaled: BoolArray
    by_logit: BoolArray

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Of statistics by name."""
        known = [TABLE.get(name) for name in names]
        ranges = [
            (one.low, one.high) if one else _RANGES.get(name, (-np.inf, np.inf))
            for name, one in zip(names, known, strict=True)
        ]
        scales = [one.scale if one else None for one in known]
        low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
        return cls(
            low,
            high,
            np.array([scale is not None for scale in scales], dtype=np.bool_),
            np.array([scale == "logit" for scale in scales if scale], dtype=np.bool_),
        )

    def with_scaled(self, values: FloatArray) -> FloatArray:
        """Statistics, shape (N, T), and behind them those with a scale on it; NaN where there is no such."""
        some = values[:, self.scaled]
        inside = (some > 0) & ((some < 1) | ~self.by_logit)
        of_some = np.where(inside, some, np.nan)
        on_scale = np.log(of_some)
        on_scale[:, self.by_logit] = logit(of_some[:, self.by_logit])
        return np.concatenate([values, on_scale], axis=1)

    def ends(self, found: FloatArray, whole: FloatArray) -> FloatArray:
        """Intervals of the statistics, shape (T, 2), from those of :meth:`with_scaled`, shape (T + L, 2).

        Where a label is rare, little agreement comes with a small variance, and the interval around it would
        be too narrow; so would that of a distance which few items make. So ends are those of the interval on
        the scale. An interval that holds 0 keeps its lower end, since chance has no place on the scale; one
        around hardly anything, or of a distance that may be 0, keeps both.
        """
        ends = found[: whole.size].copy()
        plain, on_scale = ends[self.scaled], found[whole.size :]
        closest = np.where(self.by_logit, CLOSEST["logit"], CLOSEST["log"])
        clear = closest * whole[self.scaled] >= (plain[:, 1] - plain[:, 0]) / 2
        used = clear & ~np.isnan(on_scale).any(axis=1)
        scaled = np.where(self.by_logit[:, None], expit(on_scale), np.exp(np.minimum(on_scale, _MOST)))
        low = np.where(plain[:, 0] > 0, scaled[:, 0], plain[:, 0])
        high = np.maximum(scaled[:, 1], plain[:, 1])
        ends[self.scaled] = np.where(used[:, None], np.stack([low, high], axis=1), plain)
        low, high = np.maximum(ends[:, 0], np.minimum(self.low, whole)), np.minimum(ends[:, 1], self.high)
        return np.stack([low, high], axis=1)


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
    lacking: Further | None = None,
) -> FloatArray:
    """95 % intervals by the delete-one jackknife over raters and items (docs/methods.md, "Intervals").

    `questions`: over the same items and raters.
    `columns`: from the kernel's values of a group, shape (N, V), and its place to what gets an interval, (N,
        T).
    `names`, length T: what these are, by which they have a range.
    `fewest`: groups of fewer raters have no interval.
    `lacking`: statistics that kernels lack.

    Returns shape (G, T, 2): lower and upper end; NaN where there is none.
    """
    design, scales = lay_out(questions, raters, grouping, analysis, lacking), Scales.of(names)

    def of_sums(sums: FloatArray, g: int) -> FloatArray:
        counted = of_questions.together(of_questions.components(design, sums), design.n_further)
        return scales.with_scaled(columns(counted, g))

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
    questions: Sequence[Annotations],
    raters: Raters,
    grouping: Grouping,
    analysis: AnalysisSpec,
    lacking: Further | None = None,
) -> Questions:
    """Data with ties for every item and label, and sums from which any marginals give a disagreement."""
    designs = tuple(
        build_design(one, raters, grouping, analysis, dense=False, tables=False, lacking=lacking)
        for one in questions
    )
    return Questions(designs)


def interval_of_two(
    questions: Sequence[Annotations],
    raters: Raters,
    grouping: Grouping,
    analysis: AnalysisSpec,
    statistics: Callable[[FloatArray], FloatArray],
    names: Sequence[str],
) -> FloatArray:
    """95 % intervals as :func:`~grasp_core.analysis.intervals.intervals` of what needs both groups.

    Each rater, item and annotation is left out of both groups' statistics at once.

    `questions`: over the same items and raters.
    `grouping`: of two groups, each the other's complement.
    `statistics`: from the kernel's statistics of both, shape (N, 2, 6), to those that get an interval, (N,
        T).
    `names`, length T: what these are, by which they have a range.

    Returns shape (T, 2): lower and upper end; NaN where there is none.
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
