"""Codes of annotations counted and put in order, with little room beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]
Pieces = Callable[[], Iterable[Sequence[Codes]]]
"""Gives items (-1: to be left out), raters and labels, a piece of each at a time, whenever it is called."""
_RANGES = 8
"""Ranges of items that are sorted one after the other, so that sorting takes room for an eighth of all."""
_WIDEST = 2**63 - 1
PIECE = 1 << 18
"""Codes looked at together: NumPy counts a copy of them in its widest type."""


def in_pieces(
    arrays: Sequence[npt.NDArray[Any]], size: int = PIECE
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Arrays of equal length, a piece of each at a time."""
    for start in range(0, arrays[0].size, size):
        yield tuple(values[start : start + size] for values in arrays)


def tallied(codes: Codes, n: int) -> Int64Array:
    """How often each of the codes 0 to `n` - 1 occurs, shape (n,)."""
    total = np.zeros(n, np.int64)
    for (some,) in in_pieces([codes], max(PIECE, n)):  # each piece costs a pass over all n
        total += np.bincount(some.astype(np.intp, copy=False), minlength=n)
    return total


def positions_by(codes: Codes) -> Int64Array:
    """Positions of codes by their size, shape (A,), those of equal ones ascending.

    Whole numbers sort many times faster than positions by what stands there.
    """
    keys = codes * np.int64(codes.size) + np.arange(codes.size)
    keys.sort()
    return keys % max(codes.size, 1)


def sorted_codes(
    pieces: Pieces, per_item: Int64Array, n_raters: int, n_labels: int
) -> tuple[Int32Array, Int32Array]:
    """Raters and labels by item, then by rater, both of shape (A,).

    `per_item`, shape (I,): annotations of each item.
    """
    rater, label = (np.empty(int(per_item.sum()), np.int32) for _ in range(2))
    at = 0
    for _, keys in sorted_keys(pieces, per_item, (n_raters, n_labels)):
        for (some,) in in_pieces([keys]):
            here = slice(at, at + some.size)
            pair, label[here] = np.divmod(some, n_labels)
            rater[here] = pair % n_raters
            at = here.stop
    return rater, label


def sorted_keys(
    pieces: Pieces, per_item: Int64Array, sizes: Sequence[int]
) -> Iterator[tuple[int, Int64Array]]:
    """One number for each annotation, ascending, a range of items at a time; with the range's first item.

    The number stands for the item, counted from there, and as many of the other codes as there are sizes.
    """
    for first, last in _ranges(per_item, math.prod(sizes)):
        keys = np.empty(int(per_item[first:last].sum()), np.int64)
        at = 0
        for item, *others in pieces():
            here = np.flatnonzero((item >= first) & (item < last))
            key = item[here].astype(np.int64) - first
            for codes, size in zip(others, sizes, strict=False):
                key *= size
                key += codes[here].astype(np.int64)
            keys[at : at + key.size] = key
            at += key.size
        keys.sort()
        yield first, keys


def _ranges(per_item: Int64Array, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of items with about equally many annotations, whose numbers fit."""
    reached = np.cumsum(per_item)
    total = int(reached[-1]) if reached.size else 0
    room, most = max(-(-total // _RANGES), PIECE), _WIDEST // max(width, 1)
    first = 0
    while first < per_item.size:
        before = int(reached[first - 1]) if first else 0
        last = int(np.searchsorted(reached, before + room, side="right"))
        last = min(max(last, first + 1), first + most)
        yield first, last
        first = last
