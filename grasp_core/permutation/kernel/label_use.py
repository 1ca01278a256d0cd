"""A group's labels of each category beyond the expected number, added up over raters.

If all raters' values are known, permutations do not change an item's labels. The number of a group's labels
of a category beyond the expected number is then a sum over its raters (docs/methods.md, "Label use"), and a
rater's terms are computed once. Crossed data have these sums already. With unknown values, items are needed.
"""

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import Annotations, FloatArray, Int32Array, positions_by, tallied
from grasp_core.permutation.jit import compiled, inlined
from grasp_core.permutation.kernel import sums as at

_PER_PASS, _PASS_SUMS = 16, 2**16
"""Limits for permutations that are added up at a time: their number, and the number of their sums, which
then stay in a core's second cache."""


class OfRaters(NamedTuple):
    """Raters' terms in the sums of categories: 1 for a label given, minus the labels' shares on the item.

    A rater with terms in half of the categories or more has an entry for each category, in their order.

    `ptr`: the r-th of these raters has the entries ``ptr[r]`` to ``ptr[r + 1]`` - 1.
    """

    rater: Int32Array
    ptr: np.ndarray[tuple[int], np.dtype[np.int64]]
    category: Int32Array
    more: FloatArray


def given_by(annotations: Annotations) -> OfRaters:
    """Count the labels of each category that raters gave, in the form of raters' terms."""
    k = annotations.n_categories
    cell, given = np.unique(annotations.rater.astype(np.int64) * k + annotations.category, return_counts=True)
    rater = np.flatnonzero(tallied(annotations.rater, annotations.n_raters))
    ptr = np.searchsorted(cell // k, np.append(rater, annotations.n_raters)).astype(np.int64)
    entries = _completed(ptr, (cell % k).astype(np.int32), given.astype(np.float64), k)
    return OfRaters(rater.astype(np.int32), *entries)


def of_raters(annotations: Annotations) -> OfRaters:
    """Compute raters' terms."""
    share_ptr, share_of, share = _shares(annotations.indptr, annotations.category, annotations.n_categories)
    order = positions_by(annotations.rater)
    given = tallied(annotations.rater, annotations.n_raters)
    rater = np.flatnonzero(given)
    bounds = np.append(0, np.cumsum(given[rater]))
    item, category = annotations.item[order], annotations.category[order]
    ptr = _entries(bounds, item, share_ptr, share_of, annotations.n_categories)
    of, more = _add_raters(bounds, item, category, share_ptr, share_of, share, ptr)
    return OfRaters(rater.astype(np.int32), *_completed(ptr, of, more, annotations.n_categories))


@compiled()
def _shares(indptr, category, n_categories):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Return the categories of each item's labels and their shares, one item after the other."""
    ptr = np.zeros(indptr.size, dtype=np.int64)
    of, share = np.empty(category.size, dtype=np.int32), np.empty(category.size)
    counts = np.zeros(n_categories, dtype=np.int64)
    for i in range(indptr.size - 1):
        end = ptr[i]
        for a in range(indptr[i], indptr[i + 1]):
            k = category[a]
            if counts[k] == 0:
                of[end] = k
                end += 1
            counts[k] += 1
        for s in range(ptr[i], end):
            share[s] = counts[of[s]] / (indptr[i + 1] - indptr[i])
            counts[of[s]] = 0
        ptr[i + 1] = end
    return ptr, of, share


@compiled()
def _entries(bounds, item, share_ptr, share_of, n_categories):  # type: ignore[no-untyped-def]
    """Return the start of each rater's entries: one entry for each category of their items."""
    ptr = np.zeros(bounds.size, dtype=np.int64)
    seen = np.full(n_categories, -1, dtype=np.int64)
    for r in range(bounds.size - 1):
        n = 0
        for a in range(bounds[r], bounds[r + 1]):
            for s in range(share_ptr[item[a]], share_ptr[item[a] + 1]):
                n += seen[share_of[s]] != r
                seen[share_of[s]] = r
        ptr[r + 1] = ptr[r] + n
    return ptr


@compiled()
def _add_raters(bounds, item, category, share_ptr, share_of, share, ptr):  # type: ignore[no-untyped-def]
    """Return the entries' categories, and the raters' terms."""
    of, more = np.empty(ptr[-1], dtype=np.int32), np.empty(ptr[-1])
    place = np.full(category.max() + 1 if category.size else 0, -1, dtype=np.int64)
    for r in range(bounds.size - 1):
        end = ptr[r]
        for a in range(bounds[r], bounds[r + 1]):
            for s in range(share_ptr[item[a]], share_ptr[item[a] + 1]):
                k = share_of[s]
                if place[k] < ptr[r]:
                    place[k], of[end], more[end] = end, k, 0.0
                    end += 1
                more[place[k]] -= share[s]
            more[place[category[a]]] += 1.0
    return of, more


@compiled()
def _completed(ptr, of, more, n_categories):  # type: ignore[no-untyped-def]
    """Give raters with half of the categories or more an entry for each: such entries add up faster."""
    ends = np.zeros_like(ptr)
    for r in range(ptr.size - 1):
        n = ptr[r + 1] - ptr[r]
        ends[r + 1] = ends[r] + (n_categories if 2 * n >= n_categories else n)
    all_of, all_more = np.empty(ends[-1], dtype=of.dtype), np.zeros(ends[-1])
    for r in range(ptr.size - 1):
        first, n = ends[r], ends[r + 1] - ends[r]
        if n == n_categories:
            for k in range(n):
                all_of[first + k] = k
            for entry in range(ptr[r], ptr[r + 1]):
                all_more[first + of[entry]] = more[entry]
        else:
            for entry in range(n):
                all_of[first + entry] = of[ptr[r] + entry]
                all_more[first + entry] = more[ptr[r] + entry]
    return ends, all_of, all_more


@compiled()
def add_up(profiles, held, of, n_categories, first, sort, out):  # type: ignore[no-untyped-def]
    """Put groups' sums of raters' terms by category into `out`, shape (permutations, G, sums).

    `profiles`: shape (J, permutations).
    `first`, `sort`: position of the first category's sums, and position of the sum to fill among them.
    """
    n_groups, n_profiles = out.shape[1], held.row_ptr.size - 1
    n_known = held.belongs.shape[1] - n_groups
    few = 2 * n_profiles <= of.rater.size  # then first add up the raters of each profile
    width = n_known + n_groups + (n_profiles if few else 0)
    passed = min(max(_PASS_SUMS // (width * n_categories + 1), 1), _PER_PASS)
    found = np.empty((passed, n_known + n_groups, n_categories))
    together = np.empty((passed, n_profiles if few else 0, n_categories))
    for from_b in range(0, out.shape[0], passed):
        here = min(passed, out.shape[0] - from_b)
        found[:] = 0.0
        together[:] = 0.0
        for r in range(of.rater.size):
            who = profiles[of.rater[r]]
            for b in range(here):
                if few:
                    _add(of, r, together[b, who[from_b + b]])
                else:
                    for a in range(held.row_ptr[who[from_b + b]], held.row_ptr[who[from_b + b] + 1]):
                        _add(of, r, found[b, held.row_of[a]])
        for b in range(here):
            for profile in range(together.shape[1]):
                for a in range(held.row_ptr[profile], held.row_ptr[profile + 1]):
                    found[b, held.row_of[a]] += together[b, profile]
        for b in range(here):
            for u in range(held.union.size):
                for k in range(n_categories):
                    found[b, held.union[u], k] += found[b, held.part[u], k]
            for g in range(n_groups):
                for k in range(n_categories):
                    out[from_b + b, g, first + at.PER_CATEGORY * k + sort] = found[b, n_known + g, k]


@inlined
def _add(of, r, into):  # type: ignore[no-untyped-def]
    begin, end = of.ptr[r], of.ptr[r + 1]
    if end - begin == into.size:
        for k in range(into.size):
            into[k] += of.more[begin + k]
    else:
        for entry in range(begin, end):
            into[of.category[entry]] += of.more[entry]
