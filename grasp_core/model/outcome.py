"""The account of the data read, and outcomes: values with null distributions, pairs, verdicts."""

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
    """Account of the data read, each part used or left out: `read` is `used` plus all of `left_out`.

    `unit`: unit of the counts: rows of a long file, cells of a matrix that may contain labels, or, for a long
        file with several questions, one answer to each question in every row.
    `left_out`: in the order in which it happened; nothing is counted twice.
    `unused`: columns of the annotations file that are neither used nor an axis or slice.
    """

    unit: Unit
    read: int
    used: int
    left_out: tuple[LeftOut, ...] = ()
    unused: tuple[str, ...] = ()


def added_up(found: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """Return one entry per reason, in order of first appearance; drop reasons that left out nothing."""
    total: dict[Remark, int] = {}
    for one in found:
        total[one.reason] = total.get(one.reason, 0) + one.count
    return tuple(LeftOut(reason, count) for reason, count in total.items() if count)


FEWEST_MET, MOST_RATIO = 0.95, 1.2
"""Groups are alike if they meet the others at least so often and rated at most so many times as much."""
SURE = 0.02
"""Level of p below which a difference in assignment counts as more than chance."""


@dataclass(frozen=True, slots=True)
class MostUnequal:
    """The group of an axis that differs most from random groupings, with the size, and the p of the axis."""

    group: Group
    size: float
    p: float


@dataclass(frozen=True, slots=True)
class AssignmentCheck:
    """Check whether the groups of an axis or intersection were given the same items, and as many.

    The size of `items` is how often annotations of the group meet one of the others' on their item, relative
    to an axis that has no part in who rates what: 1 is one pool of items, 0 separate pools. The size of
    `workload` is the ratio of the group's geometric mean of annotations to the others'. Either is None if
    there is nothing to compare.
    """

    axes: AxisSet
    items: MostUnequal | None
    workload: MostUnequal | None

    @property
    def groups(self) -> frozenset[Group]:
        """Groups that the check names."""
        return frozenset(one.group for one in (self.items, self.workload) if one is not None)

    @property
    def own_items(self) -> bool:
        """True if groups were given different items, more than by chance and more than a little."""
        return self.items is not None and self.items.p < SURE and self.items.size < FEWEST_MET

    @property
    def own_workload(self) -> bool:
        """True if groups rated different numbers of items, more than by chance and more than a little."""
        found = self.workload
        return found is not None and found.p < SURE and max(found.size, 1 / found.size) > MOST_RATIO

    @property
    def large(self) -> bool:
        """True if differences found by shuffling profiles may be due to who rated what."""
        return self.own_items or self.own_workload


Unequal = Mapping[AxisSet, Literal["items", "workload"]]
"""Axes whose groups were given different items ("items"), or only different numbers ("workload")."""
ALL_ALIKE: Unequal = MappingProxyType({})


def unequal_axes(checks: Iterable[AssignmentCheck]) -> Unequal:
    """Return the axes whose groups were given different items, or different numbers of them."""
    return {check.axes: "items" if check.own_items else "workload" for check in checks if check.large}


VerdictCode = Literal["clear", "hint", "explained", "none", "untestable"]
Kind = Literal["labels", "items", "cohesion", "spread"]
Untestable = Literal[
    "nothing-moves", "few-raters", "other-items", "other-workload", "few-permutations", "not-estimable"
]
FEWEST_CLEAR = 3000
"""Fewest permutations for a verdict "clear"; with fewer, p is too coarse to correct over many groups."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of a group: how much its raters differ from each other, relative to the other raters.

    `ratio` is the variance of raters' mean residuals inside the group divided by that outside. The ratios of
    the two groups of an axis are inverses of each other. `p` is two-sided.
    """

    ratio: float
    p: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on whether a group answers differently: one p for all its tests, corrected over all groups.

    `code` is "clear" if q and its Monte-Carlo bound are below the level, "hint" if only p is, "explained" if
    it would be clear but nothing remains without the raters of the clear group `by`, otherwise "none", or
    "untestable" for the reason `why`. `kinds` are the ways in which the group differs, as far as they can be
    named: "labels", how often it gives labels; "items", the items to which it gives them; "cohesion", how
    far its raters agree; "spread", how far they differ. `p` is that of all tests together, `q`
    is p after correction, and `bound` the upper end of the 95 % Monte-Carlo interval of q. `strength`
    orders groups of equal p: the distance of the tests from their mean, in standard deviations. An axis of
    two groups is one question: `other` is then the other group, with the same verdict. `spread` is tested
    separately, and only for groups that differ or show a hint.
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
    """Return the mark of a test from its p-values before and after correction."""
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
    """A 95 % interval of a value, for other raters and items, other raters, or other items."""

    low: float
    high: float
    target: IntervalTarget

    def holds(self, value: float) -> bool:
        """Return whether a value is inside the interval or at one of its ends."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class TailFit:
    """A p-value from a curve through the tail of its null distribution, since few shuffled values reach it.

    `counted` is p by counting, `exceedances` the number of shuffled values that the curve goes through. With
    `limit`, the curve gives less than p, which is the smallest p reported.
    """

    counted: float
    exceedances: int
    limit: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """An observed value compared with its null distribution.

    `value` is None if it is not estimable; `reason` then states why. `p` is also None if fewer than 100
    shuffled values (`null_n`) were estimable, or if shuffling cannot test the value: the mark is then
    withheld, for the `reason` given. `q` is `p` after correction.

    While permutations continue, `p_interval` and `q_interval` are 95 % intervals of p and q with endless
    permutations; in a final outcome they are None.

    A value of a final outcome has an `interval`, or `no_interval` states why not; results of earlier versions
    have neither.

    If too few items have two labels of both sides, a distance is `of_shares`: computed from the shares of
    labels over all items. It misses differences that even out over items, and takes no part in verdicts.

    With `fit`, p comes from a curve through the null distribution's tail, and q follows from it. If the spec
    asked for a curve and none fits, p is counted and `no_fit` states why.
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
    """Shift: how much more often a group gives a label than the others on the same items; or of its mean.

    `value` is a share, so 0.11 are 11 percentage points; `low` and `high` are its 95 % interval, or None if
    there is none. `p` is two-sided, over raters alone, as permutations are, `p_both` over raters and items.
    `null` is kept only for the label that differs most and for the mean.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    null: Histogram | None = field(default=None, metadata=ADDED)
    p_both: float | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, slots=True)
class LabelUse:
    """Label use: how a group uses the labels, compared with the others on the same items.

    `labels` is in the order of the run's categories; with several questions its keys are "question: label".
    `most` is the label furthest from its shuffled values, in their standard deviations. `p` is the chance
    that any label is as far, `q` p after correction. If profiles cannot be shuffled, `test` is "jackknife":
    p comes from leaving out each rater, or `reason` states why there is none. `mean` is the shift of the mean
    if labels are ordered or numbers. `reason` explains missing values, `no_interval` missing intervals.
    `p_interval` and `q_interval` while permutations continue, `fit` and `no_fit`: as in :class:`Outcome`.
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
"""Statistics of a pair, each with the statistic of groups that a spec names to ask for it."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two groups of one axis or intersection, compared only with each other.

    `statistics` has the :data:`PAIR_STATISTICS` that were asked for; `label_use` compares `a` with `b`. All
    are tested by shuffling profiles within the two groups alone. The `verdict` is on all tests together,
    corrected over all pairs of the run; results of earlier versions and of unfinished runs have none.
    """

    a: Group
    b: Group
    n_raters_a: int
    n_raters_b: int
    statistics: Mapping[str, Outcome]
    label_use: LabelUse | None = None
    verdict: Verdict | None = field(default=None, metadata=ADDED)

    def turned(self) -> PairResult:
        """Return the same pair with `a` and `b` exchanged."""
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
    """Return the outcome of the negative value."""
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
