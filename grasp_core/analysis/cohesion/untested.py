"""Columns of groups that were given different items, or more items: shuffling does not test them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, Self

import numpy as np

from grasp_core.analysis.cohesion.columns import Places
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray
from grasp_core.model.groups import Group, Grouping
from grasp_core.model.outcome import LabelUse, Outcome, Shift, Unequal
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.permutation.design import MOST_LABELS_USED
from grasp_core.permutation.testing.outcomes import withheld
from grasp_core.statistics.items import count
from grasp_core.statistics.label_use import Scale, mean_positions
from grasp_core.statistics.levels import category_values

FEWEST_RATERS = 5
"""Fewest raters on either side for a test: with fewer, their variance cannot be estimated."""


class Jackknifed(NamedTuple):
    """A test of label use.

    `p`: of all labels together: the smallest p of a single label, times the number that may differ.
    `of_labels`, shape (L,): two-sided p of each label of all questions; NaN where the label does not vary.
    `of_mean`: two-sided p of the shift of the mean; NaN if there is none.
    """

    p: float
    of_labels: FloatArray
    of_mean: float


def jackknifed(
    questions: Sequence[Annotations],
    group: BoolArray,
    others: BoolArray,
    positions: Sequence[FloatArray | None] = (),
) -> Jackknifed | None:
    """Test a group's use of the labels against the others' by the delete-one jackknife over raters.

    `group`, `others`: shape (J,).
    `positions`, shape (K,) or None for each question: positions of its labels, for the shift of the mean.

    Returns None if a side has fewer than 5 raters.

    t = D / sqrt(V_group + V_others), each V the jackknife's over the raters of one side, is compared with
    Student's t with one degree of freedom less than the smaller side has raters. If there are two labels,
    one gains as much as the other loses: they are one test.
    """
    rated = np.any([np.bincount(one.rater, minlength=group.size) > 0 for one in questions], axis=0)
    smaller = min(int((group & rated).sum()), int((others & rated).sum()))
    if smaller < FEWEST_RATERS:
        return None
    found = [_of_question(one, group, others) for one in questions]
    by_question = [_p(one, smaller - 1) for one in found]
    varying = [int((~np.isnan(p)).sum()) for p in by_question]
    tests = sum(1 if n == 2 else n for n in varying)  # labels that can differ independently: of two, one
    of_labels, mean = np.concatenate(by_question), float("nan")
    least = np.nanmin(of_labels) if tests else 1.0
    if len(found) == 1 and positions and positions[0] is not None:
        mean = float(_p(found[0].seen_at(positions[0]), smaller - 1))
    return Jackknifed(float(min(1.0, least * max(tests, 1))), of_labels, mean)


class _Left(NamedTuple):
    """D of all raters, (K,), and without each rater of either side, (n, K) and (m, K)."""

    whole: FloatArray
    sides: tuple[FloatArray, FloatArray]

    def seen_at(self, weights: FloatArray) -> _Left:
        return _Left(self.whole @ weights, (self.sides[0] @ weights, self.sides[1] @ weights))


def _of_question(annotations: Annotations, group: BoolArray, others: BoolArray) -> _Left:
    c, d = (count(annotations, side).astype(np.float64) for side in (group, others))
    differences, weights = _terms(c, d)
    total = np.append(differences.sum(axis=0), weights.sum())
    sides = []
    for side, own, other, sign in ((group, c, d, 1.0), (others, d, c, -1.0)):
        change = _changes(annotations, side, own, other)
        change[:, :-1] *= sign
        left = total + change
        kept = left[left[:, -1] > 0]
        sides.append(kept[:, :-1] / kept[:, -1:])
    whole = total[:-1] / total[-1] if total[-1] > 0 else np.full(total.size - 1, np.nan)
    return _Left(whole, (sides[0], sides[1]))


def _terms(own: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the terms of items in the numerator and denominator of D: shapes (I, K) and (I,)."""
    n, m = own.sum(axis=1), other.sum(axis=1)
    both = np.maximum(n + m, 1.0)
    return (own * m[:, None] - other * n[:, None]) / both[:, None], n * m / both


def _changes(annotations: Annotations, side: BoolArray, own: FloatArray, other: FloatArray) -> FloatArray:
    """Return the change of the sums (K + 1) if one rater of a side is left out: shape (n, K + 1)."""
    chosen = side[annotations.rater]
    item, rater, label = (
        part[chosen] for part in (annotations.item, annotations.rater, annotations.category)
    )
    n, m = own.sum(axis=1), other.sum(axis=1)
    left = np.maximum(n + m - 1, 1.0)
    above, below = _terms(own, other)
    shift = (own * m[:, None] - other * np.maximum(n - 1, 0.0)[:, None]) / left[:, None] - above
    present, place = np.unique(rater, return_inverse=True)
    change = np.empty((present.size, own.shape[1] + 1))
    for k in range(own.shape[1]):
        gone = shift[item, k] - (label == k) * (m / left)[item]
        change[:, k] = np.bincount(place, gone, minlength=present.size)
    less = np.maximum(n - 1, 0.0) * m / left - below
    change[:, -1] = np.bincount(place, less[item], minlength=present.size)
    return change


