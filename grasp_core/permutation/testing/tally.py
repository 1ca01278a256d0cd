"""Collection of shuffled values, kept or counted, for p-values, bounds and histograms."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.model.outcome import Histogram
from grasp_core.permutation.jit import compiled, inlined
from grasp_core.permutation.testing.p_values import (
    BINS,
    Extremes,
    Furthest,
    Kept,
    Maximum,
    Null,
    Standard,
    Summary,
    Tails,
    bounds,
    reaching,
    tolerance,
)

MARGIN = 60
"""Bins beyond the first values' range, on either side; values further out count in the last bin."""
CELLS = 256
"""Cells around the first values' median; the final median is exact to the width of a cell."""
AROUND = 0.05
"""Cells reach from the quantile 0.5 - AROUND to 0.5 + AROUND, ten standard errors of a median of 10,000."""


class Counted:
    """Null distributions that only count shuffled values.

    `observed`: shape (C,).
    `first`, shape (H, C): the first shuffled values, NaN where not estimable; they are not counted yet.
    `maxima`: maxima whose largest deviations are counted.
    `extremes`: true if the most extreme values are kept, for curves through tails.
    """

    def __init__(
        self, observed: FloatArray, first: FloatArray, maxima: Sequence[Maximum], *, extremes: bool = False
    ) -> None:
        margin = tolerance(observed)
        self._observed = observed
        self._reach = np.stack([observed + margin, observed - margin])
        self._maxima = list(maxima)
        ends = np.cumsum([len(maximum.columns) for maximum in maxima], dtype=np.int64)
        self._places = [slice(end - len(one.columns), end) for one, end in zip(maxima, ends, strict=True)]
        edges = np.array([_edges(float(observed[c]), first[:, c]) for c in range(observed.size)])
        self._edges: FloatArray = edges.reshape(-1, 4)
        self._bins: Int64Array = np.zeros((observed.size, BINS + 2 * MARGIN + 2), np.int64)
        self._cells: Int64Array = np.zeros((observed.size, CELLS + 2), np.int64)
        self._tails: Int64Array = np.zeros((observed.size, 3), np.int64)
        standards = [np.array(maximum.standard(maximum.among(first))) for maximum in maxima]
        self._standard: FloatArray = np.concatenate([np.empty((2, 0)), *standards], axis=1)
        self._reached: Int64Array = np.zeros(self._standard.shape[1], np.int64)
        self._total: Int64Array = np.zeros(len(self._maxima), np.int64)
        self._extremes = extremes
        self._furthest = Furthest(self._with_largest(first) if extremes else np.empty((0, 0)))

    def add(self, values: FloatArray) -> None:
        """Count values, shape (b, C)."""
        values = np.ascontiguousarray(values)
        _count(values, self._reach, self._edges, self._tails, self._bins, self._cells)
        for m, (maximum, here) in enumerate(zip(self._maxima, self._places, strict=True)):
            null = maximum.among(values)
            self._reached[here] += reaching(*self._deviations(m, null))
            self._total[m] += len(null)
        if self._extremes:
            self._furthest.add(self._with_largest(values))

    def _with_largest(self, values: FloatArray) -> FloatArray:
        """Return values (b, C), then the largest deviation of each of the M maxima, shape (b, C + M)."""
        found = np.full((len(values), len(self._maxima)), np.nan)
        for m, maximum in enumerate(self._maxima):
            counts = np.ones(len(values), np.bool_)
            if maximum.within is not None:
                counts = ~np.isnan(values[:, maximum.within])
            found[counts, m] = self._deviations(m, maximum.among(values))[1]
        return np.concatenate([values, found], axis=1)

    def _deviations(self, m: int, null: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the observed deviations of a maximum's columns, and the largest of each permutation."""
        by = Standard(*self._standard[:, self._places[m]])
        return self._maxima[m].deviations(self._observed, null, by)

    def summary(self, column: int) -> Summary:
        """See :class:`~grasp_core.permutation.testing.p_values.Null`."""
        found = self.tails(column)
        if found.n == 0:
            return Summary(found)
        start, width, middle_start, cell = self._edges[column].tolist()
        bins = self._bins[column]
        inner = bins[1:-1].copy()
        inner[0] += bins[0]
        inner[-1] += bins[-1]
        filled = np.flatnonzero(inner)
        first, last = int(filled[0]), int(filled[-1]) + 1
        return Summary(
            found,
            _median(self._cells[column], found.n, middle_start, cell),
            Histogram(start + first * width, start + last * width, tuple(inner[first:last].tolist())),
        )

    def tails(self, column: int) -> Tails:
        """See :class:`~grasp_core.permutation.testing.p_values.Null`."""
        n, low, high = self._tails[column].tolist()
        return Tails(n, low, high)

    def reached(self, maximum: Maximum) -> tuple[Int64Array, int]:
        """See :class:`~grasp_core.permutation.testing.p_values.Null`."""
        m = self._maxima.index(maximum)
        return self._reached[self._places[m]], int(self._total[m])

    def extremes(self, column: int, *, upper: bool) -> Extremes:
        """See :class:`~grasp_core.permutation.testing.p_values.Null`; moments are of the first values."""
        return self._furthest.extremes(column, self.tails(column).n, upper=upper)

    def largest(self, maximum: Maximum) -> tuple[float, Extremes]:
        """See :class:`~grasp_core.permutation.testing.p_values.Null`."""
        m = self._maxima.index(maximum)
        deviation, _ = self._deviations(m, np.empty((0, len(maximum.columns))))
        column = self._observed.size + m
        return float(deviation.max()), self._furthest.extremes(column, int(self._total[m]), upper=True)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all counts with their bins and units, for T tests; :meth:`from_arrays` reads them back."""
        return {
            "total": self._total,
            "edges": self._edges,
            "tails": self._tails,
            "bins": self._bins,
            "cells": self._cells,
            "standard": self._standard,
            "reached": self._reached,
            "moments": self._furthest.moments,
            "furthest": self._furthest.values,
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, npt.NDArray[Any]],
        observed: FloatArray,
        maxima: Sequence[Maximum],
        *,
        extremes: bool = False,
    ) -> Counted:
        """Continue from :meth:`arrays`; raises ValueError or KeyError if they are of other tests."""
        new = cls(observed, np.empty((0, observed.size)), maxima, extremes=extremes)
        for name, empty in new.arrays().items():
            if arrays[name].shape != empty.shape or arrays[name].dtype != empty.dtype:
                raise ValueError(name)
            empty[...] = arrays[name]
        return new


def _edges(observed: float, first: FloatArray) -> tuple[float, float, float, float]:
    """Return start and width of the bins, and start and width of the median's cells."""
    first = np.sort(first[~np.isnan(first)])
    if not first.size:  # estimable later, if at all: start at the observed value, if any
        first = np.array([0.0 if np.isnan(observed) else observed])
    low, high = bounds(first)
    width = (high - low) / BINS
    around = min(max(AROUND, 2.5 / np.sqrt(first.size)), 0.5)  # five standard errors if there are few values
    left, right = (float(first[int(share * (first.size - 1))]) for share in (0.5 - around, 0.5 + around))
    return low - MARGIN * width, width, left, (right - left) / CELLS


def _median(cells: Int64Array, n: int, start: float, width: float) -> float:
    """Return element floor(n / 2), exact to the width of its cell and interpolated by rank inside it."""
    before = np.cumsum(cells) - cells
    cell = int(np.searchsorted(np.cumsum(cells), n // 2, side="right"))
    if cell == 0 or width == 0.0:
        return start
    if cell > CELLS:
        return start + CELLS * width
    return float(start + (cell - 1 + (n // 2 - before[cell] + 0.5) / cells[cell]) * width)


@compiled()
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


@inlined
def _cell(value, start, width, n):  # type: ignore[no-untyped-def]
    """Return the value's cell: 1 to n, 0 before the first cell, n + 1 after the last."""
    if value < start:
        return 0
    if width == 0.0:
        return 1 if value == start else n + 1
    position = (value - start) / width
    return n + 1 if position >= n else 1 + int(position)


KEPT, KEPT_LEAST = 10_000, 1000
"""Most permutations whose shuffled values are kept; and the number kept however many columns there are."""
KEPT_VALUES = 2**25
"""Most shuffled values kept in all, if there are many columns."""


def kept_of(columns: int) -> int:
    """Return the number of permutations whose values are kept, for so many columns."""
    return min(max(KEPT_VALUES // max(columns, 1), KEPT_LEAST), KEPT)


class Tally:
    """Collects shuffled statistics for the tests.

    The result does not depend on the blocks or their order.

    `observed`: shape (C,).
    `needs`, shape (C, U): units whose permutations a column needs.
    `permutations`: most permutations that will be added.
    `maxima`: maxima whose largest deviation in each permutation is counted.
    `kept`: most permutations whose values are kept; by default :func:`kept_of` the columns.
    `extremes`: true if the most extreme values are kept when others are only counted.
    `verdict_values`: function from kept values (B, C) to those that joint tests need, row by row;
        its result stays when the values themselves are dropped.

    `active`, shape (U,): units whose permutations continue; a column that needs another unit does not count.
    `most_kept`: most permutations whose values are kept.
    `lost`: number of permutations in which a computed column with an observed value was not estimable.
    """

    def __init__(
        self,
        observed: FloatArray,
        needs: BoolArray,
        permutations: int,
        maxima: Sequence[Maximum] = (),
        *,
        kept: int | None = None,
        extremes: bool = False,
        verdict_values: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self._maxima = maxima
        self._extremes = extremes
        self._verdict_values_of = verdict_values or (lambda values: values[:0])
        self._apart: FloatArray | None = None
        self._whole = 0
        self._needs = needs
        self._observed = observed
        kept = kept_of(observed.size) if kept is None else kept
        self.most_kept = min(kept, permutations)
        self._first = np.empty((self.most_kept, observed.size))
        self._counted: Counted | None = None
        self._waiting: list[FloatArray] = []
        self._done: list[tuple[int, int]] = []
        self.active: BoolArray = np.ones(needs.shape[1], np.bool_)
        self.lost = 0

    @property
    def done(self) -> list[tuple[int, int]]:
        """Permutations that were added, as (start, stop) in ascending order with gaps between them."""
        return self._done

    @property
    def permutations(self) -> int:
        """Number of permutations that were added."""
        return sum(stop - start for start, stop in self._done)

    def has(self, b: int) -> bool:
        """Return whether permutation b was added."""
        return any(start <= b < stop for start, stop in self._done)

    def has_all(self, stop: int) -> bool:
        """Return whether permutations 0 to `stop` - 1 were added."""
        return bool(self._done) and self._done[0][0] == 0 and self._done[0][1] >= stop

    @property
    def counting(self) -> bool:
        """True if values are counted and no longer kept, so that :meth:`state` contains all of them."""
        return self._counted is not None

    @property
    def null(self) -> Null:
        """Null distributions from the permutations that were added from 0 on without a gap."""
        if self._counted is not None:
            return self._counted
        return Kept(self._observed, self._first[: self.in_null])

    @property
    def in_null(self) -> int:
        """Number of permutations in :attr:`null`: all of them once they are counted."""
        if self._counted is not None:
            return self.permutations
        return min(self._done[0][1], len(self._first)) if self._done and self._done[0][0] == 0 else 0

    @property
    def n_complete(self) -> int:
        """Number of kept permutations that were computed for all units."""
        return min(self._whole, self.most_kept, self.in_null)

    @property
    def verdict_values(self) -> FloatArray:
        """Result of `verdict_values` for the kept permutations that were computed for all units."""
        if self._apart is not None:
            return self._apart
        return self._verdict_values_of(self._first[: self.n_complete])

    def add(self, start: int, values: FloatArray) -> None:
        """Add values (b, C) of permutations from `start` on, none added before; the array may change."""
        computed = ~(self._needs & ~self.active).any(axis=1)
        tested = computed & ~np.isnan(self._observed)
        self.lost += int(np.isnan(values[:, tested]).any(axis=1).sum())
        values[:, ~computed] = np.nan  # e.g. a DSI needs the GAI of all its groups
        self._done = _merged([*self._done, (start, start + len(values))])
        if self.active.all():
            self._whole = max(self._whole, start + len(values))
        first = values[: max(len(self._first) - start, 0)]
        self._first[start : start + len(first)] = first
        self._count(values[len(first) :])

    def _count(self, further: FloatArray) -> None:
        if self._counted is None:
            if len(further):
                self._waiting.append(further)
            if not self._waiting or self._done[0][0] > 0 or self._done[0][1] < len(self._first):
                return
            self._apart = self.verdict_values
            self._counted = Counted(self._observed, self._first, self._maxima, extremes=self._extremes)
            self._waiting.insert(0, self._first)
        else:
            self._waiting = [further]
        for values in self._waiting:
            self._counted.add(values)
        self._waiting, self._first = [], self._first[:0].copy()

    def state(self) -> bytes:
        """Return all that was counted as an ``.npz`` file for :meth:`restore`; ValueError without any."""
        if self._counted is None or self._apart is None:
            raise ValueError("nothing is counted yet")
        file = io.BytesIO()
        counted: dict[str, Any] = self._counted.arrays()  # for mypy: none of them is an option of NumPy's
        np.savez_compressed(
            file,
            done=np.array(self._done, np.int64),
            active=self.active,
            lost=np.array([self.lost]),
            whole=np.array([self._whole]),
            apart=self._apart,
            **counted,
        )
        return file.getvalue()

    def restore(self, state: bytes) -> bool:
        """Continue from :meth:`state` of a tally of the same run; if that is damaged, only return False."""
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
                counted = Counted.from_arrays(arrays, self._observed, self._maxima, extremes=self._extremes)
                done, active, lost = arrays["done"], arrays["active"], int(arrays["lost"][0])
                apart, whole = arrays["apart"], int(arrays["whole"][0])
                if active.shape != self.active.shape or done.ndim != 2:
                    return False
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error):
            return False
        self._counted, self.active, self.lost = counted, active, lost
        self._apart, self._whole = apart, whole
        self._done = [(int(start), int(stop)) for start, stop in done]
        self._waiting, self._first = [], self._first[:0].copy()
        return True


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort ranges in ascending order and join ranges that touch."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined
