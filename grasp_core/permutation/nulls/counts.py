"""Null distributions as counts: what is left of shuffled values when there are too many to keep.

Everything counted is a whole number, so the order in which values come and the blocks they come in change
nothing. Where bins lie, and what max-T measures deviations by, is settled by the first values alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from grasp_core.annotations import FloatArray, Int64Array
from grasp_core.permutation.nulls.deviations import standard
from grasp_core.permutation.nulls.tails import FEWEST, TIE_TOLERANCE, Tails, tolerance
from grasp_core.permutation.nulls.values import BINS, Summary, bounds
from grasp_core.result import Histogram

MARGIN = 60
"""Bins beyond the first values' range, on either side: values further out count in the last one."""
CELLS = 256
"""Cells around the first values' median, which is known to the width of one in the end."""
AROUND = 0.05
"""They reach from the quantile 0.5 - AROUND to 0.5 + AROUND, ten standard errors of a median of 10,000."""


class Counted:
    """Counts of shuffled values.

    Parameters
    ----------
    observed : float64 array, shape (C,)
    first : float64 array, shape (H, C)
        The first shuffled values, NaN where not estimable; they are not counted yet.
    families : sequence of sequences of int
        Columns that max-T corrects together; none for another correction.
    """

    def __init__(self, observed: FloatArray, first: FloatArray, families: Sequence[Sequence[int]]) -> None:
        margin = tolerance(observed)
        kept = [[c for c in family if not np.isnan(observed[c])] for family in families]
        self._observed = observed
        self._reach = np.stack([observed + margin, observed - margin])
        self._tests: Int64Array = np.array([c for family in kept for c in family], np.int64)
        self._ends: Int64Array = np.cumsum([0, *map(len, kept)]).astype(np.int64)
        self._total = 0
        edges = np.array([_edges(float(observed[c]), first[:, c]) for c in range(observed.size)])
        self._edges: FloatArray = edges.reshape(-1, 4)
        self._bins: Int64Array = np.zeros((observed.size, BINS + 2 * MARGIN + 2), np.int64)
        self._cells: Int64Array = np.zeros((observed.size, CELLS + 2), np.int64)
        self._tails: Int64Array = np.zeros((observed.size, 3), np.int64)
        self._standard: FloatArray = np.array(_standard(first[:, self._tests])).reshape(2, -1)
        self._reached: Int64Array = np.zeros(self._tests.size, np.int64)

    def add(self, values: FloatArray) -> None:
        """Count values, shape (b, C)."""
        values = np.ascontiguousarray(values)
        self._total += len(values)
        _count(values, self._reach, self._edges, self._tails, self._bins, self._cells)
        if self._tests.size:
            deviation = np.abs(self._observed[self._tests] - self._standard[0]) / self._standard[1]
            _count_reached(
                values, self._tests, self._ends, self._standard, deviation - TIE_TOLERANCE, self._reached
            )

    def summary(self, column: int) -> Summary:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        found = self.tails(column)
        if found.n == 0:
            return Summary(found)
        start, width, middle_start, cell = self._edges[column].tolist()
        return Summary(
            found,
            _median(self._cells[column], found.n, middle_start, cell),
            _histogram(self._bins[column], start, width),
        )

    def tails(self, column: int) -> Tails:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        n, low, high = self._tails[column].tolist()
        return Tails(n, low, high)

    def reached(self, columns: Sequence[int]) -> tuple[Int64Array, int]:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        position = {int(c): t for t, c in enumerate(self._tests)}
        return self._reached[[position[c] for c in columns]], self._total

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that was counted and by what, for T tests; :meth:`from_arrays` reads it back."""
        return {
            "total": np.array([self._total]),
            "edges": self._edges,
            "tails": self._tails,
            "bins": self._bins,
            "cells": self._cells,
            "standard": self._standard,
            "reached": self._reached,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], observed: FloatArray, families: Sequence[Sequence[int]]
    ) -> Counted:
        """Go on from :meth:`arrays`.

        Raises
        ------
        ValueError, KeyError
            If they are not those of these tests.
        """
        new = cls(observed, np.empty((0, observed.size)), families)
        for name, empty in new.arrays().items():
            if arrays[name].shape != empty.shape or arrays[name].dtype != empty.dtype:
                raise ValueError(name)
            if name == "total":
                new._total = int(arrays[name][0])
            else:
                setattr(new, f"_{name}", arrays[name])
        return new


def _edges(observed: float, first: FloatArray) -> tuple[float, float, float, float]:
    """Where bins and the cells of the median start, and how wide they are."""
    first = np.sort(first[~np.isnan(first)])
    if not first.size:  # estimable later if at all: near the observed value, if there is one
        first = np.array([0.0 if np.isnan(observed) else observed])
    low, high = bounds(first)
    width = (high - low) / BINS
    around = min(max(AROUND, 2.5 / np.sqrt(first.size)), 0.5)  # five standard errors where values are few
    left, right = (float(first[int(share * (first.size - 1))]) for share in (0.5 - around, 0.5 + around))
    return low - MARGIN * width, width, left, (right - left) / CELLS


def _standard(first: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre and scale of the tests; what too few values tell of counts as constant."""
    centre, scale = np.zeros(first.shape[1]), np.full(first.shape[1], np.inf)
    enough = np.count_nonzero(~np.isnan(first), axis=0) >= FEWEST
    if enough.any():
        centre[enough], scale[enough] = standard(first[:, enough])
    return centre, scale


