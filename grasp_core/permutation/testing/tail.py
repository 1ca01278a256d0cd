"""Small p-values from a curve through the tail, and the smallest p that the regroupings allow."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import gammaln

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Grouping
from grasp_core.model.outcome import Outcome, TailFit
from grasp_core.model.remarks.reasons import NoFit
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import Exchange, axes_in_clusters, exchange_of
from grasp_core.permutation.testing.families import Tests
from grasp_core.permutation.testing.p_values import Extremes, Moments, Null, Tail


@dataclass(frozen=True, slots=True, eq=False)
class Shuffles:
    """A run's exchange of profiles, and for each group the regroupings that are possible and the least p.

    `log_regroupings`, shape (G,): see :func:`log_regroupings`.
    `least_p`, shape (G,): see :func:`smallest_p`; 1 if nothing moves.
    `least_of_one_tail`, shape (G,): the same for tests in which only large values count, such as the tests
        of distance and label use.
    """

    exchange: Exchange
    log_regroupings: FloatArray
    least_p: FloatArray
    least_of_one_tail: FloatArray

    @classmethod
    def of(cls, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> Self:
        """Compute these for some groups; raises as :func:`~grasp_core.permutation.draw.exchange_of`."""
        exchange = exchange_of(raters, spec)
        found = log_regroupings(grouping, exchange)
        return cls(exchange, found, smallest_p(found, spec.p_value), smallest_p(found, "upper"))

    @property
    def n_fixed(self) -> int:
        """Number of raters in clusters that cannot change places with another."""
        return self.exchange.n_fixed


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """Symmetries of groups' null distributions (docs/methods.md, "Mirrored regroupings").

    `like`, shape (G,): the first group of the same axis that has as many raters in every stratum; statistics
        of both have the same null distribution.
    `centred`, shape (G,): true if, on average over all regroupings, the group gives no label more often than
        the others.
    """

    like: Int64Array
    centred: BoolArray

    @classmethod
    def of(cls, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> Self:
        """Find the symmetries of groups under the shuffles of a spec; raises as the spec's exchange.

        If everybody changes places with everybody, a group's expected number of each label is its share of
        all labels, so it is centred. With strata, this is so if half of the raters of each stratum are in the
        group. For clusters that change places rater by rater, neither symmetry is known.
        """
        exchange = exchange_of(raters, spec)
        steps = exchange.bounds[exchange.bounds[:, 2] > 0]
        order = exchange.order[: steps[-1, 1]]
        inside = np.add.reduceat(grouping.member[:, order], steps[:, 0], axis=1, dtype=np.int64)
        n_groups = len(inside)
        if (steps[:, 2] > 1).any():
            return cls(np.arange(n_groups), np.zeros(n_groups, np.bool_))
        centred = np.ones(n_groups, np.bool_)
        if len(steps) > 1:
            known = np.add.reduceat(grouping.known[:, order], steps[:, 0], axis=1, dtype=np.int64)
            centred = (2 * inside == known[grouping.known_of]).all(axis=1)
        first: dict[object, int] = {}
        keys = zip((group.axes for group in grouping.groups), map(tuple, inside.tolist()), strict=True)
        like = [first.setdefault(key, g) for g, key in enumerate(keys)]
        return cls(np.array(like, np.int64), centred)


def regroupings(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> FloatArray | None:
    """Return :func:`log_regroupings` for curves through tails, shape (G,); None if the spec asks for none."""
    return Shuffles.of(raters, grouping, spec).log_regroupings if spec.tail else None


def log_regroupings(grouping: Grouping, exchange: Exchange) -> FloatArray:
    """Return the logarithm of the number of possible regroupings of each group and its others, shape (G,).

    Each step of the shuffle has a multinomial coefficient: the number of ways to distribute the contents of n
    blocks, where blocks of equal content count as the same. The coefficients of steps are multiplied.
    """
    others = np.array([grouping.complement(g) for g in range(len(grouping.groups))], dtype=np.bool_)
    sides = (grouping.member + 2 * others.reshape(grouping.member.shape))[:, exchange.order]
    found = _of_single_raters(sides, exchange.bounds)
    for first, end, width in exchange.bounds[exchange.bounds[:, 2] > 1].tolist():
        blocks = sides[:, first:end].reshape(len(found), -1, width)
        found += [_log_ways(np.unique(of_group, axis=0, return_counts=True)[1]) for of_group in blocks]
    return found


def smallest_p(log_regroupings: FloatArray, tail: Tail) -> FloatArray:
    """Return the smallest p that so many regroupings C allow, shape (G,): 2 / C, or 1 / C for one tail.

    Random permutations give it only about, and the paper's p, without the observed grouping, may be 0.
    """
    tails = 2 if tail == "two-sided" else 1
    return np.asarray(np.minimum(tails * np.exp(-log_regroupings), 1.0))


def check_something_moves(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> None:
    """Raise SpecError if strata or clusters leave nothing to shuffle for some axes."""
    stuck = axes_that_stay(raters, grouping, spec)
    if not stuck:
        return
    if _sizes_differ(raters, spec):
        raise SpecError(
            f"each {spec.cluster} has a size of its own, and since raters of one differ on what is tested, "
            "only those of equal size can change places: nothing moves. Leave clusters out and shuffle "
            f"within {spec.cluster}, or merge them to equal sizes"
        )
    why = " and ".join(
        [
            *([f"the strata of {', '.join(spec.strata)}"] if spec.strata else []),
            *([f"the clusters of {spec.cluster}"] if spec.cluster is not None else []),
        ]
    )
    named = ", ".join(" x ".join(axes) for axes in stuck)
    raise SpecError(
        f"{why} leave nothing to shuffle for {named}: whoever may change places has the same values there; "
        "choose coarser ones, or leave these axes out"
    )


def _sizes_differ(raters: Raters, spec: AnalysisSpec) -> bool:
    """Return whether clusters may only change places with clusters of equal size and there are none."""
    if spec.cluster is None or not axes_in_clusters(raters, spec)[1]:
        return False
    first, end, width = exchange_of(raters, spec).bounds.T
    return bool((end - first == width).all())


def axes_that_stay(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> list[AxisSet]:
    """Return the spec's axes and intersections whose groups cannot change because of strata or clusters."""
    if not spec.strata and spec.cluster is None:
        return []
    free = log_regroupings(grouping, exchange_of(raters, AnalysisSpec(axes=spec.axes)))
    left = log_regroupings(grouping, exchange_of(raters, spec))
    return [axes for axes in spec.axes if _stays(axes, grouping, free, left)]


