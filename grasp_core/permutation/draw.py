"""Which rater receives whose demographic profile under permutation b.

Permutation b is a function of (seed, b) alone: it is drawn from the counter-based generator Philox-4x64
with key (seed, b), so it is the same in whatever block, process or machine it is computed.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import Axis, Int64Array

TIES_STREAM = 2**64 - 1
"""The second key word of the draws that break ties; no permutation has this number."""
WORDS = 4
"""Words of a step of the generator."""


def random_words(seed: int, stream: int, size: int, *, first: int = 0) -> npt.NDArray[np.uint64]:
    """64-bit words `first` to `first` + `size` - 1 of the stream with key (seed, stream), shape (size,)."""
    drawn = np.random.Philox(key=np.array([seed, stream], np.uint64)).advance(first // WORDS)
    words: npt.NDArray[np.uint64] = drawn.random_raw(first % WORDS + size)[first % WORDS :]
    return words


def identity(n_raters: int) -> Int64Array:
    """Everybody keeps their own profile, shape (J,): the observed data."""
    return np.arange(n_raters, dtype=np.int64)


def stratify(strata: Axis | None, n_raters: int) -> tuple[Int64Array, Int64Array]:
    """Order raters by stratum.

    Parameters
    ----------
    strata : Axis or None
        Profiles are shuffled among the raters of one value; unknown is a stratum too. None means one
        stratum of everybody.
    n_raters : int

    Returns
    -------
    order : int64 array, shape (J,)
        Raters, stratum after stratum.
    bounds : int64 array, shape (strata + 1,)
        Stratum s is ``order[bounds[s]:bounds[s + 1]]``.
    """
    if strata is None:
        return identity(n_raters), np.array([0, n_raters], dtype=np.int64)
    order = np.argsort(strata.codes, kind="stable").astype(np.int64)
    _, sizes = np.unique(strata.codes, return_counts=True)
    return order, np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def permutation(seed: int, b: int, order: Int64Array, bounds: Int64Array) -> Int64Array:
    """Draw permutation b (Fisher-Yates within each stratum).

    Parameters
    ----------
    seed, b : int
    order, bounds : int64 arrays
        From :func:`stratify`.

    Returns
    -------
    int64 array, shape (J,)
        Rater j takes the profile of rater ``source[j]``.

    Notes
    -----
    The position is the high word of draw x (i + 1): for J raters its bias is below J / 2^64.
    """
    words = random_words(seed, b, order.size)
    shuffled = order.copy()
    for start, stop in itertools.pairwise(bounds.tolist()):
        for i in range(stop - 1, start, -1):
            j = start + (int(words[i]) * (i - start + 1) >> 64)
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    source = np.empty_like(order)
    source[order] = shuffled
    return source
