"""An item's labels counted for every row, by the labels it has."""

from __future__ import annotations

from typing import NamedTuple

from grasp_core.permutation.jit import borrowing
from grasp_core.permutation.kernel.item_terms import CountArray


class Counts(NamedTuple):
    """Counts of an item under a pass of permutations.

    Parameters
    ----------
    c : int (labels, R * passed)
        Of the labels that several raters gave, by row and permutation.
    once : int (R * passed,)
        Of the labels that one rater gave: ``count << shift | place of the highest``.
    n : int (R * passed,)
        Of all labels.
    """

    c: CountArray
    once: CountArray
    n: CountArray


@borrowing
def count_item(item, profiles, shift, local, counts, own, from_b, again):  # type: ignore[no-untyped-def]
    """Count the item's labels for every row."""
    here, repeated = profiles.shape[1], local.repeated[item]
    n_rows, first = local.belongs.shape[1], local.label_ptr[item]
    once, n, mask = counts.once, counts.n, (1 << shift) - 1
    size = n_rows * here
    for label in range(repeated):
        counts.c[label, :size] = 0
    once[:size] = 0
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = local.label[a], profiles[local.rater[a]]
        if label < repeated:
            into = counts.c[label]
            for b in range(here):
                for r in range(local.row_ptr[who[b]], local.row_ptr[who[b] + 1]):
                    into[local.row_of[r] * here + b] += 1
        else:
            category = local.category[first + label]
            for b in range(here):
                for r in range(local.row_ptr[who[b]], local.row_ptr[who[b] + 1]):
                    row = local.row_of[r]
                    place = row * here + b
                    once[place] = (once[place] & ~mask) + (1 << shift) | label
                    if not again:
                        own[row, category, from_b + b] += 1
    if not again:
        for label in range(repeated):
            category, c = local.category[first + label], counts.c[label]
            for row in range(n_rows):
                into, added = own[row, category], c[row * here : row * here + here]
                for b in range(here):
                    into[from_b + b] += added[b]
    for u in range(local.union.size):
        into, part = local.union[u] * here, local.part[u] * here
        for label in range(repeated):
            c = counts.c[label]
            for b in range(here):
                c[into + b] += c[part + b]
        for b in range(here):
            x, y = once[into + b], once[part + b]
            once[into + b] = ((x & ~mask) + (y & ~mask)) | max(x & mask, y & mask)
    for i in range(size):
        n[i] = once[i] >> shift
    for label in range(repeated):
        c = counts.c[label]
        for i in range(size):
            n[i] += c[i]
