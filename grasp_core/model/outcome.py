"""The account of what was read, and what was found: values against null distributions, pairs, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import grasp_core.model.remark_codes  # noqa: F401 - registers how remarks stand in files
from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.json_values import ADDED, in_file
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import LEVEL, IntervalTarget

Unit = Literal["row", "cell", "answer"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The number left out for one reason."""

    reason: Remark
    count: int


@dataclass(frozen=True, slots=True)
class Account:
    """Everything read is used or left out: `read` is `used` and all of `left_out` together.

    `unit`: what is counted: rows of a long file, cells of a matrix that may hold labels, or, of a long file
        with several questions, one answer to each in every row.
    `left_out`: in the order in which it happened; nothing is counted twice.
    `unused`: columns of the annotations file that are neither used nor an axis or slice.
    """

    unit: Unit
    read: int
    used: int
    left_out: tuple[LeftOut, ...] = ()
    unused: tuple[str, ...] = ()


def added_up(found: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """One entry per reason, in order of first appearance; without those that left out nothing."""
    total: dict[Remark, int] = {}
    for one in found:
        total[one.reason] = total.get(one.reason, 0) + one.count
    return tuple(LeftOut(reason, count) for reason, count in total.items() if count)


FEWEST_MET, MOST_RATIO = 0.95, 1.2
"""Groups that meet the others more often, and whose raters rated at most so many times as much, are alike."""
SURE = 0.02
"""The p below which a difference is not taken for chance."""


@dataclass(frozen=True, slots=True)
class Apart:
    """The group of an axis that stands out most from random groupings, by how much, and the p of the axis."""

    group: Group
    size: float
    p: float


@dataclass(frozen=True, slots=True)
class AssignmentCheck:
    """Whether the groups of an axis or intersection were given the same items, and as many.

    `items` has as its size how often annotations of the group meet one of the others' on their item, as a
    share of what it would be had the axis had no part in who rates what: 1 is one pool, 0 pools of their own.
    `workload` has the ratio of the group's geometric mean of annotations to the others'. Either is None where
    there is nothing to compare.
    """

    axes: AxisSet
    items: Apart | None
    workload: Apart | None

    @property
    def groups(self) -> frozenset[Group]:
        """Those that it names."""
        return frozenset(one.group for one in (self.items, self.workload) if one is not None)

    @property
    def own_items(self) -> bool:
        """Whether groups were given items of their own, more than chance and more than a little."""
        return self.items is not None and self.items.p < SURE and self.items.size < FEWEST_MET

    @property
    def own_workload(self) -> bool:
        """Whether groups rated more or fewer items, more than chance and more than a little."""
        found = self.workload
        return found is not None and found.p < SURE and max(found.size, 1 / found.size) > MOST_RATIO

    @property
    def large(self) -> bool:
        """Whether what shuffling profiles finds may be due to who rated what."""
        return self.own_items or self.own_workload


Unequal = Mapping[AxisSet, Literal["items", "workload"]]
"""Axes whose groups were given other items, whether or not as many, or more of the same ones."""
ALL_ALIKE: Unequal = MappingProxyType({})


def unequal_axes(checks: Iterable[AssignmentCheck]) -> Unequal:
    """The axes whose groups were given other items, or more of them."""
    return {check.axes: "items" if check.own_items else "workload" for check in checks if check.large}


VerdictCode = Literal["clear", "hint", "explained", "none", "untestable"]
Kind = Literal["labels", "items", "cohesion", "spread"]
Untestable = Literal[
    "nothing-moves", "few-raters", "other-items", "other-workload", "few-permutations", "not-estimable"
]
FEWEST_CLEAR = 3000
"""With fewer permutations nothing is clear: p would be too coarse for a correction over many groups."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How far raters of a group differ from each other, beside the others.

    `ratio` is that of the variances of raters' mean residuals, inside and outside; of an axis of two groups
    that of each is 1 by the other's. `p` is two-sided.
    """

    ratio: float
    p: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a group answers differently: one p of its tests together, corrected over all groups.

    `code` is "clear" where q and its Monte-Carlo bound are below the level, "hint" where only p is,
    "explained" where it would be clear, and nothing is left without the raters of the clear group `by`,
    "none", and "untestable", for which `why` is the reason. `kinds` are the ways in which it differs, as far
    as one can be named: in how often it gives labels, in the items to which it does, in how far its raters
    agree with each other, and in how far they spread. `p` is that of all tests together and `q` the same
    after correction, of which `bound` is the upper end of its 95 % Monte-Carlo interval; `strength`, how far
    the tests lie from their mean in standard deviations, orders groups of equal p. An axis of two groups is
    one question: then `other` is the other one, with the same verdict. `spread` is tested by itself of groups
    that differ or of which there is a hint.
    """

    code: VerdictCode
    kinds: tuple[Kind, ...] = ()
    p: float | None = None
    q: float | None = None
    bound: float | None = None
    strength: float | None = None
    by: Group | None = None
    other: Group | None = None
    why: Untestable | None = None
    spread: Spread | None = field(default=None, metadata=ADDED)


Direction = Literal["up", "down"]
Significance = Literal["none", "nominal", "corrected"]


def significance_of(p: float | None, q: float | None) -> Significance:
    """What the p-values before and after correction make of a test."""
    if q is not None and q < LEVEL:
        return "corrected"
    return "nominal" if p is not None and p < LEVEL else "none"


LabelUseTest = Literal["shuffled", "jackknife"]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of shuffled values in equal bins from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a value: what it is with other raters and items, other raters, or other items."""

    low: float
    high: float
    target: IntervalTarget

    def holds(self, value: float) -> bool:
        """Whether a value lies in it, its ends included."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class TailFit:
    """That a p-value is of a curve through the tail of its null distribution, since few values lie further.

    `counted` is p as counting gives it, `exceedances` the shuffled values that the curve goes through. With
    `limit` the curve gives less than p, which is the smallest that is told.
    """

    counted: float
    exceedances: int
    limit: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """An observed value held against its null distribution.

    `value` is None where it is not estimable, and `reason` then says why. `p` is None too where
    fewer than 100 shuffled values (`null_n`) were estimable, or where shuffling is no measure of the value:
    its mark is withheld, and `reason` says so. `q` is `p` after correction.

    While permutations go on, `p_interval` and `q_interval` are 95 % intervals of what p and q become with
    endless ones; in a final outcome they are None.

    A value of a final outcome has an `interval`, or `no_interval` says why not; results of earlier versions
    have neither.

    A distance `of_shares` is that of the shares of labels over all items, where too few items have two labels
    of both sides: it misses what evens out over items, and takes no part in verdicts.

    With `fit`, p is that of a curve through the null distribution's tail, and q follows from it; where that
    was asked and no curve goes through, p is counted and `no_fit` says why.
    """

    value: float | None
    null_median: float | None = None
    direction: Direction | None = None
    p: float | None = None
    q: float | None = None
    significance: Significance = "none"
    reason: Remark | None = None
    null_n: int = 0
    null: Histogram | None = None
    p_interval: tuple[float, float] | None = field(default=None, metadata=ADDED)
    q_interval: tuple[float, float] | None = field(default=None, metadata=ADDED)
    interval: Interval | None = field(default=None, metadata=ADDED)
    no_interval: Remark | None = field(default=None, metadata=ADDED)
    fit: TailFit | None = field(default=None, metadata=ADDED)
    no_fit: Remark | None = field(default=None, metadata=ADDED)
    of_shares: bool = field(default=False, metadata=ADDED)


@dataclass(frozen=True, slots=True)
class Shift:
    """How much more often a group gives a label than the others do to the same items, or its mean's shift.

    `value` is a share, so 0.11 are 11 percentage points; `low` and `high` are its 95 % interval, None where
    there is none. `p` is two-sided, over raters alone, as permutations are, `p_both` over raters and items.
    `null` is kept of the label that differs most, and of the mean.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    null: Histogram | None = field(default=None, metadata=ADDED)
    p_both: float | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, slots=True)
