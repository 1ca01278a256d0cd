"""A table's columns as guessing looks at them."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.annotations import Codes, is_number
from grasp_core.read.guess.advice import Named
from grasp_core.read.table import names
from grasp_core.read.table.columns import Column
from grasp_core.read.table.parsed import with_joined
from grasp_core.read.table.table import Table

MAX_ROWS, _MAX_CELLS = 100_000, 2_000_000
"""The most that is looked at; of larger files some of the rows."""
MOST_QUESTIONS = 30
"""Of more values, a column names no questions."""
_MAX_LENGTHS = 1_000
TEXT_LENGTH, _TEXT_VALUES = 25, 20
"""Columns of longer values, on average, and of more of them, hold texts that somebody wrote."""
_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}([ ,].*)?|\d{1,3}:\d{2}(:\d{2})?([.,]\d+)?"
    r"|\w{3} \w{3} \d{1,2} \d{2}:\d{2}:\d{2} .*|P(\d+D)?T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?"
)
_LINK = re.compile(r"(https?|ftp)://\S+|www\.\S+|(\d{1,3}\.){3}\d{1,3}|data:\S+")

Kind = Literal["empty", "time", "link", "numbers", "text", "words"]


class Look:
    """A table's columns, encoded when asked for.

    Parameters
    ----------
    named : Named
        What somebody has said of them.
    """

    def __init__(self, table: Table, named: Named | None = None) -> None:
        self.whole = table
        self.named = Named() if named is None else named
        self.table = table.thinned(_most_rows(table))
        self.columns = table.columns
        self.n = len(self.table)
        self._encoded: dict[str, Column] = {}
        self._kinds: dict[str, Kind] = {}
        self._pairs: dict[frozenset[str], int] = {}
        self._of_some: dict[str, Look] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._encoded:
            self._encoded[name] = self.table.column(name)
        return self._encoded[name]

    def of_some(self, name: str) -> Look:
        """The same columns, of a large table with all rows of some values of `name`."""
        if self.table is self.whole:
            return self
        if name not in self._of_some:
            codes = self._whole_codes(name).to_numpy()
            step = -(-len(self.whole) // _most_rows(self.whole))
            rows = np.flatnonzero(codes % step == 0)[:MAX_ROWS]
            self._of_some[name] = Look(self.whole.taken(rows), self.named)
        return self._of_some[name]

    def with_joined(self, name: str) -> Look:
        """The same with a column for a name that stands for several."""
        table = with_joined(self.whole, (name,))
        return self if table is self.whole else Look(table, self.named)

    def texts(self, name: str) -> set[str]:
        """Distinct texts that are not empty."""
        return set(self[name].values) - {""}

    def pairs(self, first: str, second: str) -> int:
        """Distinct pairs of values."""
        both = frozenset((first, second))
        if both not in self._pairs:
            width = len(self[second].values)
            codes = self[first].codes.astype(np.int64) * width + self[second].codes
            self._pairs[both] = int(np.unique(codes).size)
        return self._pairs[both]

    def depends_on(self, name: str, key: str) -> bool:
        """Whether `key` decides `name`'s value."""
        return self.pairs(name, key) == len(self[key].values)

    def alike(self, one: str, other: str) -> bool:
        """Whether two columns say the same in other words, but for a few cells."""
        most = max(len(self[one].values), len(self[other].values))
        least = min(len(self[one].values), len(self[other].values))
        return self.pairs(one, other) <= 1.02 * most and least >= 0.95 * most

    def length(self, name: str) -> float:
        """Mean length of the distinct texts, of the first of them."""
        some = self[name].values[:_MAX_LENGTHS]
        return sum(map(len, some)) / max(len(some), 1)

    def unique(self, name: str) -> bool:
        """Whether no value occurs twice."""
        if len(self[name].values) < self.n:
            return False
        return self.table is self.whole or pc.count_distinct(self._whole_codes(name)).as_py() == len(
            self.whole
        )

    def _whole_codes(self, name: str) -> pa.Array:
        """Codes of all rows; their texts are not looked at."""
        column = self.whole.data.column(name).combine_chunks()
        return (column if pa.types.is_dictionary(column.type) else column.dictionary_encode()).indices

    def empty(self, name: str) -> float:
        """Share of cells without a text."""
        return float(self[name].among([""]).mean()) if self.n else 1.0

    def kind(self, name: str) -> Kind:
        """The kind of the column's values."""
        if name not in self._kinds:
            self._kinds[name] = self._kind(name)
        return self._kinds[name]

    def _kind(self, name: str) -> Kind:
        some = [text.strip() for text in self[name].values[:_MAX_LENGTHS] if text.strip()]
        if not some:
            return "empty"
        if sum(map(is_number, some)) >= 0.9 * len(some):
            return "numbers"
        for kind, pattern in (("time", _TIME), ("link", _LINK)):
            if sum(pattern.fullmatch(text) is not None for text in some) >= 0.9 * len(some):
                return "time" if kind == "time" else "link"
        spaced = sum(" " in text for text in some) >= 0.5 * len(some)
        wordy = sum(map(len, some)) > TEXT_LENGTH * len(some) and spaced
        return "text" if len(some) > _TEXT_VALUES and wordy else "words"

    def numbered(self, name: str, key: str) -> bool:
        """Whether the column counts 1, 2, 3... within each value of `key`, which occurs variably often."""
        numbers = self.integers(name)
        if numbers is None:
            return False
        codes = self[key].codes
        width = len(self[key].values)
        often = np.bincount(codes, minlength=width)
        low = np.full(width, np.iinfo(np.int64).max)
        high = np.full(width, np.iinfo(np.int64).min)
        np.minimum.at(low, codes, numbers)
        np.maximum.at(high, codes, numbers)
        whole = self.pairs(name, key) == self.n
        return bool(whole and (low <= 1).all() and (high - low + 1 == often).all() and np.ptp(often) > 0)

    def integers(self, name: str) -> Codes | None:
        """Each cell's whole number, shape (n,); None where a cell holds something else."""
        values = self[name].values
        if not all(text.isascii() and text.isdigit() and len(text) < 7 for text in values):
            return None
        return np.array([int(text) for text in values], dtype=np.int64)[self[name].codes]

    @cached_property
    def distinct_rows(self) -> int:
        """Rows that are not the same as an earlier one; some tools write each answer twice."""
        return len(pd.DataFrame({name: self[name].codes for name in self.columns}).drop_duplicates())

    @cached_property
    def ids(self) -> tuple[str | None, str | None]:
        """The columns named like item and rater ids, or by somebody."""
        found = self._like(names.ITEM), self._like(names.RATER)
        item, rater = (name if name in self.columns else None for name in (self.named.item, self.named.rater))
        return (
            item or (found[0] if found[0] != rater else None),
            rater or (found[1] if found[1] != item else None),
        )

    def _like(self, kinds: frozenset[str]) -> str | None:
        scores = {name: names.id_score(name, kinds) for name in self.columns}
        best = max(scores, key=lambda name: scores[name])
        return best if scores[best] else None


def _most_rows(table: Table) -> int:
    return min(MAX_ROWS, _MAX_CELLS // max(len(table.columns), 1))
