"""Which training rows stand in a prompt as examples, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import FloatArray

Similarity = Callable[[Sequence[str], Sequence[str]], FloatArray]
"""Cosine of each of n texts with each of m others, shape (n, m)."""


def cosine_of(embed: Callable[[Sequence[str]], npt.NDArray[np.floating[Any]]]) -> Similarity:
    """Similarity by embeddings of unit length, shape (n, width)."""
    return lambda texts, others: (embed(texts) @ embed(others).T).astype(np.float64)


def most_similar(cosines: FloatArray, shots: int) -> list[int]:
    """The rows most similar to a target, the most similar last; of equal ones, the first of the file.

    Parameters
    ----------
    cosines : array of shape (rows,)
    shots : int
    """
    first = np.argsort(-cosines, kind="stable")[:shots]
    return [int(row) for row in first[::-1]]


def drawn(labels: Sequence[str], shots: int, seed: int) -> list[int]:
    """Rows by chance, one of each class before others; all, in file order, if there are no more.

    The same for every target, as in the paper: its own code seeds again before each.
    """
    if len(labels) <= shots:
        return list(range(len(labels)))
    rng = np.random.Generator(np.random.Philox(seed))
    by_label: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        by_label.setdefault(label, []).append(row)
    first = [int(rng.choice(rows)) for rows in by_label.values()]
    rest = sorted(set(range(len(labels))) - set(first))
    order = [*rng.permutation(first), *rng.permutation(rest)]
    return [int(row) for row in order[:shots]]
