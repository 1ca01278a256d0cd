"""How closely two axes go together."""

from __future__ import annotations

import math

import numpy as np

from grasp_core.annotations import Axis, Int64Array


def cross_table(first: Axis, second: Axis) -> Int64Array:
    """Raters known on both axes, by their values on each, shape (R, C)."""
    known = (first.codes >= 0) & (second.codes >= 0)
    cell = first.codes[known].astype(np.int64) * len(second.values) + second.codes[known]
    shape = (len(first.values), len(second.values))
    return np.bincount(cell, minlength=math.prod(shape)).reshape(shape)


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
