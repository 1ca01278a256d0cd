"""How much of the distances between raters each axis explains, against shuffled profiles (PERMANOVA)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.exchange import Exchange
from grasp_core.permutation.kernel.profiles import draw
from grasp_core.permutation.nulls.deviations import FEWEST, TIE_TOLERANCE
from grasp_core.permutation.testing.corrections import q_values

FEWEST_PERMUTATIONS = 1000
MOST_WORK = 1e11
"""Multiplications: beyond :data:`FEWEST_PERMUTATIONS` no more permutations than take so many."""
ROOM = 64 * 2**20
"""Bytes of a batch of permutations."""
PIECES = 16
"""Pieces of work that permutations are computed in."""

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""Computes a function of each argument, results in order, as :func:`map` and pools do."""


class Explained(NamedTuple):
    """The share that an axis set explains, what random groupings do on the average, and the test.

    All None where it has fewer than two groups, or there is nothing to explain.
    """

    share: float | None
    by_chance: float | None
    p: float | None
    q: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some permutations: the first of them, how many, and what :func:`shuffled_shares` takes."""

    squared: FloatArray
    group: Int64Array
    exchange: Exchange
    seed: int
    first: int
    count: int


def hold_against(
    squared: FloatArray,
    group: Int64Array,
    exchange: Exchange,
    spec: AnalysisSpec,
    each: Each = map,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[list[Explained], int]:
    """Hold the share that each axis set explains against that of shuffled profiles.

    Parameters
    ----------
    squared : float64 array, shape (n, n)
        Squared distances between raters.
    group : int64 array, shape (S, n)
        Each rater's group on each axis set, from 0 on; -1 for those who are in none.
    exchange : Exchange
        Of these raters: how profiles move.
    spec : AnalysisSpec
        Permutations, seed and correction.
    each : callable
        Has the pieces of work computed.
    progress : callable
        Called with the share that is done after each piece; what it raises ends the work.

    Returns
    -------
    list of Explained, length S
    int
        Permutations that were taken.

    Notes
    -----
    Rater j takes the whole profile of another, as in every run: on all axis sets at once, those in no group
    included. R^2 is :func:`grasp_core.statistics.between_raters.explained`.
    """
    count = n_permutations(
        squared.shape[0], int((group.max(axis=1, initial=-1) + 1).sum()), spec.permutations
    )
    own = np.array([shares(squared, row[:, None])[0] for row in group])
    tested = np.flatnonzero((group.max(axis=1, initial=-1) >= 1) & ~np.isnan(own))
    null = _null(Piece(squared, group[tested], exchange, spec.seed, 0, count), each, progress)
    reached = (null >= own[tested] - TIE_TOLERANCE).sum(axis=0)
    p = [(1 + int(n)) / (count + 1) if count >= FEWEST else None for n in reached]
    q = q_values(p, own[tested], null, spec.correction)
    places = {int(s): at for at, s in enumerate(tested)}
    by_chance = np.nanmean(null, axis=0)
    return [
        Explained(float(own[s]), float(by_chance[places[s]]), p[places[s]], q[places[s]])
        if s in places
        else Explained(None, None, None, None)
        for s in range(len(group))
    ], count


def _null(whole: Piece, each: Each, progress: Callable[[float], None]) -> FloatArray:
    """Shares under all permutations, shape (B, S)."""
    firsts = [whole.count * piece // PIECES for piece in range(PIECES + 1)]
    pieces = [
        replace(whole, first=first, count=end - first) for first, end in pairwise(firsts) if end > first
    ]
    found = []
    for shares_of in each(_shares_of, pieces):
        found.append(shares_of)
        progress(len(found) / len(pieces))
    return np.concatenate(found)


def _shares_of(piece: Piece) -> FloatArray:
    with threadpool_limits(1):
        return shuffled_shares(
            piece.squared, piece.group, piece.exchange, piece.seed, piece.count, first=piece.first
        )


def n_permutations(raters: int, groups: int, wanted: int) -> int:
    """Permutations that are taken: those of the run, or as many as the work allows."""
    fitting = int(MOST_WORK / (2 * raters**2 * max(groups, 1)))
    return min(wanted, max(fitting, FEWEST_PERMUTATIONS))


def shuffled_shares(
    squared: FloatArray, group: Int64Array, exchange: Exchange, seed: int, count: int, *, first: int = 0
) -> FloatArray:
    """R^2 of each axis set under `count` permutations from the `first` on, shape (count, S)."""
    table, profile = np.unique(group, axis=1, return_inverse=True)
    step = max(ROOM // (16 * group.shape[1] * int(group.max(initial=0) + 1)), 1)
    out = np.empty((count, len(group)))
    for start in range(0, count, step):
        drawn = np.empty((group.shape[1], min(step, count - start)), np.uint16)
        draw(np.uint64(seed), first + start, *exchange, profile.astype(np.uint16), drawn)
        for s, groups_of in enumerate(table):
            out[start : start + step, s] = shares(squared, groups_of[drawn])
    return out


def shares(squared: FloatArray, group: Int64Array) -> FloatArray:
    """R^2 of B groupings, shape (B,).

    Parameters
    ----------
    squared : float64 array, shape (n, n)
    group : int64 array, shape (n, B)
        Each rater's group in each grouping, -1 for those in none; every group has somebody.
    """
    groups = np.arange(max(int(group.max(initial=-1)) + 1, 1))
    member = (group[:, None, :] == groups[:, None]).astype(np.float64)  # (n, G, B)
    near = (squared @ member.reshape(len(group), -1)).reshape(member.shape)
    sizes = member.sum(axis=0)
    taken = member.sum(axis=1)
    within = np.einsum("ngb,ngb->gb", member, near) / (2 * np.maximum(sizes, 1))
    total = (taken * near.sum(axis=1)).sum(axis=0) / (2 * np.maximum(taken.sum(axis=0), 1))
    left = np.full(group.shape[1], np.nan)
    np.divide(within.sum(axis=0), total, out=left, where=total > 0)
    return np.asarray(1 - left)