def _of_single_raters(sides: Int64Array, bounds: Int64Array) -> FloatArray:
    """Return the logarithm for steps whose blocks are single raters, perhaps many steps, shape (G,)."""
    single = bounds[bounds[:, 2] == 1]
    sizes = single[:, 1] - single[:, 0]
    step = np.repeat(np.arange(len(single)), sizes)
    places = np.concatenate([np.arange(first, end) for first, end, _ in single.tolist()] or [step])
    cells = 3 * step + sides[:, places].astype(np.int64)
    counts = [np.bincount(of_group, minlength=3 * len(single)) for of_group in cells]
    # By step, so that a step that moves nothing adds exactly 0.
    return np.array(
        [(gammaln(sizes + 1) - gammaln(of.reshape(-1, 3) + 1).sum(axis=1)).sum() for of in counts]
    )


def _log_ways(counts: Int64Array) -> float:
    """Return the logarithm of a multinomial coefficient."""
    return float(gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())


def _stays(axes: AxisSet, grouping: Grouping, free: FloatArray, left: FloatArray) -> bool:
    """Return whether an axis set has groups that could change freely, and none of them does."""
    own = [g for g, group in enumerate(grouping.groups) if group.axes == axes]
    return bool(free[own].any() and not left[own].any())


ENOUGH = 10
"""Number of shuffled values beyond the observed one with which counting is precise enough."""
REACH = 100
"""Limit of the curves: a one-tailed p is at least 1 / (REACH times the shuffled values); less is untested."""
EXCEEDANCES = (500, 250, 125, 62)
"""Numbers of values to fit a curve to: the first with a good fit, and at most a tenth of all values."""
PRIOR = 0.05
"""Standard deviation of the shape's normal prior, which has mean 0."""
MARGIN = 0.05
"""Least distance from the observed value to a curve's end, as a share of the way to that value."""
REJECTED = 1.321
"""Critical value (5 %) of Anderson and Darling's statistic, for exponential values with estimated mean."""
STEEPEST = 0.5
"""Largest ratio of shape to scale that is tried, in means of the exceedances."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A generalised Pareto distribution of the exceedances of a threshold.

    `slope`: shape divided by scale.
    """

    slope: float
    scale: float
    exceedances: int

    def survival(self, excess: FloatArray | float) -> FloatArray:
        """Return the share of exceedances that are at least as large."""
        if abs(self.slope) < 1e-9:
            return np.asarray(np.exp(-np.asarray(excess) / self.scale))
        return np.asarray(np.exp(-np.log1p(self.slope * np.asarray(excess)) / (self.slope * self.scale)))

    @classmethod
    def through(cls, excess: FloatArray, reach: float) -> Self:
        """Fit a curve to exceedances (n,) by penalised maximum likelihood; `reach` stays inside its support.

        For a given slope, the scale solves n s - sum(log(1 + slope y)) / slope + slope^2 s^3 / PRIOR^2 = 0,
        which has one positive root.
        """
        from scipy.optimize import minimize_scalar  # takes a while to load, and most runs do without

        unit, n = float(excess.mean()), excess.size
        y = excess / unit

        def scale_of(slope: float, total: float) -> float:
            cubic = (slope / PRIOR) ** 2
            scale = total / n
            for _ in range(30 if cubic else 0):  # Newton from above the root of a convex function
                scale -= (n * scale - total + cubic * scale**3) / (n + 3 * cubic * scale**2)
            return scale

        def fitted(slope: float) -> tuple[float, float]:
            logs = np.log1p(slope * y).sum()
            total = float(y.sum() if abs(slope) < 1e-9 else logs / slope)
            scale = scale_of(slope, total)
            return n * math.log(scale) + total / scale + logs + (slope * scale / PRIOR) ** 2 / 2, scale

        lowest = -1 / ((1 + MARGIN) * max(reach / unit, float(y.max())))
        found = minimize_scalar(
            lambda slope: fitted(slope)[0],
            bounds=(lowest, STEEPEST),
            method="bounded",
            options={"xatol": 1e-9},
        )
        slope = float(found.x)
        return cls(slope / unit, fitted(slope)[1] * unit, n)

    def fits(self, excess: FloatArray) -> bool:
        """Return whether exceedances, in descending order, fit the curve (Anderson and Darling's test)."""
        beyond = np.clip(self.survival(excess), 1e-300, 1 - 1e-16)
        ranks = np.arange(1, excess.size + 1)
        below = np.log1p(-beyond)[::-1]  # ascending values: log F of each, and log (1 - F) from the other end
        squared = -excess.size - float(((2 * ranks - 1) * (below + np.log(beyond))).sum()) / excess.size
        return squared * (1 + 0.6 / excess.size) <= REJECTED


