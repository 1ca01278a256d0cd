"""Values that may stand beside a point: never such that only few raters have all of them."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import BoolArray, Int64Array


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
