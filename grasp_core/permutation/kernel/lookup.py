"""Adding up rows of tables, compiled; shared by the kernels that look statistics up."""

from __future__ import annotations

from grasp_core.permutation.jit import borrowing

QUAD = 4
"""Items whose tables are looked up in one pass over the permutations."""
WIDTH = 4
"""Columns that are added at a time; tables have a multiple of them."""


@borrowing
def padded(columns):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Columns of a table that has to hold so many."""
    return -(-columns // WIDTH) * WIDTH


@borrowing
def look_up(index, tables, found):  # type: ignore[no-untyped-def]
    """Add to each row of `found`, shape (B, width), a row of each of `tables`, shape (4, rows, width).

    `index`, shape (4, B or more), says which; width is a multiple of four, and rows lie in one piece.
    """
    index_0, index_1, index_2, index_3 = index[0], index[1], index[2], index[3]
    a, b, c, d = tables[0], tables[1], tables[2], tables[3]
    for r in range(found.shape[0]):
        into = found[r]
        row_a, row_b, row_c, row_d = a[index_0[r]], b[index_1[r]], c[index_2[r]], d[index_3[r]]
        for s in range(0, into.size, WIDTH):
            for t in range(s, s + WIDTH):
                into[t] += (row_a[t] + row_b[t]) + (row_c[t] + row_d[t])
