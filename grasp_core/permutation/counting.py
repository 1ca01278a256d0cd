"""Drawing permutations and counting labels, compiled; shared by every kernel."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
"""Philox's multipliers."""


def _product(_context: Any, a: Any, b: Any) -> Any:
    """High word of the 128-bit product of two uint64: one instruction, which NumPy has no name for."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        a, b = (builder.zext(word, ir.IntType(128)) for word in arguments)
        high = builder.lshr(builder.mul(a, b), ir.Constant(ir.IntType(128), 64))
        return builder.trunc(high, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), code


_high_word: Any = intrinsic(_product)


@numba.njit(cache=True, nogil=True)
def permute(seed, stream, order, bounds, words, shuffled_order, source):  # type: ignore[no-untyped-def]
    """Whose profile each rater gets in one permutation; the last three arguments are written."""
    shuffled_order[:] = order
    shuffle(seed, stream, bounds, words, shuffled_order)
    for i in range(order.size):
        source[order[i]] = shuffled_order[i]


@numba.njit(cache=True, nogil=True)
def shuffle(seed, stream, bounds, words, values):  # type: ignore[no-untyped-def]
    """Shuffle values, which stand stratum after stratum; the last two arguments are written."""
    _philox(seed, stream, words)
    for s in range(bounds.size - 1):
        first = bounds[s]
        for i in range(bounds[s + 1] - 1, first, -1):
            j = first + np.int64(_high_word(words[i], np.uint64(i - first + 1)))
            values[i], values[j] = values[j], values[i]


@numba.njit(cache=True, nogil=True)
def _philox(seed, stream, words):  # type: ignore[no-untyped-def]
    """Philox-4x64-10, the words of ``numpy.random.Philox(key=[seed, stream])`` (Salmon et al. 2011)."""
    for block in range(words.size // 4):
        x0, x1, x2, x3 = np.uint64(block + 1), np.uint64(0), np.uint64(0), np.uint64(0)
        k0, k1 = seed, stream
        for _ in range(10):
            high0, high1 = _high_word(_M0, x0), _high_word(_M1, x2)
            x0, x1, x2, x3 = high1 ^ x1 ^ k0, _M1 * x2, high0 ^ x3 ^ k1, _M0 * x0
            k0 += np.uint64(0x9E3779B97F4A7C15)
            k1 += np.uint64(0xBB67AE8584CAA73B)
        words[4 * block], words[4 * block + 1] = x0, x1
        words[4 * block + 2], words[4 * block + 3] = x2, x3


@numba.njit(cache=True, nogil=True)
def fill_masks(source, rows, masks):  # type: ignore[no-untyped-def]
    """Each row's raters as a bit set, shape (rows, words); `masks` is to be zero before."""
    row_ptr, row_of, _, _ = rows
    for j in range(source.size):
        bit = np.uint64(1) << np.uint64(j & 63)
        for a in range(row_ptr[source[j]], row_ptr[source[j] + 1]):
            masks[row_of[a], j >> 6] |= bit


@numba.njit(cache=True, nogil=True)
def ones(word):  # type: ignore[no-untyped-def]
    """Population count, in the form that the compiler turns into one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@numba.njit(cache=True, nogil=True)
def count_dense(masks, bits, counts):  # type: ignore[no-untyped-def]
    """Fill `counts`, shape (rows, K, items), from bit sets of rows and of who gave an item a category."""
    n_rows, n_categories, n_items = counts.shape
    for r in range(n_rows):
        for k in range(n_categories):
            c = counts[r, k]
            c[:] = 0
            for w in range(masks.shape[1]):
                mask = masks[r, w]
                if mask:
                    raters = bits[k, w]
                    for i in range(n_items):
                        c[i] += np.int64(ones(raters[i] & mask))


@numba.njit(cache=True, nogil=True)
def count_sparse(source, rows, labels_of, first, counts):  # type: ignore[no-untyped-def]
    """The same from the annotations of the items from `first` on, one after the other."""
    row_ptr, row_of, _, _ = rows
    indptr, rater, category = labels_of
    counts[:] = 0
    for i in range(counts.shape[2]):
        for a in range(indptr[first + i], indptr[first + i + 1]):
            profile, k = source[rater[a]], category[a]
            for r in range(row_ptr[profile], row_ptr[profile + 1]):
                counts[row_of[r], k, i] += 1
