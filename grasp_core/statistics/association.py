"""Association of axes, GAI and DSI, and statistics over several questions."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from grasp_core.model.annotations import Axis, FloatArray, Int64Array
from grasp_core.model.remarks.remark import Remark
from grasp_core.statistics.items import NotEstimableError

_FEWEST_DRAWS, _MOST_CELLS = 999, 4_000_000


def cross_table(first: Axis, second: Axis) -> Int64Array:
    """Count the raters known on both axes by their values on each, shape (R, C)."""
    known = (first.codes >= 0) & (second.codes >= 0)
    cell = first.codes[known].astype(np.int64) * len(second.values) + second.codes[known]
    shape = (len(first.values), len(second.values))
    return np.bincount(cell, minlength=math.prod(shape)).reshape(shape)


def chance_of(table: Int64Array, draws: int = 9_999, seed: int = 1) -> float:
    """Return p of independence: how often random tables of the same margins are as far from it.

    Parameters
    ----------
    table : int array, shape (R, C)
        At least two rows and two columns must have a count above 0.
    draws : int
        Number of random tables; fewer are drawn if the table is large.
    seed : int

    Notes
    -----
    p of Pearson's chi-square is (1 + #) / (1 + draws). A random table is the one that results if the values
    of one axis are shuffled among the raters.
    """
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / table.sum()
    draws = min(draws, max(_FEWEST_DRAWS, _MOST_CELLS // table.size))
    drawn = _of_margins(rows, columns, draws, np.random.default_rng(seed))
    own, others = (((one - expected) ** 2 / expected).sum(axis=(-2, -1)) for one in (table, drawn))
    return float((1 + (others >= own - 1e-9).sum()) / (1 + draws))


def _of_margins(rows: Int64Array, columns: Int64Array, draws: int, chance: np.random.Generator) -> Int64Array:
    """Draw random tables of these margins, shape (draws, R, C): cell after cell, hypergeometric.

    SciPy's `random_table` draws from the same distribution; it takes half a second to load.
    """
    drawn = np.empty((draws, len(rows), len(columns)), dtype=np.int64)
    left = np.tile(columns, (draws, 1))
    for row, size in enumerate(rows):
        wanted, others = np.full(draws, size), left.sum(axis=1)
        for column in range(len(columns)):
            others -= left[:, column]
            drawn[:, row, column] = chance.hypergeometric(left[:, column], others, wanted)
            wanted -= drawn[:, row, column]
        left -= drawn[:, row]
    return drawn


def corrected_v(table: Int64Array) -> float | None:
    """Bias-corrected Cramér's V of a cross table.

    Parameters
    ----------
    table : int array, shape (R, C)

    Returns
    -------
    float or None
        0 to 1; None if it has no value.

    Notes
    -----
    With phi2 = chi2 / n and empty rows and columns left out:
    V = sqrt(max(0, phi2 - (R - 1)(C - 1) / (n - 1)) / min(R' - 1, C' - 1)), R' = R - (R - 1)^2 / (n - 1),
    C' likewise.

    References
    ----------
    Bergsma (2013), A bias-correction for Cramér's V and Tschuprow's T, J. Korean Statistical Society 42.
    """
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n, (rows, columns) = int(table.sum()), table.shape
    if min(rows, columns) < 2:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi2 = float(((table - expected) ** 2 / expected).sum()) / n
    room = min(k - 1 - (k - 1) ** 2 / (n - 1) for k in (rows, columns))
    if room <= 0:
        return None
    corrected = max(phi2 - (rows - 1) * (columns - 1) / (n - 1), 0.0)
    return min(math.sqrt(corrected / room), 1.0)


ROUNDING = 1e-12


def gai(in_group: FloatArray, cross_group: FloatArray) -> FloatArray:
    """Group association index: in-group over cross-group cohesion.

    Parameters
    ----------
    in_group, cross_group : float arrays of one shape
        NaN where not estimable.

    Returns
    -------
    float array
        Baseline 1; NaN if the cross-group statistic is not positive or either is NaN.

    Notes
    -----
    A cross-group statistic up to 1e-12 is 0 with a rounding error, and gives no ratio either.
    """
    index = np.full(np.broadcast_shapes(in_group.shape, cross_group.shape), np.nan)
    np.divide(in_group, cross_group, out=index, where=cross_group > ROUNDING)
    return index


def dsi(gais: FloatArray) -> FloatArray:
    """Diversity sensitivity index: the largest GAI of an axis's groups.

    Parameters
    ----------
    gais : float array, shape (..., G)

    Returns
    -------
    float array, shape (...)
        NaN if no group's GAI is estimable.
    """
    largest = np.max(np.where(np.isnan(gais), -np.inf, gais), axis=-1, initial=-np.inf)
    return np.where(np.isneginf(largest), np.nan, largest)


T = TypeVar("T")


def agreement(disagreements: Sequence[Callable[[], tuple[float, float]]], one_label: Remark) -> float:
    """Return 1 - D_o / D_e, both summed over the questions.

    If every question has equally many answers, this is the agreement of whole vectors of answers. Their
    distance is the share of questions that two raters answer differently (normalised Hamming distance).

    Parameters
    ----------
    disagreements : sequence of callable
        Functions that return D_o and D_e, one per question; a question without them adds nothing.
    one_label : Remark
        The reason to give if D_e is 0.

    Raises
    ------
    NotEstimableError
        If no question is estimable, or D_e is 0.
    """
    found = _estimable(disagreements)
    observed, expected = sum(o for o, _ in found), sum(e for _, e in found)
    if expected == 0:
        raise NotEstimableError(one_label)
    return 1 - observed / expected


def average(statistics: Sequence[Callable[[], float]]) -> float:
    """Return the mean over questions that have a value; raise :class:`NotEstimableError` if none has."""
    values = _estimable(statistics)
    return sum(values) / len(values)


def _estimable(computations: Sequence[Callable[[], T]]) -> list[T]:
    found: list[T] = []
    first: NotEstimableError | None = None
    for compute in computations:
        try:
            found.append(compute())
        except NotEstimableError as error:
            first = first or error
    if first is not None and not found:
        raise first
    return found
