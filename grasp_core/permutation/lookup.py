"""Adding up rows of tables, compiled; shared by the kernels that look statistics up."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

QUAD = 4
"""Items whose tables are looked up in one pass over the permutations."""
APART = 40
"""Rows between two of their tables: they then do not lie on the same lines of a cache."""
WIDTH = 4
"""Columns that are added at a time; tables have a multiple of them."""

_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_build: Any = cgutils  # untyped, as is what types are made of
_types: Any = types


def _four(_context: Any, into: Any, b: Any, s: Any, tables: Any, rows: Any) -> Any:
    """``into[b, s + c] += (t[0, r[0], s + c] + t[1, r[1], s + c]) + (t[2, ...] + t[3, ...])`` for c = 0 .. 3.

    Said in vectors, since the compiler cannot know that `into` and the tables do not overlap.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def place(argument: int, at: tuple[Any, ...]) -> Any:
            kind = signature.args[argument]
            array = context.make_array(kind)(context, builder, arguments[argument])
            shape, strides = (
                _build.unpack_tuple(builder, sizes, kind.ndim) for sizes in (array.shape, array.strides)
            )
            pointer = _build.get_item_pointer2(
                context, builder, array.data, shape, strides, kind.layout, at, False, False
            )
            return builder.bitcast(pointer, _VECTOR.as_pointer())

        def row(k: int) -> Any:
            at = (ir.Constant(ir.IntType(64), k), builder.extract_value(arguments[4], k), arguments[2])
            return builder.load(place(3, at), align=8)

        sums = place(0, (arguments[1], arguments[2]))
        found = builder.fadd(builder.fadd(row(0), row(1)), builder.fadd(row(2), row(3)))
        builder.store(builder.fadd(builder.load(sums, align=8), found), sums, align=8)
        return context.get_dummy_value()

    return types.void(into, types.intp, types.intp, tables, _types.UniTuple(types.intp, QUAD)), code


_add_four: Any = intrinsic(_four)


@numba.njit(cache=True, nogil=True)
def padded(columns):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Columns of a table that has to hold so many."""
    return -(-columns // WIDTH) * WIDTH


@numba.njit(cache=True, nogil=True)
def look_up(index, tables, found):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Add to each row of `found`, shape (B, width), a row of each of `tables`, shape (4, rows, width).

    `index`, shape (4, B or more), says which; width is a multiple of four, and rows lie in one piece.
    """
    index_0, index_1, index_2, index_3 = index[0], index[1], index[2], index[3]
    if found.shape[1] == WIDTH:  # no loop over columns
        for b in range(found.shape[0]):
            rows = (np.intp(index_0[b]), np.intp(index_1[b]), np.intp(index_2[b]), np.intp(index_3[b]))
            _add_four(found, b, 0, tables, rows)
    else:
        for b in range(found.shape[0]):
            rows = (np.intp(index_0[b]), np.intp(index_1[b]), np.intp(index_2[b]), np.intp(index_3[b]))
            for s in range(0, found.shape[1], WIDTH):
                _add_four(found, b, s, tables, rows)
