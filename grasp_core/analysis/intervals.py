"""Intervals of group and pair statistics: a jackknife over raters and items, on each statistic's scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from grasp_core.model.annotations import (
    Annotations,
    BoolArray,
    Codes,
    FloatArray,
    Int64Array,
    Raters,
    by_items,
    tallied,
)
from grasp_core.model.groups import Grouping
from grasp_core.model.remarks.reasons import NoInterval
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, IntervalTarget
from grasp_core.model.statistic import TABLE, Scale
from grasp_core.permutation import questions as of_questions
from grasp_core.permutation.design import Design
from grasp_core.permutation.kernel.columns import add_rows, contributions
from grasp_core.permutation.kernel.item_terms import Columns, CountArray, values_in_columns
from grasp_core.permutation.uncompiled import Further
from grasp_core.statistics.items import count

# Statistics without each rater, item and annotation in turn

COVERAGE = 0.95


@dataclass(slots=True)
class Jackknife:
    """First four moments of statistics with one unit left out at a time.

    `whole`, shape (T,): the statistics with all units.
    `powers`, shape (4, T): sums of the first four powers of the distances from `whole`; NaN where a statistic
        is not estimable without some unit.
    """

    whole: FloatArray
    n: float
    powers: FloatArray

    @classmethod
    def around(cls, whole: FloatArray) -> Self:
        """Start without any unit."""
        return cls(whole, 0.0, np.zeros((4, *whole.shape)))

    def add(self, without: FloatArray, times: FloatArray | None = None) -> None:
        """Add statistics without each of U units, shape (U, T); each may stand for several, shape (U,)."""
        weight = np.ones(len(without)) if times is None else times
        distance = without - self.whole
        self.n += float(weight.sum())
        power = np.ones_like(distance)
        for k in range(4):
            power *= distance
            self.powers[k] += weight @ power

    @property
    def variance(self) -> FloatArray:
        """Variance of the delete-one jackknife, shape (T,); 0 with fewer than two units."""
        if self.n < 2:
            return np.zeros(self.whole.shape)
        sums, squares, *_ = self.powers
        return np.asarray((self.n - 1) / self.n * np.maximum(squares - sums**2 / self.n, 0.0))

    @property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of the variance, shape (T,): 2 V^2 / Var(V), at least 1 and at most n - 1.

        V is a sum of n squares, whose variance follows from their fourth powers: with the kurtosis k of the
        values left, 2 V^2 / Var(V) = 2 n / (k - 1). For normal values that is n. If only a few units vary,
        such as the few items with a rare label, it is hardly more than the number of these.
        """
        most = max(self.n - 1, 1.0)
        if self.n < 2:
            return np.full(self.whole.shape, most)
        mean, squares, cubes, fourths = self.powers / self.n
        second = squares - mean**2
        fourth = fourths - 4 * mean * cubes + 6 * mean**2 * squares - 3 * mean**4
        noise = np.maximum(fourth - second**2, 0.0)
        found = np.full(self.whole.shape, most)
        np.divide(2 * self.n * second**2, noise, out=found, where=noise > 0)
        return np.asarray(np.clip(found, 1.0, most))


