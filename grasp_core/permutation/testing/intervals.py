"""Intervals of the p-value that endless permutations would give, by Clopper and Pearson (1934)."""

from __future__ import annotations

from grasp_core.permutation.nulls.tails import FEWEST, Tail, Tails

Interval = tuple[float, float]


def p_interval(found: Tails, tail: Tail, miss: float, final: bool) -> Interval | None:
    """Interval of the p-value of endless permutations; None where `final` and there will be no p-value.

    Parameters
    ----------
    found : Tails
    tail : {"two-sided", "upper", "paper"}
    miss : float
        Probability, at most, with which each end is wrong.
    final : bool
        Whether this is the end, and a test with too few shuffled values will not get a p-value any more.
    """
    if found.n < FEWEST:
        return None if final or found.n == 0 else (0.0, 1.0)
    n = found.n
    if tail == "upper":
        return share_interval(found.high, n, miss)
    if tail == "two-sided":
        lows, highs = zip(
            share_interval(found.low, n, miss), share_interval(found.high, n, miss), strict=True
        )
        return min(1.0, 2 * min(lows)), min(1.0, 2 * min(highs))
    beyond = {True: share_interval(n - found.high, n, miss), False: share_interval(n - found.low, n, miss)}
    below = share_interval(found.low, n, miss)  # the side it is on: #{s* <= s} against half of all
    sides = [beyond[True]] * (below[0] <= 0.5) + [beyond[False]] * (below[1] >= 0.5)
    return min(low for low, _ in sides), max(high for _, high in sides)


def share_interval(count: int, n: int, miss: float) -> Interval:
    """Clopper and Pearson's interval of a share; each end is wrong with probability `miss` at most."""
    from scipy.special import betaincinv  # takes a tenth of a second to load, and fixed runs do without

    low = betaincinv(count, n - count + 1, miss) if count > 0 else 0.0
    high = betaincinv(count + 1, n - count, 1 - miss) if count < n else 1.0
    return float(low), float(high)
