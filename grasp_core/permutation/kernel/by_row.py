"""Sums over the raters of each group of whatever each rater adds, under many permutations."""

from __future__ import annotations

from grasp_core.permutation.jit import compiled


@compiled()
def add_up(profiles, ptr, of, rater, terms, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, rows, M), with the sums of `terms` over the raters of each row.

    Raters are added one after the other: a row's sums are the same bits whatever other rows there are.

    Parameters
    ----------
    profiles : int array, shape (J, permutations)
    ptr, of : int arrays
        Profile p belongs to the rows ``of[ptr[p]:ptr[p + 1]]``.
    rater : int32 array, shape (R,)
    terms : float64 array, shape (R, M)
        What the r-th of these raters adds.
    """
    for b in range(out.shape[0]):
        out[b] = 0.0
        for r in range(rater.size):
            p = profiles[rater[r], b]
            for a in range(ptr[p], ptr[p + 1]):
                into = out[b, of[a]]
                for m in range(into.size):
                    into[m] += terms[r, m]
