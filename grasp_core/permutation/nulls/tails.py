"""p-values from shuffled statistics (docs/methods.md, "Observed against shuffled")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.spec import PValue

TIE_TOLERANCE = 1e-12
"""Values this close, relative to max(1, |observed|), are ties: rounding must not decide a test."""

FEWEST = 100
"""With fewer estimable shuffled values there is no p-value."""

Tail = PValue | Literal["upper"]
"""How a p-value is taken: by a convention, or of large values alone."""


@dataclass(frozen=True, slots=True)
class Tails:
    """Where an observed value lies among its shuffled ones; all that a p-value needs.

    Parameters
    ----------
    n : int
        Estimable shuffled values.
    low, high : int
        Those at or below the observed value and those at or above it; ties count in both.
    """

    n: int
    low: int
    high: int

    @property
    def below(self) -> bool:
        """Whether the observed value lies below the null's median; a tie does not.

        Notes
        -----
        The median is element floor(n / 2) in ascending order. It lies above the observed value just where
        elements 0 to floor(n / 2) do not all lie at or below it: where #{s* <= s} <= floor(n / 2).
        """
        return self.low <= self.n // 2

    @property
    def p_high(self) -> float:
        """(1 + #{s* >= s}) / (n + 1)."""
        return (1 + self.high) / (self.n + 1)

    def p(self, tail: Tail) -> float | None:
        """See :func:`p_value`; "upper" is :attr:`p_high`."""
        if self.n < FEWEST:
            return None
        if tail == "upper":
            return self.p_high
        if tail == "two-sided":
            return min(1.0, 2 * min((1 + self.low) / (self.n + 1), self.p_high))
        strictly_beyond = self.n - (self.high if self.below else self.low)
        return strictly_beyond / self.n


def tails(observed: float, null: FloatArray) -> Tails:
    """Count the shuffled values, shape (B,), on either side of the observed one; NaN is left out."""
    margin = float(tolerance(observed))
    return Tails(
        int(np.count_nonzero(~np.isnan(null))),
        int(np.count_nonzero(null <= observed + margin)),
        int(np.count_nonzero(null >= observed - margin)),
    )


def median(null: FloatArray) -> float:
    """Element floor(B / 2) of the shuffled values in ascending order.

    Parameters
    ----------
    null : float array, shape (B,), B >= 1, without NaN
    """
    middle = null.size // 2
    return float(np.partition(null, middle)[middle])


def p_value(observed: float, null: FloatArray, convention: PValue) -> float | None:
    """Probability, under the null hypothesis, of a value as extreme as the observed one.

    Parameters
    ----------
    observed : float
    null : float array, shape (B,), without NaN
    convention : {"two-sided", "paper"}
        "two-sided" is min(1, 2 min(p_low, p_high)), each tail (1 + #ties and beyond) / (B + 1); it is
        never 0 and valid at every level. "paper" is the share of values strictly beyond the observed
        one on its own side of the median; choosing the side from the data, it rejects about twice as
        often as its level says.

    Returns
    -------
    float or None
        None where fewer than 100 shuffled values are estimable.
    """
    return tails(observed, null).p(convention)


def tolerance(observed: FloatArray | float) -> FloatArray:
    """How far from each observed value, of any shape, a shuffled one may be and still be a tie."""
    return np.asarray(TIE_TOLERANCE * np.maximum(1.0, np.abs(observed)))
