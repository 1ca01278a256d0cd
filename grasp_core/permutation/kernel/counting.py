"""Compiled functions that draw permutations and count labels, shared by all kernels."""

import numpy as np

from grasp_core.permutation.jit import borrowing, compiled, inlined

_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
"""Philox's multipliers."""


@borrowing
def permute(seed, stream, order, bounds, words, shuffled_order, source):  # type: ignore[no-untyped-def]
    """Draw the rater whose profile each rater gets in one permutation; fill the last three arguments."""
    for i in range(order.size):
        shuffled_order[i] = order[i]
    shuffle(seed, stream, bounds, words, shuffled_order)
    for i in range(order.size):
        source[order[i]] = shuffled_order[i]


@borrowing
def shuffle(seed, stream, bounds, words, values):  # type: ignore[no-untyped-def]
    """Shuffle values by the steps of an `Exchange`; the last two arguments are changed."""
    _philox(seed, stream, words)
    for s in range(bounds.shape[0]):
        first, width = bounds[s, 0], bounds[s, 2]
        if width == 1:
            for i in range(bounds[s, 1] - 1, first, -1):
                j = first + np.int64(_high_word(words[i], np.uint64(i - first + 1)))
                values[i], values[j] = values[j], values[i]
        elif width > 0:
            _shuffle_blocks(first, bounds[s, 1], width, words, values)
        else:
            values[first : bounds[s, 1]] = values[-width]


@borrowing
def _shuffle_blocks(first, end, width, words, values):  # type: ignore[no-untyped-def]
    """Shuffle blocks of `width` values as wholes."""
    for i in range((end - first) // width - 1, 0, -1):
        j = np.int64(_high_word(words[first + i], np.uint64(i + 1)))
        one, other = first + i * width, first + j * width
        for k in range(width):
            values[one + k], values[other + k] = values[other + k], values[one + k]


@borrowing
def _philox(seed, stream, words):  # type: ignore[no-untyped-def]
    """Fill `words` as ``numpy.random.Philox(key=[seed, stream])``: Philox-4x64-10 (Salmon et al. 2011)."""
    for block in range(words.size // 4):
        _philox_block(seed, stream, block, words[4 * block : 4 * block + 4])


@borrowing
def _philox_block(seed, stream, block, words):  # type: ignore[no-untyped-def]
    """Fill four of these words, from ``4 * block`` on."""
    x0, x1, x2, x3 = np.uint64(block + 1), np.uint64(0), np.uint64(0), np.uint64(0)
    k0, k1 = seed, stream
    for _ in range(10):
        high0, high1 = _high_word(_M0, x0), _high_word(_M1, x2)
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, _M1 * x2, high0 ^ x3 ^ k1, _M0 * x0
        k0 += np.uint64(0x9E3779B97F4A7C15)
        k1 += np.uint64(0xBB67AE8584CAA73B)
    words[0], words[1], words[2], words[3] = x0, x1, x2, x3


@compiled()
def words_at(seed, stream, places):  # type: ignore[no-untyped-def]
    """Return the words at these positions of a stream, as ``random_words`` of `draw` gives them."""
    block = np.empty(4, dtype=np.uint64)
    words = np.empty(places.size, dtype=np.uint64)
    for i in range(places.size):
        _philox_block(seed, stream, places[i] >> 2, block)
        words[i] = block[places[i] & 3]
    return words


@borrowing
def _high_word(a, b):  # type: ignore[no-untyped-def]
    """Return the high word of the 128-bit product of two uint64, from products of their halves."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    return a1 * b1 + (middle >> half) + (a0 * b1 + (middle & low) >> half)


@borrowing
def fill_masks(source, rows, masks):  # type: ignore[no-untyped-def]
    """Fill `masks`, shape (rows, words), with each row's raters as a bit set."""
    masks[:] = 0
    for j in range(source.size):
        bit = np.uint64(1) << np.uint64(j & 63)
        profile = rows.profile[source[j]]
        for a in range(rows.ptr[profile], rows.ptr[profile + 1]):
            masks[rows.of[a], j >> 6] |= bit


@inlined
def ones(word):  # type: ignore[no-untyped-def]
    """Count the bits that are set, in a form that the compiler turns into one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@borrowing
def count_dense(masks, bits, counts):  # type: ignore[no-untyped-def]
    """Fill `counts`, shape (rows, K, items), from bit sets of rows' raters and of each category's raters."""
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


@borrowing
def count_sparse(source, rows, labels, first, counts):  # type: ignore[no-untyped-def]
    """Fill `counts` from the annotations of the items from `first` on, one after the other."""
    counts[:] = 0
    for i in range(counts.shape[2]):
        for a in range(labels.indptr[first + i], labels.indptr[first + i + 1]):
            profile, k = rows.profile[source[labels.rater[a]]], labels.category[a]
            for r in range(rows.ptr[profile], rows.ptr[profile + 1]):
                counts[rows.of[r], k, i] += 1


@borrowing
def count_block(source, masks, counting, block, counts):  # type: ignore[no-untyped-def]
    """Fill `counts`, shape (rows, K, width), for a block of items; `masks` are from :func:`fill_masks`."""
    if counting.dense:
        count_dense(masks, counting.bits[block], counts)
    else:
        count_sparse(source, counting.rows, counting.labels, block * counts.shape[2], counts)