class LabelUse:
    """How a group uses the labels, beside how the others use them on the same items.

    `labels` follows the run's categories; of several questions its keys are "question: label". `most` is the
    label that lies furthest from its chance values, in their standard deviations: `p` is the chance of one as
    far in any label, `q` that p after correction. Where profiles cannot be shuffled, `test` is "jackknife":
    p comes from leaving out each rater, or `reason` says why there is none. `mean` is the shift of the mean
    where labels are ordered or numbers. Without values `reason` says why, without intervals `no_interval`.
    While permutations go on, `p_interval` and `q_interval` are as in :class:`Outcome`, and so are `fit` and
    `no_fit` of p in the end.
    """

    labels: Mapping[str, Shift]
    mean: Shift | None = None
    p: float | None = None
    q: float | None = None
    significance: Significance = "none"
    most: str | None = None
    target: IntervalTarget | None = field(default=None, metadata=ADDED)
    reason: Remark | None = field(default=None, metadata=ADDED)
    no_interval: Remark | None = field(default=None, metadata=ADDED)
    p_interval: tuple[float, float] | None = field(default=None, metadata=ADDED)
    q_interval: tuple[float, float] | None = field(default=None, metadata=ADDED)
    test: LabelUseTest = field(default="shuffled", metadata=ADDED)
    fit: TailFit | None = field(default=None, metadata=ADDED)
    no_fit: Remark | None = field(default=None, metadata=ADDED)


