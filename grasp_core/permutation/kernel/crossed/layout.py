"""Raters and groups laid out for :mod:`~grasp_core.permutation.kernel.crossed.adding`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import Annotations, FloatArray, Int64Array
from grasp_core.model.groups import Grouping
from grasp_core.permutation.kernel.arguments import LEVELS, Distances
from grasp_core.permutation.kernel.profiles import profiles_of, rows_by_column
from grasp_core.statistics.counts import count
from grasp_core.statistics.distance import squared_distances

MOST_ENTRIES = 16384
"""Largest table; it has to stay in a core's own cache."""
FEW_ENTRIES = 1024
"""Largest mean size at which building the tables is cheap beside looking things up."""
_EXACT_BITS = 52
"""Whole numbers below 2^52 are exact in float64, so several small ones are packed into one."""


class Crossed(NamedTuple):
    """Arrays of crossed data, beside the rest of a design.

    Parameters
    ----------
    linear : float64 (J, K + C)
        By rater: labels of each category, and by column of disagreement sum_i sum_l T_il w_kl over the labels
        k that the rater gave.
    units : float64 (Q, K + 2), or (Q, 2 K + 2) where the others' votes are counted by themselves
        By packed column what one of each field counts there: 2 to the power of its lowest bit, or 0 where it
        lies in another column. Votes for the last category have none: they follow from the others.
    profile : int64 (J,)
        Each rater's profile: which groups they belong to.
    group_ptr, group_of : int64 arrays
        Profile p belongs to the groups ``group_of[group_ptr[p]:group_ptr[p + 1]]``.
    """

    linear: FloatArray
    units: FloatArray
    profile: Int64Array
    group_ptr: Int64Array
    group_of: Int64Array


def lay_out(
    annotations: Annotations, grouping: Grouping, distances: Distances, width: int, *, kappa: bool
) -> Crossed | None:
    """Build once what every permutation reads; None unless data are crossed and tables small.

    `width` is the number of items in a block; `kappa` as in
    :class:`~grasp_core.permutation.kernel.arguments.Conventions`.
    """
    k = annotations.n_categories
    if k < 2 or annotations.n_items == 0 or not grouping.groups or not grouping.known.all():
        return None
    if annotations.n_annotations != annotations.n_items * annotations.n_raters:
        return None
    totals = count(annotations, np.ones(annotations.n_raters, dtype=np.bool_))
    entries = np.array([(np.minimum(totals[:, :-1], n) + 1.0).prod(axis=1) for n in grouping.n_raters])
    if entries.max() > MOST_ENTRIES or entries.mean() > FEW_ENTRIES:
        return None
    linear = np.zeros((annotations.n_raters, k + distances.n_columns))
    cell = annotations.rater.astype(np.int64) * k + annotations.category
    linear[:, :k] = np.bincount(cell, minlength=annotations.n_raters * k).reshape(-1, k)
    for column in range(distances.n_columns):
        met = (totals @ _weights(distances, column))[annotations.item, annotations.category]
        linear[:, k + column] = np.bincount(annotations.rater, weights=met, minlength=annotations.n_raters)
    most = width * int(grouping.n_raters.max())
    others = [width.bit_length()] * (k if kappa else 0)
    units = _pack([most.bit_length(), width.bit_length(), *[(2 * width).bit_length()] * (k - 1), 0, *others])
    profile, first_of = profiles_of(grouping.member)
    groups = rows_by_column(grouping.member[:, first_of])
    return Crossed(linear, units, profile.astype(np.int64), *groups)


def _weights(distances: Distances, column: int) -> FloatArray:
    """What two labels add to a column of disagreement, shape (K, K)."""
    if not distances.first.size:
        return squared_distances(LEVELS[distances.level], distances.values, np.zeros(distances.values.size))
    weights = np.zeros((distances.values.size, distances.values.size))
    first, second = distances.first[column], distances.second[column]
    weights[first, second] = weights[second, first] = 1.0
    return weights


def _pack(bits: list[int]) -> FloatArray:
    """Put fields that need so many bits, or none, into as few columns as hold them; see :class:`Crossed`."""
    units = np.zeros((len(bits), len(bits)))
    column = used = 0
    for field, need in enumerate(bits):
        if used + need > _EXACT_BITS:
            column, used = column + 1, 0
        units[column, field] = 2.0**used if need > 0 else 0.0
        used += need
    return units[: column + 1].copy()
