"""Results of cohesion: outcomes by group and by axis, label use, spread of raters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from grasp_core.analysis.cohesion.columns import GAI, LABELS, MEAN, Places, members
from grasp_core.analysis.cohesion.untested import NotShuffled, jackknifed_use
from grasp_core.analysis.intervals import FEWEST_RARER, FEWEST_RATERS
from grasp_core.model.annotations import Annotations, FloatArray, Raters
from grasp_core.model.groups import Group, Grouping
from grasp_core.model.outcome import Interval, LabelUse, Outcome, Shift, Spread
from grasp_core.model.remarks.reasons import NoInterval, NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DsiResult
from grasp_core.model.spec import AnalysisSpec, IntervalTarget, PValue
from grasp_core.permutation.design import MOST_LABELS_USED
from grasp_core.permutation.draw import exchange_of
from grasp_core.permutation.kernel.profiles import draw
from grasp_core.permutation.testing.corrections import ranks
from grasp_core.permutation.testing.p_values import Summaries
from grasp_core.statistics.between_raters import spread_of_sums, spread_terms
from grasp_core.statistics.rater_residuals import RaterResiduals, ResidualSums


def by_group(found: Mapping[int, Outcome], places: Places, spec: AnalysisSpec) -> list[dict[str, Outcome]]:
    """Return each group's outcomes of the chosen statistics, by name."""
    at = places.statistics
    return [
        {name: found[places.column(g, at[name])] for name in spec.statistics} for g in range(places.n_groups)
    ]


def with_interval(
    outcome: Outcome,
    ends: FloatArray | Remark,
    target: IntervalTarget,
    inside: int,
    outside: int | None,
    rarer: int,
    rarer_outside: int,
) -> Outcome:
    """Add its interval to an outcome, or the reason why it has none.

    `ends`, shape (3,), or Remark: low, high and p, or NaN; or why no value of the run has an interval.
    `outside`: number of raters outside it; None if the statistic does not use their labels.
    `rarer`, `rarer_outside`: number of labels the group gave besides its most frequent one, and the others
        besides theirs.
    """
    reason = no_interval(ends, inside, outside)
    if reason is None and rarer < FEWEST_RARER:
        reason = NoInterval.FEW_RARER_LABELS(labels=rarer, least=FEWEST_RARER)
    if reason is None and outside is not None and rarer_outside < FEWEST_RARER:
        reason = NoInterval.FEW_RARER_LABELS_OUTSIDE(labels=rarer_outside, least=FEWEST_RARER)
    if reason is not None or isinstance(ends, Remark):
        return replace(outcome, no_interval=reason)
    low, high, _ = ends.tolist()
    return replace(outcome, interval=Interval(low, high, target))


def no_interval(ends: FloatArray | Remark, inside: int, outside: int | None) -> Remark | None:
    """Return why values with these ends have no interval, if so; parameters as in :func:`with_interval`."""
    if isinstance(ends, Remark):
        return ends
    if inside < FEWEST_RATERS:
        return NoInterval.FEW_RATERS_INSIDE(raters=inside, least=FEWEST_RATERS)
    if outside is not None and outside < FEWEST_RATERS:
        return NoInterval.FEW_RATERS_OUTSIDE(raters=outside, least=FEWEST_RATERS)
    return NoInterval.NO_VALUE_WITHOUT_ONE() if np.isnan(ends[..., :2]).any() else None


def by_axis(
    found: Mapping[int, Outcome], groups: Sequence[Group], gai: FloatArray, spec: AnalysisSpec, places: Places
) -> tuple[DsiResult, ...]:
    """Return each axis's largest GAI, from observed ones (G,), and the test of the largest studentised GAI.

    `p_group`, the own p of the group with the largest GAI, is the paper's test.
    """
    results: list[DsiResult] = []
    for axis, of_axis in enumerate(members(groups, spec)):
        axes = spec.axes[axis]
        if np.isnan(gai[of_axis]).all():
            missing = Outcome(None, reason=NoValue.NO_GROUP_WITH_GAI())
            results.append(DsiResult(axes, None, missing, None, "none", "studentised"))
            continue
        largest = of_axis[int(np.nanargmax(gai[of_axis]))]
        own = found.get(places.column(largest, GAI), Outcome(None))
        outcome = replace(found[places.dsi(axis)], interval=own.interval, no_interval=own.no_interval)
        results.append(DsiResult(axes, groups[largest], outcome, own.p, own.significance, "studentised"))
    return tuple(results)


# Label use

_OF_ALL_LABELS = ("p", "q", "significance", "p_interval", "q_interval", "fit", "no_fit")
_DIGITS = 9
"""Digits compared: of two labels, one gains as much as the other loses, and rounding must not decide."""


@dataclass(frozen=True, slots=True)
class ReportedLabels:
    """Labels of each question; a question with too many labels does not report how often they are given."""

    of_questions: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, questions: Sequence[Annotations]) -> Self:
        """Collect the labels of these annotations."""
        return cls(tuple(tuple(one.categories) for one in questions))

    @property
    def n_reported(self) -> int:
        """L, the number of labels of all questions whose use is reported."""
        return sum(len(labels) for labels in self.of_questions if len(labels) <= MOST_LABELS_USED)

    @property
    def questions(self) -> int:
        """Number of questions these labels belong to."""
        return sum(len(labels) <= MOST_LABELS_USED for labels in self.of_questions)

    def names(self, questions: Sequence[str]) -> list[str]:
        """Return the labels whose use is reported; with several questions, after their question's name."""
        if len(self.of_questions) == 1:
            return list(self.of_questions[0])[: self.n_reported]
        asked = zip(questions, self.of_questions, strict=True)
        return [f"{name}: {label}" for name, of in asked if len(of) <= MOST_LABELS_USED for label in of]