PAIR_STATISTICS: Mapping[str, str] = {
    "distance": "distance",
    "xrr": "xrr",
    "gap_a": "gap",
    "gap_b": "gap",
    "irr_difference": "irr",
    "gai_difference": "gai",
}
"""Statistics of a pair, each with the one of groups with which it is asked."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two groups of one axis or intersection, each the other's only others.

    `statistics` has those of :data:`PAIR_STATISTICS` that were asked, `label_use` is that of `a` beside `b`.
    All are tested by shuffling profiles within the two groups alone. Its `verdict` is that of its tests
    together, corrected over all pairs of the run; results of earlier versions and of runs that go on have
    none.
    """

    a: Group
    b: Group
    n_raters_a: int
    n_raters_b: int
    statistics: Mapping[str, Outcome]
    label_use: LabelUse | None = None
    verdict: Verdict | None = field(default=None, metadata=ADDED)

    def turned(self) -> PairResult:
        """The same pair as `b` beside `a`."""
        signed = ("irr_difference", "gai_difference")
        sides = {"gap_a": "gap_b", "gap_b": "gap_a"}
        found = {
            sides.get(name, name): _negative(outcome) if name in signed else outcome
            for name, outcome in self.statistics.items()
        }
        statistics = {name: found[name] for name in PAIR_STATISTICS if name in found}
        use = self.label_use
        turned_use = None
        if use is not None:
            labels = {label: _opposite(shift) for label, shift in use.labels.items()}
            turned_use = replace(use, labels=labels, mean=None if use.mean is None else _opposite(use.mean))
        sizes = self.n_raters_b, self.n_raters_a
        return PairResult(self.b, self.a, *sizes, statistics, turned_use, self.verdict)


_OTHER_WAY: Mapping[Direction, Direction] = {"up": "down", "down": "up"}


def _negative(outcome: Outcome) -> Outcome:
    """An outcome of minus the value."""
    interval = outcome.interval
    return replace(
        outcome,
        value=_minus(outcome.value),
        null_median=_minus(outcome.null_median),
        direction=None if outcome.direction is None else _OTHER_WAY[outcome.direction],
        null=_mirrored(outcome.null),
        interval=None if interval is None else replace(interval, low=-interval.high, high=-interval.low),
    )


def _opposite(shift: Shift) -> Shift:
    return replace(
        shift,
        value=_minus(shift.value),
        low=_minus(shift.high),
        high=_minus(shift.low),
        null=_mirrored(shift.null),
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def _mirrored(null: Histogram | None) -> Histogram | None:
    return None if null is None else Histogram(-null.high, -null.low, null.counts[::-1])


def _sides(row: dict[str, Any]) -> dict[str, Any]:
    sides = {side: {"axis": row["axis"], "group": row[side]} for side in ("a", "b")}
    known = {name: row["statistics"][name] for name in PAIR_STATISTICS if name in row["statistics"]}
    return {**row, **sides, "statistics": known}


in_file(
    PairResult,
    lambda row: {"axis": row["a"]["axis"], **row, "a": row["a"]["group"], "b": row["b"]["group"]},
    _sides,
)
