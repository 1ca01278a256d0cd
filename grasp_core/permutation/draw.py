"""Which rater receives whose demographic profile under permutation b.

Permutation b is a function of (seed, b) alone: it is drawn from the counter-based generator Philox-4x64
with key (seed, b), so it is the same in whatever block, process or machine it is computed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Int64Array

TIES_STREAM = 2**64 - 1
"""The second key word of the draws that break ties; no permutation has this number."""
WORDS = 4
"""Words of a step of the generator."""


def random_words(seed: int, stream: int, size: int) -> npt.NDArray[np.uint64]:
    """The first 64-bit words of the stream with key (seed, stream), shape (size,)."""
    words: npt.NDArray[np.uint64] = np.random.Philox(key=np.array([seed, stream], np.uint64)).random_raw(size)
    return words


def identity(n_raters: int) -> Int64Array:
    """Everybody keeps their own profile, shape (J,): the observed data."""
    return np.arange(n_raters, dtype=np.int64)


def permutation(seed: int, b: int, order: Int64Array, bounds: Int64Array) -> Int64Array:
    """Draw permutation b (Fisher-Yates of the blocks of each step).

    Parameters
    ----------
    order, bounds : int64 arrays
        See :class:`~grasp_core.permutation.exchange.Exchange`.

    Returns
    -------
    int64 array, shape (J,)
        Rater j takes the profile of rater ``source[j]``.

    Notes
    -----
    The position is the high word of draw x (i + 1): for n blocks its bias is below n / 2^64.
    """
    words = random_words(seed, b, order.size)
    shuffled = order.copy()
    for start, stop, width in bounds.tolist():
        if width <= 0:
            shuffled[start:stop] = shuffled[-width]
            continue
        blocks = shuffled[start:stop].reshape(-1, width)
        for i in range(len(blocks) - 1, 0, -1):
            j = int(words[start + i]) * (i + 1) >> 64
            blocks[[i, j]] = blocks[[j, i]]
    source = np.empty_like(order)
    source[order] = shuffled
    return source
