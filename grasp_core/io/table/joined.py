"""Ids that stand in several columns: ``albumID+pieceID`` is a column made of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable

import numpy as np
import pyarrow as pa

from grasp_core.annotations import Codes
from grasp_core.io.table.columns import Column
from grasp_core.io.table.table import Table

PLUS = "+"
_BETWEEN = " + "


def parts_of(name: str, columns: Collection[str]) -> tuple[str, ...]:
    """The columns that a name with plus signs stands for; none where it is a column's own, or they lack."""
    parts = tuple(name.split(PLUS))
    if name in columns or len(parts) < 2 or len(set(parts)) < len(parts):
        return ()
    return parts if all(part in columns for part in parts) else ()


def with_joined(table: Table, names: Iterable[str | None]) -> Table:
    """The table with a column for each name that stands for several.

    An id is blank where one of its parts is. Other parts are told apart whatever they hold: a plus sign of
    their own is doubled.
    """
    for name in dict.fromkeys(filter(None, names)):
        if parts := parts_of(name, table.columns):
            data = table.data.append_column(name, _joined([table.column(part) for part in parts]))
            table = dataclasses.replace(table, columns=(*table.columns, name), data=data)
    return table


def _joined(columns: Collection[Column]) -> pa.Array:
    codes, texts = None, [""]
    for column in columns:
        own = [value.replace(PLUS, PLUS * 2) for value in column.values]
        if codes is None:
            codes, texts = column.codes, own
            continue
        codes, pairs = together(codes, column)
        ahead = ((texts[one], own[other]) for one, other in zip(*divmod(pairs, len(own)), strict=True))
        texts = [f"{one}{_BETWEEN}{other}" if one.strip() and other.strip() else "" for one, other in ahead]
    return pa.array(texts, pa.string()).take(pa.array(codes)).dictionary_encode()


def together(codes: Codes, column: Column) -> tuple[Codes, Codes]:
    """Codes (n,) of the pairs of values, and of each pair the place ``one * len(column.values) + other``."""
    both = codes.astype(np.int64) * len(column.values) + column.codes
    pairs, of_cells = np.unique(both, return_inverse=True)
    return of_cells, pairs