def _median(cells: Int64Array, n: int, start: float, width: float) -> float:
    """Element floor(n / 2), to the width of its cell; at a cell's place that its rank there suggests."""
    before = np.cumsum(cells) - cells
    cell = int(np.searchsorted(np.cumsum(cells), n // 2, side="right"))
    if cell == 0 or width == 0.0:
        return start
    if cell > CELLS:
        return start + CELLS * width
    return float(start + (cell - 1 + (n // 2 - before[cell] + 0.5) / cells[cell]) * width)


def _histogram(bins: Int64Array, start: float, width: float) -> Histogram:
    """From the first to the last bin that is not empty; what lies beyond all of them is in the last."""
    inner = bins[1:-1].copy()
    inner[0] += bins[0]
    inner[-1] += bins[-1]
    filled = np.flatnonzero(inner)
    first, last = int(filled[0]), int(filled[-1]) + 1
    return Histogram(start + first * width, start + last * width, tuple(inner[first:last].tolist()))


@numba.njit(cache=True, nogil=True)
def _count(values, reach, edges, tails, bins, cells):  # type: ignore[no-untyped-def]  # types are numba's
    for b in range(values.shape[0]):
        for c in range(values.shape[1]):
            value = values[b, c]
            if not np.isnan(value):
                tails[c, 0] += 1
                tails[c, 1] += value <= reach[0, c]
                tails[c, 2] += value >= reach[1, c]
                bins[c, _cell(value, edges[c, 0], edges[c, 1], bins.shape[1] - 2)] += 1
                cells[c, _cell(value, edges[c, 2], edges[c, 3], cells.shape[1] - 2)] += 1


@numba.njit(cache=True, nogil=True, inline="always")
def _cell(value, start, width, n):  # type: ignore[no-untyped-def]
    """0 before the start, 1 to n within, n + 1 behind."""
    if value < start:
        return 0
    if width == 0.0:
        return 1 if value == start else n + 1
    position = (value - start) / width
    return n + 1 if position >= n else 1 + int(position)


@numba.njit(cache=True, nogil=True)
def _count_reached(values, tests, ends, standard, deviation, reached):  # type: ignore[no-untyped-def]
    """Count where the largest deviation of a family reaches each of its observed ones."""
    for b in range(values.shape[0]):
        for f in range(ends.size - 1):
            largest = 0.0
            for t in range(ends[f], ends[f + 1]):
                distance = abs(values[b, tests[t]] - standard[0, t]) / standard[1, t]
                if distance > largest:  # never where it is NaN
                    largest = distance
            for t in range(ends[f], ends[f + 1]):
                reached[t] += largest >= deviation[t]
