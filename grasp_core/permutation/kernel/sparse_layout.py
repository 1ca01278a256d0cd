"""Arrays of raters, groups and rows for :mod:`~grasp_core.permutation.kernel.sparse`."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Annotations, BoolArray, Int64Array
from grasp_core.permutation.jit import borrowing, compiled
from grasp_core.permutation.kernel.columns import QUAD
from grasp_core.permutation.kernel.profiles import Profiled, batch_of
from grasp_core.permutation.kernel.sparse import FIELD_BITS, bits_for

_OFTEN = 0.4
"""Share of items with a label of a group from which the group is looked up on all items."""


class Sparse(NamedTuple):
    """A design's arrays for sparse data.

    `profile`, `row_ptr`, `row_of`, `union`, `part`, `belongs`, `unknown_of`: see
        :class:`~grasp_core.permutation.kernel.profiles.Profiled`.
    `unknown`: true if some raters' values are unknown.
    `order`: the groups, first the N groups that are looked up on every item, then rare groups.
    `n_often`: N.
    `place`: position of each row among the rows in the order of counting: groups are in `order`.
    `place_of`, `rare_ptr`: as `row_of`, with positions, rare groups last: profile p has these from
        ``rare_ptr[p]`` on.
    `batch`: permutations for which an item is visited once. Their profiles take at most 8 bytes an
        annotation, :data:`~grasp_core.permutation.kernel.profiles.SMALL` bytes, or the bytes of
        :data:`~grasp_core.permutation.kernel.profiles.FEWEST_BATCH` permutations.
    """

    profile: npt.NDArray[np.unsignedinteger[Any]]
    row_ptr: Int64Array
    row_of: Int64Array
    union: Int64Array
    part: Int64Array
    belongs: BoolArray
    unknown_of: Int64Array
    unknown: bool
    order: Int64Array
    n_often: int
    place: Int64Array
    place_of: Int64Array
    rare_ptr: Int64Array
    batch: Int64Array


def lay_out(annotations: Annotations, profiled: Profiled) -> Sparse | None:
    """Build the arrays that all permutations read; None if an item's counts do not fit into one number."""
    if annotations.n_annotations == 0 or profiled.profile.dtype != np.uint16:
        return None
    unknown = profiled.unknown
    bits, most = _widest(annotations.indptr, annotations.category, annotations.n_categories)
    if (2 * bits if unknown else bits) >= 63 or QUAD * most >> FIELD_BITS:
        return None
    batch = np.array([batch_of(annotations.n_annotations, profiled.profile.size)], dtype=np.int64)
    n_rows, n_groups = profiled.belongs.shape[1], profiled.unknown_of.size
    n_known = n_rows - n_groups
    of_row = np.bincount(profiled.profile, minlength=len(profiled.belongs)) @ profiled.belongs
    each = annotations.n_annotations / max(annotations.n_items, 1)
    often = 1 - (1 - of_row[n_known:] / profiled.profile.size) ** each >= _OFTEN
    often[profiled.union - n_known] = True
    if 2 * often.sum() > often.size:  # then noting the few rare ones is slower than looking them up
        often[:] = True
    order = np.argsort(~often, kind="stable")
    place = np.arange(n_rows)
    place[n_known + order] = np.arange(n_known, n_rows)
    first_rare = n_known + int(often.sum())
    profile = np.repeat(np.arange(profiled.row_ptr.size - 1), np.diff(profiled.row_ptr))
    place_of = place[profiled.row_of]
    place_of = place_of[np.lexsort((place_of, profile))]
    n_often = np.bincount(profile[place_of < first_rare], minlength=profiled.row_ptr.size - 1)
    return Sparse(
        *profiled,
        unknown,
        order=order,
        n_often=first_rare - n_known,
        place=place,
        place_of=place_of,
        rare_ptr=profiled.row_ptr[:-1] + n_often,
        batch=batch,
    )


@compiled()
def _widest(indptr, category, n_categories):  # type: ignore[no-untyped-def]
    """Return the most bits of an item's number, and the most labels of an item."""
    counts = np.empty(n_categories, dtype=np.int64)
    widest, most = np.int64(0), np.int64(0)
    for item in range(indptr.size - 1):
        counts[:] = 0
        for a in range(indptr[item], indptr[item + 1]):
            counts[category[a]] += 1
        widest = max(widest, _digits(counts))
        most = max(most, indptr[item + 1] - indptr[item])
    return widest, most


@borrowing
def _digits(totals):  # type: ignore[no-untyped-def]
    """Return the number of bits for a count of each category."""
    bits = np.int64(0)
    for k in range(totals.size):
        bits += bits_for(totals[k])
    return bits