@dataclass(frozen=True, slots=True)
class Jackknives:
    """Jackknives over the group's raters, the others' raters, the items and the single annotations."""

    group: Jackknife
    others: Jackknife
    items: Jackknife
    annotations: Jackknife

    def interval(self, target: IntervalTarget) -> FloatArray:
        """Return the 95 % interval of each statistic, for new raters, new items or both.

        Returns shape (T, 2): NaN where the statistic, or the statistic without some unit, has no value.

        Raters vary in two samples, V_r = V_group + V_others. For both, V_r + V_items counts the variance of
        single annotations twice: V = max(V_r + V_items - V_annotations, V_r, V_items). The interval is
        Student's, with Satterthwaite's degrees of freedom for the jackknives in the largest of these, each
        with its own degrees of freedom (:attr:`Jackknife.freedom`).

        Source: Cameron, Gelbach & Miller (2011), Journal of Business & Economic Statistics 29; Efron & Stein
        (1981), Annals of Statistics 9; Satterthwaite (1946), Biometrics Bulletin 2.
        """
        from scipy.special import stdtrit  # takes a tenth of a second to load, which a start can do without

        error, freedom = self._error(target)
        reach = stdtrit(freedom, (1 + COVERAGE) / 2) * error
        return np.stack([self.group.whole - reach, self.group.whole + reach], axis=-1)

    def p(self) -> FloatArray:
        """Return the two-sided p of no difference: below .05 where the interval for "both" excludes 0.

        Returns shape (T,): NaN where a statistic has no value, or does not vary.
        """
        from scipy.special import stdtr

        error, freedom = self._error("both")
        t = np.full(error.shape, np.nan)
        np.divide(np.abs(self.group.whole), error, out=t, where=error > 0)
        return np.asarray(2 * stdtr(freedom, -t))

    def _error(self, target: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """Return the standard error of each statistic and its degrees of freedom, shape (T,)."""
        raters, items = [self.group, self.others], [self.items]
        every = {"raters": [raters], "items": [items], "both": [raters, items, raters + items]}
        terms: list[list[Jackknife]] = every[target]
        variances = np.stack([_sum(one) for one in terms])
        if target == "both":
            variances[2] -= self.annotations.variance
        largest = variances.argmax(axis=0)  # NaN where there is one
        return np.sqrt(variances.max(axis=0)), np.choose(largest, [_freedom(one) for one in terms])


def _sum(jackknives: Sequence[Jackknife]) -> FloatArray:
    """Add up the variances of independent sources, shape (T,)."""
    return np.asarray(np.sum([one.variance for one in jackknives], axis=0))


def _freedom(jackknives: Sequence[Jackknife]) -> FloatArray:
    """Return Satterthwaite's degrees of freedom of the sum of these variances, shape (T,)."""
    shares = np.sum([one.variance**2 / one.freedom for one in jackknives], axis=0)
    found = np.ones(shares.shape)
    np.divide(_sum(jackknives) ** 2, shares, out=found, where=shares > 0)
    return found


BLOCK, BLOCK_SUMS = 4096, 2**21
"""Most units whose sums are in memory at a time, and most of these sums together."""


class Answers(NamedTuple):
    """The answers to one question, and the counts of a group.

    `ties`: shape (2, K, I).
    `c`, `known`, shape (K, I): counts of the group's labels, and of all raters whose values are known.
    `of_others`: True if `c` counts the labels of the others, after the sides were exchanged.
    """

    annotations: Annotations
    design: Design
    c: CountArray
    known: CountArray
    ties: CountArray
    of_others: bool = False

    def seen_from_the_others(self) -> Answers:
        """Exchange the sides; every rater must be on one of them."""
        return self._replace(c=self.known - self.c, of_others=not self.of_others)

    def added(self, items: Codes, without: Codes | None = None, *, own: bool = False) -> FloatArray:
        """Return the terms of items (N,) in the sums, (N, S), each without one label of a category (N,).

        `own`: True if a label that is left out is the group's, as the sides were before any exchange.
        """
        # C order, as in all calls of these kernels: another order would take seconds to compile.
        c, known, ties = (np.ascontiguousarray(one[..., items]) for one in (self.c, self.known, self.ties))
        if without is not None:
            each = np.arange(len(items))
            known[without, each] -= 1
            c[without, each] -= own != self.of_others
        out = np.empty((len(items), self.design.n_counted))
        values = values_in_columns(self.design.distances, len(items))
        contributions(Columns(c, known, ties, values, len(items)), self.design.conventions, out)
        lacking = self.design.further
        return out if lacking is None else np.hstack([out, lacking.terms(c.T, (known - c).T)])


class Sides(NamedTuple):
    """Raters of the group and of the others, bool arrays of shape (J,)."""

    group: BoolArray
    others: BoolArray


class AnnotationKinds(NamedTuple):
    """Annotations of a side in U kinds: those of a kind have the same item and labels.

    `item`: shape (U,).
    `category`, shape (U, Q): the label of each question that is left out, -1 if there is none.
    `first`, shape (U,): the first annotation of each kind; kinds are in the order of these.
    `rater`, `kind`, shape (A,): rater and kind of every annotation, item by item.
    """

    item: Int64Array
    category: Int64Array
    first: Int64Array
    rater: Codes
    kind: Int64Array


def answers_of(annotations: Annotations, design: Design, sides: Sides) -> Answers:
    """Count the labels of a group and of everybody."""
    counter = design.ties.dtype
    c = count(annotations, sides.group).T.astype(counter)
    known = c + count(annotations, sides.others).T.astype(counter)
    ties = design.ties.transpose(1, 2, 0, 3).reshape(2, annotations.n_categories, -1)
    return Answers(annotations, design, c, known, ties[:, :, : annotations.n_items])


def jackknives(
    questions: Sequence[Answers], sides: Sides, statistics: Callable[[FloatArray], FloatArray]
) -> Jackknives:
    """Leave each unit out in turn; `statistics` turns sums (N, S) of all questions into (N, T)."""
    rated = np.flatnonzero(np.any([one.known.any(axis=0) for one in questions], axis=0))
    total = np.sum([block.sum(axis=0) for block in _items(questions, rated)], axis=0)
    whole = statistics(total[None])[0]
    at_a_time = _block(questions)
    items, annotations = Jackknife.around(whole), Jackknife.around(whole)
    for block in _items(questions, rated):
        items.add(statistics(total - block))
    of_sides = []
    for side, own in ((sides.group, True), (sides.others, False)):
        alike, raters = _alike(questions, side), Jackknife.around(whole)
        times = np.bincount(alike.kind, minlength=len(alike.item)).astype(np.float64)
        taken = np.zeros((len(side), total.size))
        for kinds, change in _taken(questions, alike, own=own):
            annotations.add(statistics(total + change), times[kinds])
            _add_to_raters(alike, kinds, change, taken)
        present = np.flatnonzero(tallied(alike.rater, side.size))
        for start in range(0, present.size, at_a_time):
            raters.add(statistics(total + taken[present[start : start + at_a_time]]))
        of_sides.append(raters)
    group, others = of_sides
    return Jackknives(group, others, items, annotations)


def _block(questions: Sequence[Answers]) -> int:
    return max(min(BLOCK, BLOCK_SUMS // sum(one.design.n_sums for one in questions)), 1)


def _items(questions: Sequence[Answers], items: Codes) -> Iterator[FloatArray]:
    """Yield the terms of items in the sums, block by block, the questions one after the other."""
    block = _block(questions)
    for start in range(0, max(items.size, 1), block):
        some = items[start : start + block]
        yield np.concatenate([one.added(some) for one in questions], axis=1)


def _alike(questions: Sequence[Answers], side: BoolArray) -> AnnotationKinds:
    """Sort annotations into kinds with the same labels for all questions on the same item."""
    item, rater, category = _vectors([one.annotations for one in questions], side)
    kind, firsts, n = np.empty(item.size, dtype=np.int64), [np.empty(0, dtype=np.int64)], 0
    for some in by_items(item):
        found: Codes = item[some].astype(np.int64)
        for one, labels in zip(questions, category[some].T, strict=True):
            found, _ = pd.factorize(found * (one.annotations.n_categories + 1) + labels + 1)
        firsts.append(some.start + np.flatnonzero(np.diff(np.maximum.accumulate(found), prepend=-1)))
        kind[some] = found + n
        n += firsts[-1].size
    first = np.concatenate(firsts)
    return AnnotationKinds(item[first].astype(np.int64), category[first].astype(np.int64), first, rater, kind)


def _vectors(questions: Sequence[Annotations], side: BoolArray) -> tuple[Codes, Codes, Codes]:
    """Return item (A,), rater (A,) and label by question (A, Q), -1 for none, of a side, sorted by item."""
    if len(questions) == 1:
        one = questions[0]
        own = side[one.rater]
        return one.item[own], one.rater[own], one.category[own][:, None]
    chosen = [np.flatnonzero(side[one.rater]) for one in questions]
    cells = [
        one.item[here].astype(np.int64) * one.n_raters + one.rater[here]
        for one, here in zip(questions, chosen, strict=True)
    ]
    every = np.unique(np.concatenate(cells))
    category = np.full((every.size, len(questions)), -1, dtype=np.int64)
    for q, (one, here, cell) in enumerate(zip(questions, chosen, cells, strict=True)):
        category[np.searchsorted(every, cell), q] = one.category[here]
    item, rater = np.divmod(every, side.size)
    return item, rater, category


def _taken(
    questions: Sequence[Answers], alike: AnnotationKinds, *, own: bool
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield how the sums change without one annotation of each kind, block by block."""
    block = _block(questions)
    for start in range(0, len(alike.item), block):
        kinds = slice(start, min(start + block, len(alike.item)))
        changes = []
        for q, one in enumerate(questions):
            here = np.flatnonzero(alike.category[kinds, q] >= 0)
            items = alike.item[kinds][here]
            change = np.zeros((kinds.stop - kinds.start, one.design.n_sums))
            change[here] = one.added(items, alike.category[kinds, q][here], own=own) - one.added(items)
            changes.append(change)
        yield kinds, np.concatenate(changes, axis=1)


def _add_to_raters(alike: AnnotationKinds, kinds: slice, change: FloatArray, taken: FloatArray) -> None:
    """Add the changes (U, S) of some kinds to the changes of raters, shape (J, S)."""
    # Annotations of these kinds lie between the first of them and the end of the last kind's item.
    after = np.searchsorted(alike.item, alike.item[kinds.stop - 1], side="right")
    end = alike.first[after] if after < alike.first.size else alike.kind.size
    some = slice(alike.first[kinds.start], end)
    kind, rater = alike.kind[some], alike.rater[some]
    here = (kind >= kinds.start) & (kind < kinds.stop)
    add_rows(change, kind[here] - kinds.start, rater[here].astype(np.int64), taken)


# Intervals, on the scale of each statistic

CLOSEST: Mapping[Scale, float] = {"logit": 2.0, "log": 1.0}
"""A value below its half width divided by this number has no interval on its scale: :meth:`Scales.ends`."""
_MOST = 700.0
"""Largest exponent used: the exponential of larger ones overflows."""
FURTHEST: Mapping[Scale, float] = {"logit": 2.0, "log": 1.5}
"""Most that the upper end of such a small value may lie above the value, on its scale."""


_RANGES = {"gap_b": (-2.0, 2.0), "irr_difference": (-2.0, 2.0), "label": (-1.0, 1.0)}
"""Least and largest value of columns that are not a statistic of a group; others have no limits."""


class Scales(NamedTuple):
    """Ranges of T statistics; which have a scale, shape (T,), and which of these L the logit, shape (L,)."""

    low: FloatArray
    high: FloatArray
    scaled: BoolArray
    by_logit: BoolArray

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Look up the ranges and scales of statistics by name."""
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
        """Append to statistics, shape (N, T), the L with a scale, on that scale; NaN outside its range."""
        some = values[:, self.scaled]
        inside = (some > 0) & ((some < 1) | ~self.by_logit)
        of_some = np.where(inside, some, np.nan)
        on_scale = np.log(of_some)
        on_scale[:, self.by_logit] = logit(of_some[:, self.by_logit])
        return np.concatenate([values, on_scale], axis=1)

    def ends(self, found: FloatArray, whole: FloatArray) -> FloatArray:
        """Return intervals of the statistics, (T, 2), from those of :meth:`with_scaled`, shape (T + L, 2).

        If a label is rare, low agreement comes with a small variance, and the interval around it would be too
        narrow; so would that of a distance that comes from few items. So the ends are taken from the interval
        on the scale. An interval that contains 0 keeps its lower end, since chance has no place on the scale.
        A value near 0, or a distance that may be 0, has no interval on the scale: its upper end is the value
        plus its half width, both brought to the scale (delta method).
        """
        ends = found[: whole.size].copy()
        value, plain, on_scale = whole[self.scaled], ends[self.scaled], found[whole.size :]
        closest, furthest = (np.where(self.by_logit, of["logit"], of["log"]) for of in (CLOSEST, FURTHEST))
        half = (plain[:, 1] - plain[:, 0]) / 2
        used = (closest * value >= half) & ~np.isnan(on_scale).any(axis=1)
        slope = value * np.where(self.by_logit, 1 - value, 1.0)
        further = np.divide(half, slope, out=np.zeros_like(half), where=(value > 0) & (slope > 0))
        beside = self.with_scaled(whole[None])[0, whole.size :] + np.minimum(further, furthest)
        on_scale = np.where(used[:, None], on_scale, beside[:, None])
        scaled = np.where(self.by_logit[:, None], expit(on_scale), np.exp(np.minimum(on_scale, _MOST)))
        low = np.where(used & (plain[:, 0] > 0), scaled[:, 0], plain[:, 0])
        ends[self.scaled] = np.stack([low, np.fmax(scaled[:, 1], plain[:, 1])], axis=1)
        low, high = np.maximum(ends[:, 0], np.minimum(self.low, whole)), np.minimum(ends[:, 1], self.high)
        return np.stack([low, high], axis=1)


FEWEST_RATERS = 5
"""Fewest raters of a group with an interval: with fewer, their variance cannot be estimated."""
FEWEST_RARER = 20
"""Fewest labels besides a group's most frequent one: fewer hardly show how agreement and distance vary."""
MOST_ORDERED = 64
"""Most ordered labels: their distances depend on the marginals and are computed anew for each unit."""
MOST_COUNTS = 2**24
"""Most items times labels: all are counted at once for a group."""


lay_out = partial(of_questions.lay_out, dense=False, tables=False)
"""Lays data out with ties for every item and label, and sums that give disagreements for any marginals."""


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
    """95 % intervals and p by the delete-one jackknife over raters and items (docs/methods.md, "Intervals").

    `columns`: turns the kernel's values of a group, shape (N, V), and its index into the columns that get an
        interval, (N, T).
    `names`, length T: names of these columns, which set their ranges and scales.
    `fewest`: groups of fewer raters have no interval.

    Returns shape (G, T, 3): lower and upper end, and the p of :meth:`Jackknives.p`; NaN if there is none.
    """
    design = lay_out(questions, raters, grouping, analysis, lacking=lacking)
    scales = Scales.of(names)

    def of_sums(sums: FloatArray, g: int) -> FloatArray:
        counted = of_questions.joint_statistics(of_questions.components(design, sums), design.n_further)
        return scales.with_scaled(columns(counted, g))

    found = []
    for g, size in enumerate(grouping.n_raters):
        sides = Sides(grouping.member[g], grouping.complement(g))
        if size < fewest:
            found.append(np.full((len(names), 3), np.nan))
            continue
        designs = design.designs
        answers = [answers_of(one, of_one, sides) for one, of_one in zip(questions, designs, strict=True)]
        of_units = jackknives(answers, sides, partial(of_sums, g=g))
        found.append(_with_p(of_units, scales, analysis.interval))
    return np.stack(found)


def _with_p(found: Jackknives, scales: Scales, target: IntervalTarget) -> FloatArray:
    """Return ends and p, shape (T, 3), from jackknives of T statistics and then of those on a scale."""
    n = scales.low.size
    ends = scales.ends(found.interval(target), found.group.whole[:n])
    return np.column_stack([ends, found.p()[:n]])


def rarer_labels(questions: Sequence[Annotations], members: BoolArray) -> int:
    """Count the labels that members, shape (J,), gave besides their most frequent one."""
    given = [np.bincount(one.category[members[one.rater]]) for one in questions]
    return sum(int(of_labels.sum() - of_labels.max(initial=0)) for of_labels in given)


def too_large(questions: Sequence[Annotations], analysis: AnalysisSpec) -> Remark | None:
    """Return why no value of these data gets an interval, if that is so."""
    if analysis.level == "ordinal" and any(one.n_categories > MOST_ORDERED for one in questions):
        return NoInterval.MANY_ORDERED_LABELS(most=MOST_ORDERED)
    if any(one.n_items * one.n_categories > MOST_COUNTS for one in questions):
        return NoInterval.MANY_ITEMS_AND_LABELS(most=MOST_COUNTS)
    return None


def interval_of_two(
    questions: Sequence[Annotations],
    raters: Raters,
    grouping: Grouping,
    analysis: AnalysisSpec,
    statistics: Callable[[FloatArray], FloatArray],
    names: Sequence[str],
) -> FloatArray:
    """Return :func:`intervals`, (T, 3), of statistics of two groups; each unit is left out of both at once.

    `grouping`: two groups, each the other's complement.
    `statistics`: turns the kernel's statistics of both, (N, 2, 6), into those that get an interval, (N, T).
    """
    design, scales = lay_out(questions, raters, grouping, analysis), Scales.of(names)
    designs = design.designs
    sides = Sides(grouping.member[0], grouping.member[1])
    of_a = [answers_of(one, of_one, sides) for one, of_one in zip(questions, designs, strict=True)]
    of_b = [one.seen_from_the_others() for one in of_a]

    def of_sums(sums: FloatArray) -> FloatArray:
        both = [of_questions.components(design, half) for half in np.split(sums, 2, axis=-1)]
        return scales.with_scaled(
            statistics(np.stack([of_questions.joint_statistics(half) for half in both], axis=-2))
        )

    found = jackknives([*of_a, *of_b], sides, of_sums)
    return _with_p(found, scales, analysis.interval)
