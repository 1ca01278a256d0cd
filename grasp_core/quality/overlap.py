"""Axes that say nearly the same of the raters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from grasp_core.annotations import Axis, Int64Array, Raters

NEARLY_IDENTICAL = 0.8
"""Bias-corrected Cramér's V from which two axes count as nearly identical."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """How closely two axes go together.

    Parameters
    ----------
    first, second : str
    raters : int
        Known on both.
    v : float or None
        Bias-corrected Cramér's V, 0 to 1; None where an axis has one value only among these raters, or
        there are too few of them.
    """

    first: str
    second: str
    raters: int
    v: float | None

    @property
    def nearly_identical(self) -> bool:
        """Whether the two cannot be told apart."""
        return self.v is not None and self.v >= NEARLY_IDENTICAL


def overlaps(raters: Raters, names: Sequence[str] | None = None) -> tuple[Overlap, ...]:
    """Measure every pair of axes.

    Parameters
    ----------
    raters : Raters
    names : sequence of str, optional
        Axes; by default all.

    Raises
    ------
    KeyError
        If an axis is not in `raters`.
    """
    names = tuple(raters.axes) if names is None else tuple(names)
    return tuple(_overlap(raters, first, second) for first, second in combinations(names, 2))


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


def _overlap(raters: Raters, first: str, second: str) -> Overlap:
    table = _cross(raters.axes[first], raters.axes[second])
    return Overlap(first, second, int(table.sum()), corrected_v(table))


def _cross(first: Axis, second: Axis) -> Int64Array:
    known = (first.codes >= 0) & (second.codes >= 0)
    cell = first.codes[known].astype(np.int64) * len(second.values) + second.codes[known]
    shape = (len(first.values), len(second.values))
    return np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
