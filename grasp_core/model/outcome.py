"""What was found of one value: held against its null distribution, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from grasp_core.model.json_values import ADDED
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import IntervalTarget

Direction = Literal["up", "down"]
Significance = Literal["none", "nominal", "corrected"]
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
    there is none. `p` is two-sided. `null` is kept of the label that differs most, and of the mean.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    null: Histogram | None = field(default=None, metadata=ADDED)


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
