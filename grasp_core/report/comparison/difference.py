"""The interval of a difference between two runs, from the intervals of the two values."""

from __future__ import annotations

import math

from grasp_core.outcome import Interval, Outcome


def difference(a: Outcome, b: Outcome) -> Interval | None:
    r"""The 95 % interval of b − a; None where either has none, or they are for different things.

    Notes
    -----
    Ends are put together as those of independent values are (MOVER; Zou and Donner 2008): with value
    :math:`x` in :math:`[l, u]`, the lower end lies :math:`\sqrt{(x_b - l_b)^2 + (u_a - x_a)^2}` below the
    difference, the upper one :math:`\sqrt{(u_b - x_b)^2 + (x_a - l_a)^2}` above. Two runs that share raters
    or items move together, so that it is wider than need be.

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.
    """
    one, other = a.interval, b.interval
    if a.value is None or b.value is None or one is None or other is None or one.target != other.target:
        return None
    moved = b.value - a.value
    below = math.hypot(b.value - other.low, one.high - a.value)
    above = math.hypot(other.high - b.value, a.value - one.low)
    return Interval(moved - below, moved + above, other.target)
