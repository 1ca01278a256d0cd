"""An item's labels counted for every row, as digits of its numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Int32Array
from grasp_core.permutation.jit import inlined, making
from grasp_core.permutation.kernel.item_terms import CountArray


class Counts(NamedTuple):
    """Counts of an item under a batch of permutations.

    `number`: each row's counts: the row of a table that holds what they add.
    `cells`: the like for profiles, where these are counted first.
    `left_out`: by label how many of those gave it whose values are not known; without H where all are known.
    `given`, `squares`: labels of all whose values are known, sum_k (c_k + d_k), and sum_k (c_k + d_k)^2.
    """

    number: npt.NDArray[np.uint16]
    cells: npt.NDArray[np.uint16]
    left_out: Int32Array
    given: CountArray
    squares: CountArray


@making
def room_for_counts(batch, local, digits):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Room for the counts of any item."""
    n_rows, n_known = local.belongs.shape[1], local.belongs.shape[1] - local.unknown_of.size
    numbers, labels = np.int64(0), np.int64(0)
    for item in range(local.indptr.size - 1):
        numbers = max(numbers, digits.number_ptr[item + 1] - digits.number_ptr[item])
        labels = max(labels, local.label_ptr[item + 1] - local.label_ptr[item])
    n_profiles = local.row_ptr.size - 1 if digits.by_profile else 0
    return Counts(
        np.empty((numbers, n_rows, batch), dtype=np.uint16),
        np.empty((numbers, n_profiles, batch), dtype=np.uint16),
        np.zeros((labels, n_known if digits.unknown else 0, batch), dtype=np.int32),
        np.empty((n_known, batch), dtype=local.ties.dtype),
        np.empty((n_known, batch), dtype=local.ties.dtype),
    )


@inlined
def count_item(item, profiles, local, digits, counts, unknown):  # type: ignore[no-untyped-def]
    """Count the item's labels for every row; those left out are added to `unknown` too."""
    index = counts.number[: digits.number_ptr[item + 1] - digits.number_ptr[item]]
    n_known = index.shape[1] - local.unknown_of.size
    start = digits.start[digits.number_ptr[item] : digits.number_ptr[item + 1]]
    for j in range(index.shape[0]):
        index[j] = start[j]
    if digits.by_profile:
        _count_profiles(item, profiles, local, digits, counts.cells[: index.shape[0]], index)
    else:
        _count_rows(item, profiles, local, digits, index)
    if digits.unknown:
        _count_unknown(item, profiles, local, digits, index, counts.left_out, unknown)
    for j in range(index.shape[0]):
        begun = np.uint16(start[j])
        for u in range(local.union.size):
            _add_row(index[j, local.part[u]], begun, index[j, local.union[u]])
        if digits.unknown:
            for g in range(local.unknown_of.size):
                _add_row(index[j, local.unknown_of[g]], begun, index[j, n_known + g])
    _count_known(item, local, digits, counts)


@inlined
def _count_rows(item, profiles, local, digits, index):  # type: ignore[no-untyped-def]
    """Count annotations for the groups of their raters."""
    first = local.label_ptr[item]
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = first + local.label[a], profiles[local.rater[a]]
        into, step = index[digits.number[label]], digits.step[label]
        for b in range(who.size):
            for r in range(digits.group_ptr[who[b]], local.row_ptr[who[b] + 1]):
                into[local.row_of[r], b] += step


@inlined
def _count_profiles(item, profiles, local, digits, cells, index):  # type: ignore[no-untyped-def]
    """The like, first for profiles, and what each has then for its groups."""
    first = local.label_ptr[item]
    cells[:] = 0
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = first + local.label[a], profiles[local.rater[a]]
        into, step = cells[digits.number[label]], digits.step[label]
        for b in range(who.size):
            into[who[b], b] += step
    for j in range(index.shape[0]):
        for profile in range(cells.shape[1]):
            for r in range(digits.group_ptr[profile], local.row_ptr[profile + 1]):
                _add_row(cells[j, profile], np.uint16(0), index[j, local.row_of[r]])


@inlined
def _count_unknown(item, profiles, local, digits, index, left_out, unknown):  # type: ignore[no-untyped-def]
    """Count the labels of those whose values are not known."""
    first = local.label_ptr[item]
    left_out[: local.label_ptr[item + 1] - first] = 0
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = first + local.label[a], profiles[local.rater[a]]
        into, step, category = index[digits.number[label]], digits.unknown_step[label], local.category[label]
        for b in range(who.size):
            for r in range(local.row_ptr[who[b]], digits.group_ptr[who[b]]):
                row = local.row_of[r]
                into[row, b] += step
                left_out[label - first, row, b] += 1
                unknown[row, category, b] += 1


@inlined
def _count_known(item, local, digits, counts):  # type: ignore[no-untyped-def]
    """Count the labels of all whose values are known, and their squares by label."""
    counts.given[:] = 0
    counts.squares[:] = 0
    for label in range(local.label_ptr[item], local.label_ptr[item + 1]):
        total = local.total[label]
        for row in range(counts.given.shape[0]):
            given, squares = counts.given[row], counts.squares[row]
            if digits.unknown:
                less = counts.left_out[label - local.label_ptr[item], row]
                for b in range(given.size):
                    given[b] += total - less[b]
                    squares[b] += (total - less[b]) * (total - less[b])
            else:
                for b in range(given.size):
                    given[b] += total
                    squares[b] += total * total


@inlined
def _add_row(row, begun, into):  # type: ignore[no-untyped-def]
    for b in range(into.size):
        into[b] += np.uint16(row[b] - begun)
