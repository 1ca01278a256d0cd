"""Compiled functions on columns of values: sums over raters, table look-ups, items' contributions."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from grasp_core.permutation.jit import borrowing, compiled
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.disagreement import disagree
from grasp_core.permutation.kernel.item_terms import of_category, room_for_terms, work_out


@compiled()
def add_up(profiles, ptr, of, rater, terms, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, rows, M), with the sums of `terms` over the raters of each row.

    Raters are added one after the other, so a row's sums are the same bits whatever other rows there are.

    `profiles`: shape (J, permutations); `rater`: shape (R,).
    `ptr`, `of`: profile p belongs to the rows ``of[ptr[p]:ptr[p + 1]]``.
    `terms`, shape (R, M): terms of the r-th of these raters.
    """
    for b in range(out.shape[0]):
        out[b] = 0.0
        for r in range(rater.size):
            p = profiles[rater[r], b]
            for a in range(ptr[p], ptr[p + 1]):
                into = out[b, of[a]]
                for m in range(into.size):
                    into[m] += terms[r, m]


QUAD = 4
"""Items whose tables are looked up in one pass over the permutations."""
WIDTH = 4
"""Columns that are added by one instruction; the width of tables is a multiple of it."""


@borrowing
def padded(columns):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Round a table's number of columns up to a multiple of :data:`WIDTH`."""
    return -(-columns // WIDTH) * WIDTH


@intrinsic
def _add_four(_, into, at, rows, a, b, c, d):  # type: ignore[no-untyped-def]
    """Add ``(rows[a + t] + rows[b + t]) + (rows[c + t] + rows[d + t])`` to ``into[at + t]`` for t < 4.

    Places are those in memory, whatever the arrays' shapes. LLVM would add one number after the other, as it
    cannot know that the arrays have no memory in common.
    """

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        four = ir.VectorType(ir.DoubleType(), WIDTH)

        def pointer(array: int, place: int) -> Any:
            first = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            return builder.bitcast(builder.gep(first, [arguments[place]]), four.as_pointer())

        sums = pointer(0, 1)
        was, *further = (builder.load(one, align=8) for one in (sums, *(pointer(2, i) for i in range(3, 7))))
        left, right = builder.fadd(further[0], further[1]), builder.fadd(further[2], further[3])
        builder.store(builder.fadd(was, builder.fadd(left, right)), sums, align=8)
        return context.get_dummy_value()

    return types.void(into, at, rows, a, b, c, d), build


@borrowing
def look_up(index, tables, found):  # type: ignore[no-untyped-def]
    """Add to each row of `found`, shape (B, width), a row of each of `tables`, shape (4, rows, width).

    `index`, shape (4, B or more), gives the rows; width is a multiple of four, and arrays are contiguous.
    """
    index_0, index_1, index_2, index_3 = index[0], index[1], index[2], index[3]
    width, size = np.uint64(tables.shape[2]), np.uint64(tables.shape[1] * tables.shape[2])
    for r in range(found.shape[0]):
        into = np.uint64(r) * width
        a, b = index_0[r] * width, index_1[r] * width + size
        c, d = index_2[r] * width + (size + size), index_3[r] * width + (size + size + size)
        for s in range(0, tables.shape[2], WIDTH):
            t = np.uint64(s)
            # numba passes the first argument itself
            _add_four(found, into + t, tables, a + t, b + t, c + t, d + t)  # type: ignore[call-arg]


@compiled(seconds=4, common=True)
def contributions(columns, how, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (N, S), with the contribution of each of N columns of counts to a group's sums.

    `columns`: see :mod:`~grasp_core.permutation.kernel.item_terms`.
    `out`: positions are as in :mod:`~grasp_core.permutation.kernel.sums`.
    """
    terms = room_for_terms(columns.size, columns.ties.reshape(columns.ties.size))
    n_columns = how.distances.n_columns
    work_out(columns, how, terms)
    for column in range(n_columns):
        disagree(column, columns, how, terms)
        for i in range(columns.size):
            out[i, column], out[i, n_columns + column] = terms.inside[i], terms.across[i]
            out[i, 2 * n_columns + column] = terms.apart[i]
    single, of = at.PER_COLUMN * n_columns, at.PER_COLUMN * n_columns + at.N_SINGLE
    for i in range(columns.size):
        n, first, second = terms.n[i], terms.first[i], terms.second[i]
        out[i, single + at.PLURALITY] = terms.plurality[i]
        out[i, single + at.NEGENTROPY] = terms.own[i]
        out[i, single + at.CROSS] = terms.cross[i]
        out[i, single + at.WEIGHT] = terms.weight[i]
        out[i, single + at.PAIRED_WEIGHT] = terms.weight[i] if (n > 1) & (terms.m[i] > 1) else 0.0
        out[i, single + at.RATED] = n > 0
        out[i, single + at.AGREED] = (first == second) & (first >= 0)
        out[i, single + at.PAIRED] = (n > 1) & (terms.m[i] > 1)
        for k in range(columns.c.shape[0]):
            added = of_category(k, columns.c[k, i], columns.known[k, i], n, first, second)
            place = of + at.PER_CATEGORY * k
            out[i, place + at.IN_PAIRS] = added.in_pairs
            out[i, place + at.IN_GROUP] = added.in_group
            out[i, place + at.IN_OTHERS] = added.in_others
            out[i, place + at.VOTES] = added.votes
            out[i, place + at.MORE] = columns.c[k, i] - terms.ratio[i] * columns.known[k, i]
        others_votes = out[i, of + at.PER_CATEGORY * columns.c.shape[0] :]
        for k in range(others_votes.size):
            others_votes[k] = second == k


@compiled()
def add_rows(rows, which, into, sums):  # type: ignore[no-untyped-def]
    """Add ``rows[which[a]]`` to ``sums[into[a]]`` for every a; `rows` and `sums` are equally wide."""
    for a in range(which.size):
        row, total = rows[which[a]], sums[into[a]]
        for s in range(row.size):
            total[s] += row[s]