def _p(found: _Left, freedom: int) -> FloatArray:
    """Return two-sided p-values of D, in the shape of D; NaN where nothing varies."""
    from scipy.special import stdtr  # takes a tenth of a second to load, which most runs do without

    variance = sum(_variance(side) for side in found.sides)
    t = np.full(np.shape(found.whole), np.nan)
    np.divide(np.abs(found.whole), np.sqrt(variance), out=t, where=np.asarray(variance) > 1e-24)
    return np.asarray(2 * stdtr(freedom, -t))


def _variance(without: FloatArray) -> FloatArray:
    n = len(without)
    return np.asarray((n - 1) / max(n, 1) * ((without - without.mean(axis=0)) ** 2).sum(axis=0))


Test = Callable[[int], Jackknifed | Remark]
"""Tests a unit's label use by leaving out raters; gives the reason if there is no test."""


@dataclass(frozen=True, slots=True)
class NotShuffled:
    """Columns without any test, and those of label use tested by leaving out raters, with units."""

    test: Test
    withheld: frozenset[int] = frozenset()
    by_jackknife: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of_groups(
        cls, groups: Sequence[Group], unequal: Unequal, spec: AnalysisSpec, places: Places, test: Test
    ) -> Self:
        """Collect the columns of groups on unequal axes, and the DSI of these axes."""
        chosen = [g for g, group in enumerate(groups) if group.axes in unequal]
        withheld = {places.column(g, place) for g in chosen for place in places.statistics.values()}
        withheld |= {places.dsi(axis) for axis, axes in enumerate(spec.axes) if axes in unequal}
        by_jackknife = {places.column(g, places.label_use): g for g in chosen if places.n_labels}
        return cls(test, frozenset(withheld), by_jackknife)

    @property
    def columns(self) -> frozenset[int]:
        """All columns that shuffling does not test."""
        return self.withheld | self.by_jackknife.keys()

    def outcomes(self, observed: FloatArray, reasons: Mapping[int, Remark]) -> dict[int, Outcome]:
        """Return the outcomes of the columns, without correction.

        `observed`: shape (C,).
        """
        found = {}
        for c in self.columns:
            if c in self.withheld or np.isnan(observed[c]):
                found[c] = withheld(observed[c], reasons.get(c))
            else:
                test = self.test(self.by_jackknife[c])
                of_test = {"reason": test} if isinstance(test, Remark) else {"p": test.p}
                found[c] = Outcome(float(observed[c]), **of_test)
        return found


def tests_of(questions: Sequence[Annotations], grouping: Grouping, level: Level) -> Test:
    """Return the test of a group's label use against its complement; each group's is computed once."""
    reported = [one for one in questions if one.n_categories <= MOST_LABELS_USED]

    @cache
    def test(g: int) -> Jackknifed | Remark:
        sides = grouping.member[g], grouping.complement(g)
        positions = []
        for one in reported:
            c, d = (count(one, side) for side in sides)
            scale = Scale(level, category_values(one.categories, level))
            positions.append(mean_positions(c, d, scale))
        found = jackknifed(reported, *sides, positions)
        return NoValue.FEW_TO_LEAVE_OUT(least=FEWEST_RATERS) if found is None else found

    return test


def jackknifed_use(
    names: Sequence[str],
    columns: Sequence[int],
    mean: int,
    observed: FloatArray,
    outcome: Outcome,
    test: Jackknifed | Remark,
) -> LabelUse:
    """Return a unit's label use, tested by leaving out raters, without intervals.

    `names`: length L; `observed`: shape (C,).
    `columns`, length L: the columns of the labels.
    """
    values = observed[list(columns)]
    if isinstance(test, Remark):
        p, of_mean = np.full(len(columns), np.nan), float("nan")
    else:
        p, of_mean = test.of_labels, test.of_mean
    most = int(np.lexsort((-np.abs(values), p))[0])
    return LabelUse(
        labels={
            name: Shift(float(value), p=_known(one))
            for name, value, one in zip(names, values, p, strict=True)
        },
        mean=None if np.isnan(observed[mean]) else Shift(float(observed[mean]), p=_known(of_mean)),
        p=outcome.p,
        q=outcome.q,
        significance=outcome.significance,
        most=names[most],
        reason=outcome.reason,
        test="jackknife",
    )


def _known(p: float) -> float | None:
    return None if np.isnan(p) else float(p)
