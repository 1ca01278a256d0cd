"""Raters who belong to the same groups have one profile: there are few, however many raters there are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from grasp_core.annotations import BoolArray, Int64Array


def profiles_of(member: BoolArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Number the distinct columns of `member`, shape (G, J), in order of first appearance.

    Returns
    -------
    profile : int array (J,)
    first : int array (P,)
        The first rater of each profile.
    """
    profile = np.zeros(member.shape[1], dtype=np.intp)
    for eight in np.packbits(member, axis=0):
        profile, _ = pd.factorize(256 * profile + eight)
    return profile, np.flatnonzero(np.diff(np.maximum.accumulate(profile), prepend=-1))


def rows_by_column(rows: BoolArray) -> tuple[Int64Array, Int64Array]:
    """By column of `rows` the rows that hold it: ``of[ptr[p]:ptr[p + 1]]``, ascending."""
    column, of = np.nonzero(rows.T)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(column, minlength=rows.shape[1]))))
    return ptr.astype(np.int64), of.astype(np.int64)
