"""Small p-values from a curve through the tail of a null distribution (docs/methods.md, "Small p")."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from grasp_core.model.annotations import FloatArray
from grasp_core.model.outcome import Outcome, TailFit
from grasp_core.model.remarks.reasons import NoFit
from grasp_core.model.remarks.remark import Remark
from grasp_core.permutation.nulls.deviations import Extremes, Moments, Tail
from grasp_core.permutation.nulls.values import Null
from grasp_core.permutation.testing.tests import Tests

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

    Parameters
    ----------
    slope : float
        Shape over scale.
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

        Notes
        -----
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

    Parameters
    ----------
    outcome : Outcome
        With its counted p.
    tests : Tests
        With `regroupings`.
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

    Returns
    -------
    (float, int), or Remark
        Why no curve goes through.

    Notes
    -----
    The curve is a generalised Pareto distribution of the exceedances, not as they are but as minus the
    logarithm of how often a gamma distribution of the same mean, deviation and skewness goes as far (Pearson
    III). Where that is right they are exponential, whose shape is 0, and the shape is held near 0 by a prior.

    References
    ----------
    Knijnenburg et al. (2009), Bioinformatics 25; Winkler et al. (2016), NeuroImage 141; Peschel et al.
    (2026), arXiv:2602.22975; Stephens (1974), JASA 69.
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