def label_use(
    g: int,
    names: Sequence[str],
    found: Mapping[int, Outcome],
    observed: FloatArray,
    null: Summaries,
    places: Places,
    p_value: PValue,
    untested: NotShuffled,
) -> LabelUse:
    """Return a unit's label use, without intervals.

    `names`: length L; `observed`: shape (C,).
    `p_value`: convention for the p of single labels, which are not corrected for each other.
    """
    if not places.n_labels:
        return LabelUse({}, reason=NoValue.MANY_LABELS(most=MOST_LABELS_USED))
    test, columns = places.column(g, places.label_use), places.labels(g)
    outcome = found[test]
    if outcome.value is None:
        return LabelUse(dict.fromkeys(names, Shift(None)), reason=NoValue.NO_SHARED_ITEM())
    if test in untested.by_jackknife:
        mean = places.column(g, MEAN)
        return jackknifed_use(names, columns, mean, observed, outcome, untested.test(g))
    tests = places.label_tests(g)
    values, far = observed[list(columns)], np.abs(observed[list(tests)])
    most = int(np.lexsort((-np.abs(values), -far.round(_DIGITS)))[0])

    def shift(column: int, tested: int, *, with_null: bool) -> Shift:
        p = null.tails(tested).p(p_value)
        return Shift(float(observed[column]), p=p, null=null.summary(column).histogram if with_null else None)

    mean = places.column(g, MEAN)
    return LabelUse(
        labels={
            name: shift(column, tested, with_null=k == most)
            for k, (name, column, tested) in enumerate(zip(names, columns, tests, strict=True))
        },
        mean=None if np.isnan(observed[mean]) else shift(mean, places.mean_test(g), with_null=True),
        most=names[most],
        **{name: getattr(outcome, name) for name in _OF_ALL_LABELS},
    )


def with_intervals(
    found: LabelUse, ends: FloatArray | Remark, target: IntervalTarget, inside: int, outside: int
) -> LabelUse:
    """Add intervals to every label and to the mean's shift, or the reason why there are none.

    `ends`, shape (W, 3), or Remark: low, high and p of the unit's columns, or why the run has no intervals.
    """
    if found.most is None:
        return found
    why = no_interval(ends if isinstance(ends, Remark) else ends[LABELS:], inside, outside)
    if why is not None or isinstance(ends, Remark):
        return replace(found, no_interval=why)
    labels = {
        name: _bounded(shift, of_one)
        for (name, shift), of_one in zip(found.labels.items(), ends[LABELS:], strict=True)
    }
    mean = found.mean and _bounded(found.mean, ends[MEAN])
    return replace(found, labels=labels, mean=mean, target=target)


def _bounded(shift: Shift, ends: FloatArray) -> Shift:
    low, high, p = ends.tolist()
    return replace(shift, low=low, high=high, p_both=None if np.isnan(p) else p)


_AT_ONCE = 256
_OUT, _IN, _NEITHER = range(3)


class SpreadTest:
    """Test of spread for a run's groups, on the same permutations as all other tests.

    Only groups that differ are tested, so permutations are drawn again, and residuals computed at the first.
    That takes little time: raters' sums are products of matrices, and nothing else in a run waits for them.
    """

    def __init__(
        self,
        answers: Sequence[Annotations],
        raters: Raters,
        grouping: Grouping,
        analysis: AnalysisSpec,
        permutations: int,
    ) -> None:
        self._answers, self._grouping = answers, grouping
        self._seed, self._permutations = analysis.seed, permutations
        self._exchange = exchange_of(raters, analysis)
        self._terms: FloatArray | None = None

    def __call__(self, g: int, *, alike: bool) -> Spread | None:
        """Test a group, with mirrored regroupings if `alike`; None if raters are too few or do not differ."""
        far = np.log(self._values(g))
        if np.isnan(far).any() or np.ptp(far) == 0:
            return None
        among = np.concatenate([far, -far]) if alike else far
        # Equal values count whole: this p is told as it is, not joined with others.
        tails = [int(ranks(values).reached[0]) for values in (among, -among)]
        return Spread(float(np.exp(far[0])), min(1.0, 2 * min(tails) / among.size))

    def _values(self, g: int) -> FloatArray:
        """Return the ratio, as observed and in each permutation; shape (B + 1,)."""
        if self._terms is None:
            residuals = (RaterResiduals.of(ResidualSums.of(one)) for one in self._answers)
            parts = [spread_terms(one).reshape(self._grouping.member.shape[1], 4, -1) for one in residuals]
            self._terms = np.concatenate(parts, axis=2).reshape(len(parts[0]), -1)
        profile = np.full(self._grouping.member.shape[1], _NEITHER, np.uint16)
        profile[self._grouping.complement(g)] = _OUT
        profile[self._grouping.member[g]] = _IN
        found = [self._ratios(profile[:, None])]
        for start in range(0, self._permutations, _AT_ONCE):
            shape = (profile.size, min(_AT_ONCE, self._permutations - start))
            drawn = np.empty(shape, profile.dtype)
            draw(np.uint64(self._seed), start, self._exchange.order, self._exchange.bounds, profile, drawn)
            found.append(self._ratios(drawn))
        return np.concatenate(found)

    def _ratios(self, profiles: np.ndarray) -> FloatArray:
        sides = ((profiles == side).T.astype(np.float64) @ self._terms for side in (_IN, _OUT))
        return spread_of_sums(*sides)