def with_tail(outcome: Outcome, tests: Tests, null: Null, column: int, tail: Tail) -> Outcome:
    """Return the outcome with p from a curve through the tail, if fewer than :data:`ENOUGH` values reach it.

    `outcome`: with its counted p.
    `tests`: with `regroupings`.
    """
    found = tests.tails(null, column)
    upper = tail == "upper" or found.high <= found.low
    counted, value = outcome.p, outcome.value
    if counted is None or value is None or (found.high if upper else found.low) >= ENOUGH:
        return outcome
    if column in tests.largest:
        observed, extremes = null.largest(tests.largest[column])
    else:
        observed, extremes = (value if upper else -value), null.extremes(column, upper=upper)
    share = share_beyond(observed, extremes)
    if isinstance(share, Remark):
        return dataclasses.replace(outcome, no_fit=share)
    below, exceedances = share
    least = max(1 / (REACH * found.n), _least(tests, column))
    p = (1 if tail == "upper" else 2) * max(min(below, ENOUGH / (found.n + 1)), least)
    return dataclasses.replace(outcome, p=min(1.0, p), fit=TailFit(counted, exceedances, below < least))


def _least(tests: Tests, column: int) -> float:
    """Return the smallest one-tailed p that regroupings of the column's units allow."""
    if tests.regroupings is None:
        return 0.0
    return math.exp(-float(tests.regroupings[tests.needs[column]].max()))


