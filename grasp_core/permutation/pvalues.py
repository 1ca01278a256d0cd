"""p-values from shuffled statistics (METHODS section 5)."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.spec import PValue

TIE_TOLERANCE = 1e-12
"""Values this close, relative to max(1, |observed|), are ties: rounding must not decide a test."""

FEWEST = 100
"""With fewer estimable shuffled values there is no p-value."""


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
    if null.size < FEWEST:
        return None
    if convention == "two-sided":
        return min(1.0, 2 * min(upper_tail(observed, null), upper_tail(-observed, -null)))
    tolerance = _tolerance(observed)
    if below(observed, median(null)):
        return float(np.count_nonzero(null < observed - tolerance)) / null.size
    return float(np.count_nonzero(null > observed + tolerance)) / null.size


def upper_tail(observed: float, null: FloatArray) -> float:
    """(1 + #{s* >= s}) / (B + 1)."""
    return float(1 + np.count_nonzero(null >= observed - _tolerance(observed))) / (null.size + 1)


def below(observed: float, middle: float) -> bool:
    """Whether the observed value lies below the null's median; a tie does not."""
    return observed < middle - _tolerance(observed)


def _tolerance(observed: float) -> float:
    return TIE_TOLERANCE * max(1.0, abs(observed))
