"""Tables with the same columns below each other, and what tells whether they belong there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Int64Array
from grasp_core.read.table import names
from grasp_core.read.table.columns import Column, check_cells
from grasp_core.read.table.parsed import Parsed

_UNIQUE = 0.95
"""Share of a member's rows that are about an item of their own, where it is one annotator's."""
_AGREE = 0.5
"""Share of the items in several members whose texts must be the same."""
_LONG = 25
"""Columns of longer values, on average, may be texts."""
_MEASURED = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Members' rows below each other.

    Parameters
    ----------
    member : int array, shape (n,)
        Which member each row is of.
    """

    data: pa.Table
    member: Int64Array

    @classmethod
    def of(cls, tables: Sequence[Parsed], owners: Sequence[int], name: str) -> Stack:
        """The columns that all tables have, in the first one's order; those of one owner count as one member.

        Raises
        ------
        DataError
            If together they have too many cells.
        """
        columns = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
        check_cells(sum(len(table.data) for table in tables) * len(columns), name)
        texts = [as_texts(table, columns) for table in tables]
        member = np.repeat(np.array(owners, dtype=np.int64), [len(table.data) for table in tables])
        return cls(pa.concat_tables(texts).combine_chunks(), member)

    def repeated_item(self) -> str | None:
        """The column of items: another in each row of a member, and the same ones in several members."""
        ranked = sorted(self._named(), key=lambda name: -names.id_score(name, names.ITEM))
        return next((name for name in ranked if self._recurs(name)), None)

    def recurring(self) -> list[str]:
        """Columns with another value in each row of a member, and the same ones in several members."""
        return [name for name in self._named() if self._recurs(name)]

    def _named(self) -> list[str]:
        """Columns but those that are named like numbers of rows."""
        return [name for name in self.data.column_names if names.words(name)[:1] not in _INDEX]

    def row_numbers(self, item: str) -> list[str]:
        """Columns of whole numbers that begin anew in each member, and so stand for other items in each."""
        return [
            name
            for name in self.data.column_names
            if name != item and self._is_numbered(name) and not self._depends_on(item, name)
        ]

    def _is_numbered(self, name: str) -> bool:
        """Whether every member counts its rows up from 0, or from 1; ranks come in other orders."""
        cells = self.data.column(name).to_pylist()
        rows = np.bincount(self.member)
        before = np.empty(len(cells), dtype=np.int64)
        before[np.argsort(self.member, kind="stable")] = np.arange(len(cells)) - np.repeat(
            np.cumsum(rows) - rows, rows
        )
        return any(cells == [str(at) for at in (before + start).tolist()] for start in (0, 1))

    def without(self, columns: Sequence[str]) -> Stack:
        """With columns left out."""
        return Stack(self.data.drop_columns(list(columns)), self.member) if columns else self

    def rater(self, item: str) -> str | None:
        """A column named like raters' ids that is not about the items, e.g. their authors."""
        found = [name for name in self.data.column_names if names.id_score(name, names.RATER)]
        return next((name for name in found if not self._depends_on(name, item)), None)

    def varies(self, item: str) -> bool:
        """Whether anything differs between the rows of one item, as annotators' labels do."""
        return bool(self.differing(item))

    def differing(self, item: str) -> list[str]:
        """Columns that differ between the rows of one item."""
        return [name for name in self.data.column_names if name != item and not self._depends_on(name, item)]

    def named_ids(self) -> tuple[str | None, str | None]:
        """The columns named like items' and raters' ids."""
        found = []
        for kinds in (names.ITEM, names.RATER):
            best = max(self.data.column_names, key=lambda name: names.id_score(name, kinds))
            found.append(best if names.id_score(best, kinds) else None)
        return found[0], found[1]

    def are_parts(self, item: str, rater: str) -> bool:
        """Whether no annotation is in two members, and no id means different items in them.

        Members of one rater each also need items in common: they may be named after no rater.
        """
        if not {item, rater} <= set(self.data.column_names):
            return False
        items, raters = self._codes(item)[0], self._codes(rater)[0]
        annotations = np.unique(_paired(items, raters), return_inverse=True)[1]
        if len(_ids_in_several(annotations, self.member)) or not self._same_texts(item):
            return False
        lone = len(_distinct_pairs(self.member, raters)[0]) == int(self.member.max()) + 1
        return not lone or len(_ids_in_several(items, self.member)) > 0

    def _recurs(self, name: str) -> bool:
        codes, values = self._codes(name)
        filled = codes != values.get("", -1)
        members, found = _distinct_pairs(self.member[filled], codes[filled])
        if len(found) < _UNIQUE * len(codes):
            return False
        often = np.bincount(found, minlength=len(values)) > 1
        sharing = np.unique(members[often[found]])
        return 2 * len(sharing) > int(self.member.max()) + 1 and self._same_texts(name)

    def _same_texts(self, item: str) -> bool:
        """Whether items in several members have the same texts there, if there are texts."""
        texts = [name for name in self.data.column_names if name != item and self._is_text(name)]
        if not texts:
            return True
        items = self._codes(item)[0]
        shared = _ids_in_several(items, self.member)
        rows = np.isin(items, shared)
        if not rows.any():
            return True
        return any(self._share_alike(items[rows], self._codes(name)[0][rows]) >= _AGREE for name in texts)

    def _share_alike(self, items: Int64Array, texts: Int64Array) -> float:
        found, _ = _distinct_pairs(items, texts)
        return float((np.unique(found, return_counts=True)[1] == 1).mean())

    def _is_text(self, name: str) -> bool:
        values = list(self._codes(name)[1])[:_MEASURED]
        return sum(map(len, values)) > _LONG * len(values)

    def _depends_on(self, name: str, key: str) -> bool:
        keys, codes = self._codes(key)[0], self._codes(name)[0]
        return len(_distinct_pairs(keys, codes)[0]) == len(np.unique(keys))

    def _codes(self, name: str) -> tuple[Int64Array, dict[str, int]]:
        column = Column.of(self.data.column(name))
        return column.codes.astype(np.int64), {value: code for code, value in enumerate(column.values)}


_INDEX = tuple((word,) for word in names.INDEX - {"no", "nr"})


def as_texts(table: Parsed, columns: Sequence[str]) -> pa.Table:
    """Columns of a table as plain texts, whatever codes its own have."""
    return table.data.select(list(columns)).cast(pa.schema([(name, pa.string()) for name in columns]))


def _paired(first: Int64Array, second: Int64Array) -> Int64Array:
    """One number for each pair."""
    paired: Int64Array = first * (int(second.max(initial=0)) + 1) + second
    return paired


def _distinct_pairs(first: Int64Array, second: Int64Array) -> tuple[Int64Array, Int64Array]:
    width = int(second.max(initial=0)) + 1
    found = np.unique(_paired(first, second))
    return found // width, found % width


def _ids_in_several(codes: Int64Array, member: Int64Array) -> Int64Array:
    """Codes that occur in more than one member."""
    ids, counts = np.unique(_distinct_pairs(codes, member)[0], return_counts=True)
    found: Int64Array = ids[counts > 1]
    return found
