"""Counting alone, the lower bound of every kernel: labels of all groups and categories, without statistics.

Each way includes drawing its permutations. The ways: bit sets and population counts; one increment per
annotation and group; one per annotation into the finest cell of the crossed axes, with groups as sums of
cells; and, for many labels, one per annotation and group, item by item.
"""

from __future__ import annotations

import numba
import numpy as np

from grasp_core.model.annotations import Annotations
from grasp_core.model.groups import Grouping
from grasp_core.permutation.design import Design
from grasp_core.permutation.kernel.counting import count_dense, count_sparse, fill_masks, permute
from grasp_core.permutation.kernel.profiles import Membership, draw, profiles_of, rows_by_column


def bit_sets(design: Design, permutations: int) -> None:
    """Count as for crossed data; the design has to be dense."""
    _bit_sets(design.order, design.bounds, design.rows, design.bits, permutations)


def increments(design: Design, permutations: int) -> None:
    """Count annotation by annotation."""
    blocks, _, n_categories, width = design.ties.shape
    counts = np.empty((design.rows.n_known + design.n_groups, n_categories, width), np.int32)
    _increments(design.order, design.bounds, design.rows, design.labels, blocks, counts, permutations)


class Places:
    """Counting for many labels: each annotation once into each of its groups, at its label's place.

    The innermost loop is over permutations, as in the kernel.
    """

    def __init__(self, annotations: Annotations, membership: Membership) -> None:
        self.membership = membership
        members = membership.profiled.belongs[:, membership.rows.n_known :]
        self.groups = rows_by_column(members.T)
        item = annotations.item.astype(np.int64)
        labels, of_label = np.unique(
            item * annotations.n_categories + annotations.category, return_inverse=True
        )
        self.first = np.searchsorted(labels, np.arange(annotations.n_items + 1) * annotations.n_categories)
        self.place = (of_label - self.first[item]).astype(np.int32)
        self.annotations = annotations

    def count(self, permutations: int) -> None:
        """Draw, and count item by item."""
        own = self.membership.profiled.profile
        profiles = np.empty((own.size, permutations), dtype=own.dtype)
        draw(np.uint64(1), 0, self.membership.order, self.membership.bounds, own, profiles)
        n_groups = self.membership.rows.known_of.size
        counts = np.empty((int(self.place.max()) + 1, n_groups, permutations), dtype=np.int32)
        of = self.annotations
        _places(of.indptr, of.rater, self.first, self.place, *self.groups, profiles, counts)


class Cells:
    """Counting into the finest cells: raters of one profile, and the cells that make up each group."""

    def __init__(self, annotations: Annotations, grouping: Grouping) -> None:
        profile, first = profiles_of(grouping.member)
        self.profile = profile.astype(np.int32)
        self.n_profiles = first.size
        self.cell_ptr, self.cell_of = rows_by_column(grouping.member[:, first].T)

    def count(self, design: Design, permutations: int) -> None:
        """Count into cells and sum them up."""
        blocks, _, n_categories, width = design.ties.shape
        cells = np.empty((self.n_profiles, n_categories, width), np.uint8)
        counts = np.empty((design.n_groups, n_categories, width), np.uint8)
        of = (self.profile, self.cell_ptr, self.cell_of)
        _cells(design.order, design.bounds, design.labels, of, blocks, cells, counts, permutations)


@numba.njit(cache=True, nogil=True)
def _places(indptr, rater, first, place, group_ptr, group_of, profiles, counts):  # type: ignore[no-untyped-def]
    for item in range(indptr.size - 1):
        counts[: first[item + 1] - first[item]] = 0
        for a in range(indptr[item], indptr[item + 1]):
            into, who = counts[place[a]], profiles[rater[a]]
            for b in range(profiles.shape[1]):
                for g in range(group_ptr[who[b]], group_ptr[who[b] + 1]):
                    into[group_of[g], b] += 1


@numba.njit(cache=True, nogil=True)
def _bit_sets(order, bounds, rows, bits, permutations):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    words = np.empty(order.size + 3, dtype=np.uint64)
    shuffled_order, source = np.empty_like(order), np.empty_like(order)
    masks = np.empty((rows.n_known + rows.known_of.size, bits.shape[2]), dtype=np.uint64)
    counts = np.empty((masks.shape[0], bits.shape[1], bits.shape[3]), dtype=np.int32)
    for b in range(permutations):
        permute(np.uint64(1), np.uint64(b), order, bounds, words, shuffled_order, source)
        fill_masks(source, rows, masks)
        for block in range(bits.shape[0]):
            count_dense(masks, bits[block], counts)


@numba.njit(cache=True, nogil=True)
def _increments(order, bounds, rows, labels, blocks, counts, permutations):  # type: ignore[no-untyped-def]
    words = np.empty(order.size + 3, dtype=np.uint64)
    shuffled_order, source = np.empty_like(order), np.empty_like(order)
    for b in range(permutations):
        permute(np.uint64(1), np.uint64(b), order, bounds, words, shuffled_order, source)
        for block in range(blocks):
            count_sparse(source, rows, labels, block * counts.shape[2], counts)


@numba.njit(cache=True, nogil=True)
def _cells(order, bounds, labels, of, blocks, cells, counts, permutations):  # type: ignore[no-untyped-def]
    words = np.empty(order.size + 3, dtype=np.uint64)
    shuffled_order, source = np.empty_like(order), np.empty_like(order)
    profile, cell_ptr, cell_of = of
    width = cells.shape[2]
    for b in range(permutations):
        permute(np.uint64(1), np.uint64(b), order, bounds, words, shuffled_order, source)
        for block in range(blocks):
            cells[:] = 0
            for i in range(width):
                item = block * width + i
                for a in range(labels.indptr[item], labels.indptr[item + 1]):
                    cells[profile[source[labels.rater[a]]], labels.category[a], i] += np.uint8(1)
            counts[:] = 0
            for g in range(counts.shape[0]):
                for c in range(cell_ptr[g], cell_ptr[g + 1]):
                    for k in range(counts.shape[1]):
                        into, one = counts[g, k], cells[cell_of[c], k]
                        for i in range(width):
                            into[i] += one[i]
