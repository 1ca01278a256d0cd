"""Macro-F1 from counts, for one set of predictions or for thousands at once.

Letters in docstrings: n items, K classes, P distinct rows, B resamples.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Literal

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Codes, FloatArray, Int64Array

Convention = Literal["leaderboard", "declared"]
"""Classes of the mean: classes in gold or predictions ("leaderboard"), or all that the task declares."""

Part = tuple[int, int]
BLOCK = 100
"""Resamples of a block; each block has its own random stream, so the number of blocks changes no value."""
TIE = 1e-12
"""Values this close count as equal."""


def confusion(gold: Codes, predicted: Codes, classes: int) -> Int64Array:
    """Count items by gold class (row) and predicted class (column), shape (K, K)."""
    pairs = gold.astype(np.int64) * classes + predicted
    return np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)


def macro_f1(counts: npt.ArrayLike, convention: Convention = "leaderboard") -> float:
    """Return macro-F1 of a confusion matrix.

    Parameters
    ----------
    counts : int array, shape (K, K)
        See :func:`confusion`.
    convention : {"leaderboard", "declared"}

    Returns
    -------
    float
        NaN without items.

    Notes
    -----
    The mean over classes k of 2 t[k] / (g[k] + p[k]), with t[k] items rightly given class k, g[k] items of
    class k and p[k] items that were given it; 0 if g[k] + p[k] = 0. This is scikit-learn's ``f1_score`` with
    ``average="macro"``: without ``labels`` for "leaderboard", with all classes as ``labels`` for "declared".
    """
    table = np.asarray(counts, dtype=np.float64)
    if not table.any():
        return float("nan")
    return float(f1_of_totals(np.diagonal(table), table.sum(axis=1), table.sum(axis=0), convention))


def f1_of_totals(
    right: FloatArray, gold: FloatArray, predicted: FloatArray, convention: Convention = "leaderboard"
) -> FloatArray:
    """Return macro-F1 from counts per class, shape (..., K), as an array of shape (...)."""
    either = gold + predicted
    scores = np.divide(2 * right, either, out=np.zeros(either.shape), where=either > 0)
    classes = (either > 0).sum(axis=-1) if convention == "leaderboard" else either.shape[-1]
    means: FloatArray = scores.sum(axis=-1) / classes
    return means


def indicator(codes: Codes, classes: int) -> FloatArray:
    """Return 1 for each row's class and 0 elsewhere, shape (P, K)."""
    table = np.zeros((codes.size, classes))
    table[np.arange(codes.size), codes] = 1.0
    return table


def distinct(columns: Sequence[Codes]) -> tuple[Int64Array, Int64Array]:
    """Return the distinct rows of code columns, shape (P, columns), and their counts, shape (P,)."""
    rows, times = np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0, return_counts=True)
    return rows, times


def streams(
    seed: int, purpose: str, resamples: int, part: Part = (0, 1)
) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a random generator per block of resamples, and the number of resamples to draw from it.

    Parameters
    ----------
    part : (int, int)
        Index of a part and number of parts, each of consecutive blocks; together they draw the same as one.

    Notes
    -----
    Block b of a purpose draws from Philox-4x64 with a key of seed and purpose and a counter of b.
    """
    key = np.array([seed, int.from_bytes(sha256(purpose.encode()).digest()[:8], "big")], dtype=np.uint64)
    starts = range(0, resamples, BLOCK)
    first, end = (len(starts) * edge // part[1] for edge in (part[0], part[0] + 1))
    for block, start in list(enumerate(starts))[first:end]:
        counter = np.array([0, 0, 0, block], dtype=np.uint64)
        generator = np.random.Generator(np.random.Philox(key=key, counter=counter))
        yield generator, min(BLOCK, resamples - start)


def interval(values: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of resampled values, shape (B,)."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)