def share_beyond(observed: float, extremes: Extremes) -> tuple[float, int] | Remark:
    """Return the share of shuffled values beyond the observed one by a curve, and the number it is fitted to.

    Returns the reason instead if no curve fits.

    The curve is a generalised Pareto distribution of transformed exceedances: minus the logarithm of the
    survival of a gamma distribution with the same mean, deviation and skewness (Pearson III). If that
    distribution is right, these are exponential, with shape 0; a prior keeps the shape near 0.

    Source: Knijnenburg et al. (2009), Bioinformatics 25; Winkler et al. (2016), NeuroImage 141; Peschel et
    al. (2026), arXiv:2602.22975; Stephens (1974), JASA 69.
    """
    n = _exceedances(extremes)
    if isinstance(n, Remark):
        return n
    heights = pearson_heights(extremes.values, observed, extremes.moments)
    reach = min(float(heights[0] - heights[n + 1]), float(np.finfo(np.float64).max))
    curve = Curve.through(heights[1 : n + 1] - heights[n + 1], reach)
    return n / extremes.n * float(curve.survival(reach)), n


def _exceedances(extremes: Extremes) -> int | Remark:
    """Return the number of values that a curve fits well, whatever the observed value."""
    allowed = [n for n in EXCEEDANCES if 10 * n <= extremes.n and n < extremes.values.size]
    if not allowed:
        return NoFit.FEW_FOR_TAIL(shuffled=extremes.n, least=10 * EXCEEDANCES[-1])
    if extremes.moments.deviation > 0:
        heights = pearson_heights(extremes.values, -math.inf, extremes.moments)[1:]
        for n in allowed:
            excess = heights[:n] - heights[n]
            if excess[-1] > 0 and math.isfinite(excess[0]) and Curve.through(excess, 0.0).fits(excess):
                return n
    return NoFit.NO_CURVE()


def pearson_heights(values: FloatArray, observed: float, moments: Moments) -> FloatArray:
    """Return minus the logarithm of a gamma distribution's survival: at the observed value, then at `values`.

    With negative skewness the distribution has an end. The skewness is then reduced until the end is beyond
    all these values by a margin.
    """
    from scipy.special import gammainc, gammaincc, log_ndtr

    z = (np.concatenate([[observed], values]) - moments.mean) / moments.deviation
    skewness = moments.skewness
    if skewness < 0:
        skewness = max(skewness, -2 * (1 - MARGIN) / max(float(z.max()), 1.0))
    if abs(skewness) < 1e-3:
        return np.asarray(-log_ndtr(-z))
    shape = 4 / skewness**2
    at = np.maximum(shape + math.copysign(math.sqrt(shape), skewness) * z, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(gammaincc(shape, at) if skewness > 0 else gammainc(shape, at)))
