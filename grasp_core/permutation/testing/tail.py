"""Small p-values beyond the permutations that were drawn, and which can be reached at all."""

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
    """What the permutations of a run leave of its groups.

    `log_regroupings`, shape (G,): see :func:`log_regroupings`.
    `least_p`, shape (G,): see :func:`smallest_p`; 1 where nothing moves.
    `least_of_one_tail`, shape (G,): the same of tests in which large values alone count, such as those of
        distance and label use.
    """

    exchange: Exchange
    log_regroupings: FloatArray
    least_p: FloatArray
    least_of_one_tail: FloatArray

    @classmethod
    def of(cls, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> Self:
        """Those of some groups; errors are those of :func:`~grasp_core.permutation.draw.exchange_of`."""
        exchange = exchange_of(raters, spec)
        found = log_regroupings(grouping, exchange)
        return cls(exchange, found, smallest_p(found, spec.p_value), smallest_p(found, "upper"))

    @property
    def n_fixed(self) -> int:
        """Raters of clusters that change places with no other."""
        return self.exchange.n_fixed


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """What is known of the null distributions of groups (docs/methods.md, "Mirrored regroupings").

    `like`, shape (G,): the first group of the same axis that has as many raters in every stratum: what is
        computed of a group has the same null distribution for both.
    `centred`, shape (G,): groups that give no label more often than their others on average over all
        regroupings.
    """

    like: Int64Array
    centred: BoolArray

    @classmethod
    def of(cls, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> Self:
        """That of groups under the shuffles of a spec; errors are those of its exchange.

        Where everybody changes places with everybody, the expected number of each label is the group's share
        of all. Else it is that where half of the raters of each stratum are the group's. Of clusters that
        change places rater by rater neither is known.
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
    """What curves through tails need of the shuffles, shape (G,): None where the spec asks for none."""
    return Shuffles.of(raters, grouping, spec).log_regroupings if spec.tail else None


def log_regroupings(grouping: Grouping, exchange: Exchange) -> FloatArray:
    """The logarithm of the number of ways in which profiles can make each group and its others, shape (G,).

    For each step of the shuffle it is a multinomial coefficient: of n blocks, the ways to hand out what they
    hold, where blocks that hold the same are not told apart. Steps multiply.
    """
    others = np.array([grouping.complement(g) for g in range(len(grouping.groups))], dtype=np.bool_)
    sides = (grouping.member + 2 * others.reshape(grouping.member.shape))[:, exchange.order]
    found = _of_single_raters(sides, exchange.bounds)
    for first, end, width in exchange.bounds[exchange.bounds[:, 2] > 1].tolist():
        blocks = sides[:, first:end].reshape(len(found), -1, width)
        found += [_log_ways(np.unique(of_group, axis=0, return_counts=True)[1]) for of_group in blocks]
    return found


def smallest_p(log_regroupings: FloatArray, tail: Tail) -> FloatArray:
    """The smallest p that so many regroupings can give, shape (G,): 2 / C, or 1 / C of one tail.

    Permutations drawn at random make each regrouping about as often as the others, so a p may fall a little
    below. The paper's, which leaves the observed grouping out, may be 0 too.
    """
    tails = 2 if tail == "two-sided" else 1
    return np.asarray(np.minimum(tails * np.exp(-log_regroupings), 1.0))


def check_something_moves(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> None:
    """Refuse axes whose every group stays as it is in all permutations.

    Raises SpecError if strata or clusters leave nothing to shuffle, with the axes that this is true of.
    """
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
    """Whether clusters that could only change places with others of their size have none."""
    if spec.cluster is None or not axes_in_clusters(raters, spec)[1]:
        return False
    first, end, width = exchange_of(raters, spec).bounds.T
    return bool((end - first == width).all())


def axes_that_stay(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> list[AxisSet]:
    """Those of the spec's axes and intersections of which strata or clusters leave every group as it is."""
    if not spec.strata and spec.cluster is None:
        return []
    free = log_regroupings(grouping, exchange_of(raters, AnalysisSpec(axes=spec.axes)))
    left = log_regroupings(grouping, exchange_of(raters, spec))
    return [axes for axes in spec.axes if _stays(axes, grouping, free, left)]


def _of_single_raters(sides: Int64Array, bounds: Int64Array) -> FloatArray:
    """Of the steps whose blocks are one rater each; there may be many such steps. Shape (G,)."""
    single = bounds[bounds[:, 2] == 1]
    sizes = single[:, 1] - single[:, 0]
    step = np.repeat(np.arange(len(single)), sizes)
    places = np.concatenate([np.arange(first, end) for first, end, _ in single.tolist()] or [step])
    cells = 3 * step + sides[:, places].astype(np.int64)
    counts = [np.bincount(of_group, minlength=3 * len(single)) for of_group in cells]
    # By step, so that one that moves nothing adds 0 and no rounding.
    return np.array(
        [(gammaln(sizes + 1) - gammaln(of.reshape(-1, 3) + 1).sum(axis=1)).sum() for of in counts]
    )


def _log_ways(counts: Int64Array) -> float:
    """The logarithm of a multinomial coefficient."""
    return float(gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())


def _stays(axes: AxisSet, grouping: Grouping, free: FloatArray, left: FloatArray) -> bool:
    """Whether an axis set has groups that could be shuffled, and none of them is."""
    own = [g for g, group in enumerate(grouping.groups) if group.axes == axes]
    return bool(free[own].any() and not left[own].any())


ENOUGH = 10
"""Where so many shuffled values reach the observed one, counting them is precise enough."""
REACH = 100
"""No p of one tail is below 1 / (REACH times the shuffled values): further out no curve was ever measured."""
EXCEEDANCES = (500, 250, 125, 62)
"""Values that a curve goes through: as many as it goes through well, of at most a tenth of all values."""
PRIOR = 0.05
"""Standard deviation, around 0, of the normal prior of the shape."""
MARGIN = 0.05
"""How far beyond the observed value, as a share of the way there, a curve with an end reaches at least."""
REJECTED = 1.321
"""5 % point of Anderson and Darling's statistic, for exponential values whose mean is estimated."""
STEEPEST = 0.5
"""Largest shape over scale, in means of the exceedances, that is tried."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A generalised Pareto distribution of what exceeds a threshold.

    `slope`: shape over scale.
    """

    slope: float
    scale: float
    exceedances: int

    def survival(self, excess: FloatArray | float) -> FloatArray:
        """Share of exceedances that go as far."""
        if abs(self.slope) < 1e-9:
            return np.asarray(np.exp(-np.asarray(excess) / self.scale))
        return np.asarray(np.exp(-np.log1p(self.slope * np.asarray(excess)) / (self.slope * self.scale)))

    @classmethod
    def through(cls, excess: FloatArray, reach: float) -> Self:
        """The penalised maximum likelihood's, of exceedances (n,), whose support holds `reach` with a margin.

        For a given slope the scale solves n s - sum(log(1 + slope y)) / slope + slope^2 s^3 / PRIOR^2 = 0,
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
        """Whether exceedances, in descending order, look like draws from it (Anderson and Darling)."""
        beyond = np.clip(self.survival(excess), 1e-300, 1 - 1e-16)
        ranks = np.arange(1, excess.size + 1)
        below = np.log1p(-beyond)[::-1]  # ascending values: log F of each, and log (1 - F) from the other end
        squared = -excess.size - float(((2 * ranks - 1) * (below + np.log(beyond))).sum()) / excess.size
        return squared * (1 + 0.6 / excess.size) <= REJECTED


def with_tail(outcome: Outcome, tests: Tests, null: Null, column: int, tail: Tail) -> Outcome:
    """An outcome whose p is that of a curve through the tail, if fewer than :data:`ENOUGH` values go as far.

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
    """The smallest p of one tail that regroupings of the column's units allow."""
    if tests.regroupings is None:
        return 0.0
    return math.exp(-float(tests.regroupings[tests.needs[column]].max()))


def share_beyond(observed: float, extremes: Extremes) -> tuple[float, int] | Remark:
    """Share of shuffled values beyond the observed one, by a curve, and through how many values it goes.

    Returns why no curve goes through.

    The curve is a generalised Pareto distribution of the exceedances, not as they are but as minus the
    logarithm of how often a gamma distribution of the same mean, deviation and skewness goes as far (Pearson
    III). Where that is right they are exponential, whose shape is 0, and the shape is held near 0 by a prior.

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
    """Through how many values a curve goes well, wherever the observed one lies."""
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
    """Minus the logarithm of a gamma distribution's survival, at the observed value and then at the others.

    Where skewness is negative the distribution has an end; it is then made less skew until the end lies
    beyond all of these by a margin.
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
