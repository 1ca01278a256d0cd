"""p-values and corrections by naive loops, and numbers with ties to try them on."""

import math
import statistics

import numpy as np
from hypothesis import strategies as st

GRID = st.integers(-8, 8).map(lambda number: number / 4)
JITTER = st.sampled_from([0.0, 1e-13, -1e-13])


def tied(a: float, observed: float) -> bool:
    return abs(a - observed) <= 1e-12 * max(1.0, abs(observed))


def naive_two_sided(observed: float, null: list[float]) -> float:
    low = sum(value < observed or tied(value, observed) for value in null)
    high = sum(value > observed or tied(value, observed) for value in null)
    size = len(null) + 1
    return min(1.0, 2 * min((1 + low) / size, (1 + high) / size))


def naive_upper(observed: float, null: list[float]) -> float:
    return (1 + sum(value >= observed - 1e-12 for value in null)) / (len(null) + 1)


def naive_paper(observed: float, null: list[float]) -> float:
    middle = sorted(null)[len(null) // 2]
    if observed < middle and not tied(middle, observed):
        return sum(value < observed and not tied(value, observed) for value in null) / len(null)
    return sum(value > observed and not tied(value, observed) for value in null) / len(null)


def naive_step_up(p: list[float | None], harmonic: bool) -> list[float | None]:
    """q_i = min over tests with p_j >= p_i of p_j m / rank_j, times sum 1/k for Yekutieli; at most 1."""
    tested = [value for value in p if value is not None]
    m = len(tested)
    factor = sum(1 / k for k in range(1, m + 1)) if harmonic else 1.0

    def q(value: float | None) -> float | None:
        if value is None:
            return None
        ranks = [(other, sum(third <= other for third in tested)) for other in tested if other >= value]
        return min(1.0, *(other * m * factor / rank for other, rank in ranks))

    return [q(value) for value in p]


def naive_max_t(observed, null, upper=()) -> list[float]:
    centre, scale = [], []
    for t in range(null.shape[1]):
        values = [value for value in null[:, t] if not math.isnan(value)]
        centre.append(sum(values) / len(values))
        scale.append(math.sqrt(sum((value - centre[t]) ** 2 for value in values) / len(values)))

    def deviation(value: float, t: int) -> float:
        if math.isnan(value):
            return -math.inf if upper and upper[t] else 0.0
        if scale[t] < 1e-12:
            return 0.0
        found = (value - centre[t]) / scale[t]
        return found if upper and upper[t] else abs(found)

    largest = [max(deviation(value, t) for t, value in enumerate(row)) for row in null]
    return [
        (1 + sum(reach >= deviation(value, t) - 1e-12 for reach in largest)) / (len(null) + 1)
        for t, value in enumerate(observed)
    ]


def naive_dsi(
    observed: np.ndarray, null: np.ndarray, members: list[int], first: int | None = None
) -> tuple[int, float, int]:
    """Attaining group, p of the largest studentised GAI, and how many permutations had one.

    Means and deviations are those of the `first` permutations.
    """
    attaining = max((g for g in members if observed[g] == observed[g]), key=lambda g: observed[g])
    centre, scale = {}, {}
    for g in members:
        own = [value for value in null[:first, g] if value == value]
        centre[g] = statistics.fmean(own) if len(own) >= 100 else 0.0
        scale[g] = statistics.pstdev(own) if len(own) >= 100 else math.inf

    def largest(row: np.ndarray) -> float | None:
        return max(((row[g] - centre[g]) / scale[g] for g in members if row[g] == row[g]), default=None)

    here = largest(observed)
    found = [value for value in map(largest, null) if value is not None]
    reached = sum(value >= here - 1e-12 for value in found)
    return attaining, (1 + reached) / (len(found) + 1), len(found)
