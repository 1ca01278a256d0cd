"""How closely two axes go together."""

from __future__ import annotations

import math

import numpy as np

from grasp_core.model.annotations import Axis, Int64Array

_FEWEST_DRAWS, _MOST_CELLS = 999, 10**7


def cross_table(first: Axis, second: Axis) -> Int64Array:
    """Raters known on both axes, by their values on each, shape (R, C)."""
    known = (first.codes >= 0) & (second.codes >= 0)
    cell = first.codes[known].astype(np.int64) * len(second.values) + second.codes[known]
    shape = (len(first.values), len(second.values))
    return np.bincount(cell, minlength=math.prod(shape)).reshape(shape)


def chance_of(table: Int64Array, draws: int = 9_999, seed: int = 1) -> float:
    """How often tables of the same margins, drawn at random, lie as far from independence.

    Parameters
    ----------
    table : int array, shape (R, C)
        With a value in two rows and columns or more.
    draws : int
        Fewer where the table is large.
    seed : int

    Notes
    -----
    p of Pearson's chi-square, (1 + #) / (1 + draws): the table of one axis whose values change places among
    the raters.
    """
    from scipy.stats import random_table  # takes long to load, and few axes lie near each other

    table = table[table.any(axis=1)][:, table.any(axis=0)]
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / table.sum()
    draws = min(draws, max(_FEWEST_DRAWS, _MOST_CELLS // table.size))
    drawn = random_table(rows, columns).rvs(draws, random_state=np.random.default_rng(seed))
    own, others = (((one - expected) ** 2 / expected).sum(axis=(-2, -1)) for one in (table, drawn))
    return float((1 + (others >= own - 1e-9).sum()) / (1 + draws))


def corrected_v(table: Int64Array) -> float | None:
    """Bias-corrected Cramér's V of a cross table.

    Parameters
    ----------
    table : int array, shape (R, C)

    Returns
    -------
    float or None
        0 to 1; None where it has no value.

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
