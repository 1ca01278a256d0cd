"""How far any two raters differ, without their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array
from grasp_core.model.ordering import tallied
from grasp_core.model.spec import Level
from grasp_core.permutation.jit import compiled
from grasp_core.statistics.distance import distance_of


def told(codes: Int64Array, least: int) -> tuple[Int64Array, BoolArray]:
    """Values to be told of each rater, and who has a point.

    Parameters
    ----------
    codes : int64 array, shape (n, C)
        Each rater's value on each axis, -1 where it is unknown.
    least : int
        Raters who have to have all values that are told of one of them.

    Returns
    -------
    codes : int64 array, shape (n, C)
        With -1 too where a value is not told.
    shown : bool array, shape (n,)

    Notes
    -----
    From the last axis to the first, whoever is still among too few loses the value. Only whole sets of
    equal raters lose one, so what is told of others stays true of as many.
    """
    codes = codes.copy()
    for axis in reversed(range(codes.shape[1])):
        codes[_among_few(codes, least), axis] = -1
    return codes, ~_among_few(codes, least)


def _among_few(codes: Int64Array, least: int) -> BoolArray:
    _, equal, times = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    few: BoolArray = times[equal.ravel()] < least
    return few


def pair_disagreements(
    questions: Sequence[Annotations], chosen: Int64Array, level: Level
) -> tuple[Int32Array, FloatArray]:
    """What every two of some raters share, and how far they differ there.

    Parameters
    ----------
    questions : sequence of Annotations
        Answers to one question, or to several about the same items by the same raters.
    chosen : int64 array, shape (n,)
        Positions of raters, ascending.

    Returns
    -------
    common : int32 array, shape (n, n)
        Answers that both gave; 0 on the diagonal.
    mean : float64 array, shape (n, n)
        Mean squared distance of these answers, 0 where there are none: at level nominal the share that
        differs; else 1 is what two labels drawn at random are apart.
    """
    common = np.zeros((chosen.size, chosen.size), np.int32)
    total = np.zeros((chosen.size, chosen.size))
    for one in questions:
        _add_up(*_of_raters(one, chosen), label_distances(one, level), common, total)
    common += common.T
    total += total.T
    return common, np.divide(total, common, out=np.zeros_like(total), where=common > 0)


def label_distances(annotations: Annotations, level: Level) -> FloatArray:
    """Squared distance between every two labels, shape (K, K), in units of two labels drawn at random.

    At level nominal it is 1 between different labels, and no more is made of it.
    """
    given = tallied(annotations.category, annotations.n_categories)
    delta = distance_of(annotations.categories, level)(given)
    if level == "nominal":
        return delta
    n = annotations.n_annotations
    by_chance = float(given @ delta @ given) / (n * (n - 1)) if n > 1 else 0.0
    return delta / by_chance if by_chance > 0 else delta


def _of_raters(
    annotations: Annotations, chosen: Int64Array
) -> tuple[Int64Array, npt.NDArray[np.integer[Any]], Int32Array]:
    """The annotations of the chosen raters, sorted by item: bounds of items, rater's place, category."""
    place = np.full(annotations.n_raters, -1, np.int32)
    place[chosen] = np.arange(chosen.size, dtype=np.int32)
    taken = place[annotations.rater] >= 0
    before = np.concatenate(([0], np.cumsum(taken)))
    bounds: Int64Array = before[annotations.indptr].astype(np.int64)
    return bounds, place[annotations.rater[taken]], annotations.category[taken]


@compiled()
def _add_up(bounds, rater, category, delta, common, total):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Add every two annotations of an item, below the diagonal: raters ascend within an item."""
    for i in range(bounds.size - 1):
        for a in range(bounds[i], bounds[i + 1]):
            for b in range(bounds[i], a):
                common[rater[a], rater[b]] += 1
                total[rater[a], rater[b]] += delta[category[a], category[b]]
