"""How much a macro-F1 owes to which items were drawn: the bootstrap over items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.annotations import Codes, FloatArray, Int64Array
from grasp_core.statistics.f1 import distinct, f1_of_totals, indicator, streams

RESAMPLES = 10_000
FEW = 16
"""Items per distinct row from which the counts are drawn at once."""


def resampled_f1(
    gold: Codes,
    systems: Sequence[Codes],
    classes: int,
    *,
    seed: int,
    purpose: str,
    resamples: int = RESAMPLES,
) -> FloatArray:
    """Macro-F1 (leaderboard's convention) of one or several systems on items drawn with replacement.

    Parameters
    ----------
    gold : int array, shape (n,)
    systems : sequence of int arrays, each of shape (n,)
        Predicted classes; every system is scored on the same draws.
    classes : int
        K.
    seed : int
    purpose : str
        What the draws are for, e.g. the task's name: tasks must not share their draws.
    resamples : int
        B.

    Returns
    -------
    float array, shape (systems, B)

    Notes
    -----
    Items that agree in gold and predictions are alike, so only the counts of the distinct rows are drawn;
    sums over rows are products with 0/1 matrices.

    References
    ----------
    Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13 (percentile interval).
    """
    rows, times = distinct([gold, *systems])
    of_gold = indicator(rows[:, 0], classes)
    of_systems = [indicator(rows[:, column], classes) for column in range(1, rows.shape[1])]
    both = [of_gold * of_system for of_system in of_systems]
    blocks = []
    for generator, size in streams(seed, f"bootstrap {purpose}", resamples):
        drawn = _drawn(generator, times, size).astype(np.float64)
        golds = drawn @ of_gold
        scores = [
            f1_of_totals(drawn @ right, golds, drawn @ of_system)
            for right, of_system in zip(both, of_systems, strict=True)
        ]
        blocks.append(np.stack(scores))
    return np.concatenate(blocks, axis=1)


def _drawn(generator: np.random.Generator, times: Int64Array, size: int) -> Int64Array:
    """How often each distinct row is drawn, shape (size, P).

    Notes
    -----
    Multinomial: a few rows are drawn at once with their counts, many are counted item by item, which is
    faster where they are nearly as many as the items.
    """
    n, P = int(times.sum()), times.size
    if n > P * FEW:
        return generator.multinomial(n, times / n, size=size)
    row_of_item = np.repeat(np.arange(P), times)
    rows = row_of_item[generator.integers(n, size=(size, n), dtype=np.int32)]
    rows += P * np.arange(size)[:, None]
    return np.bincount(rows.ravel(), minlength=size * P).reshape(size, P)
