"""A table's columns as guessing sees them."""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.annotations import Codes, is_number
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.parsed import with_joined
from grasp_core.reading.table.table import Table

MAX_ROWS, _MAX_CELLS = 100_000, 2_000_000
"""Largest numbers of rows and cells that guessing examines; of larger files it takes some of the rows."""
MOST_QUESTIONS = 30  # largest number of values in a column that names questions
MOST_SHARED = 0.5
"""Largest number of distinct words among labels, as a share of the rows; more are free answers."""
NEARLY_ALL = 0.95
"""Share of rows with their own pair of item and rater; below it, rows are parts of an annotation."""
MOST_PLACES = 50  # largest number of values in a column of places, such as rounds or versions
_WORD = 3
"""Fewest letters of a word, such as ``Bio``; capitals need one more, since initials have up to three."""
_APART = 0.9  # distinct pairs of values, as a share of the rows, above which two columns identify the rows
_MAX_LENGTHS = 1_000
TEXT_LENGTH, _TEXT_VALUES = 25, 20
"""Mean length and number of values above which a column contains texts that somebody wrote."""
_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}([ ,].*)?|\d{1,3}:\d{2}(:\d{2})?([.,]\d+)?"
    r"|\w{3} \w{3} \d{1,2} \d{2}:\d{2}:\d{2} .*|P(\d+D)?T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?"
)
_NEUTRAL = re.compile(r"column \d+")
_LINK = re.compile(r"(https?|ftp)://\S+|www\.\S+|(\d{1,3}\.){3}\d{1,3}|data:\S+")

_FILE = re.compile(
    r".*\.(png|jpe?g|gif|bmp|tiff?|webp|svg|dcm|nii|wav|mp3|flac|ogg|mp4|avi|mov|webm|txt|pdf)", re.I
)

Kind = Literal["empty", "time", "link", "numbers", "text", "words"]


class Look:
    """A table's columns, each encoded at its first use."""

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
        self._holds_files: dict[str, bool] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._encoded:
            self._encoded[name] = self.table.column(name)
        return self._encoded[name]

    def of_some(self, name: str) -> Look:
        """Return this look, or for a large table a look at all rows of some values of `name`."""
        if self.table is self.whole:
            return self
        if name not in self._of_some:
            codes = self._whole_codes(name).to_numpy()
            step = -(-len(self.whole) // _most_rows(self.whole))
            rows = np.flatnonzero(codes % step == 0)[:MAX_ROWS]
            self._of_some[name] = Look(self.whole.kept(rows), self.named)
        return self._of_some[name]

    def with_joined(self, name: str) -> Look:
        """Return the look with the joined column if `name` stands for several columns."""
        table = with_joined(self.whole, (name,))
        return self if table is self.whole else Look(table, self.named)

    def texts(self, name: str) -> set[str]:
        """Distinct texts that are not empty."""
        return set(self[name].values) - {""}

    def identify_rows(self, first: str, second: str) -> bool:
        """Return whether nearly each row has its own pair of values in the two columns."""
        return self.pairs(first, second) > _APART * self.n

    def pairs(self, first: str, second: str) -> int:
        """Count the distinct pairs of values."""
        both = frozenset((first, second))
        if both not in self._pairs:
            width = len(self[second].values)
            codes = self[first].codes.astype(np.int64) * width + self[second].codes
            self._pairs[both] = int(np.unique(codes).size)
        return self._pairs[both]

    def depends_on(self, name: str, key: str) -> bool:
        """Return whether `key` determines `name`: one value of `name` for each value of `key`."""
        return self.pairs(name, key) == len(self[key].values)

    def alike(self, one: str, other: str) -> bool:
        """Return whether two columns match one to one, but for a few cells."""
        most = max(len(self[one].values), len(self[other].values))
        least = min(len(self[one].values), len(self[other].values))
        return self.pairs(one, other) <= 1.02 * most and least >= 0.95 * most

    def free_text(self, name: str) -> bool:
        """Return whether the values are texts, hardly any of them twice."""
        return self.kind(name) == "text" and len(self.texts(name)) > MOST_SHARED * self.n

    def length(self, name: str) -> float:
        """Mean length of the first distinct texts."""
        some = self[name].values[:_MAX_LENGTHS]
        return sum(map(len, some)) / max(len(some), 1)

    def unique(self, name: str) -> bool:
        """Return whether no value occurs twice."""
        if len(self[name].values) < self.n:
            return False
        return self.table is self.whole or pc.count_distinct(self._whole_codes(name)).as_py() == len(
            self.whole
        )

    def _whole_codes(self, name: str) -> pa.Array:
        """Return the codes of all rows without reading their texts."""
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
        """Return whether the column counts 1, 2, 3... within values of `key`, which vary in frequency."""
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

    def alternates(self, name: str, item: str, rater: str) -> bool:
        """Return whether each rater saw one version of each item, and all versions equally often."""
        width = len(self[name].values)
        once = self.pairs(item, rater) >= NEARLY_ALL * self.n
        if not (once and 1 < width <= MOST_PLACES) or self.empty(name):
            return False
        often = [
            np.bincount(self[key].codes.astype(np.int64) * width + self[name].codes, minlength=width)
            for key in (item, rater)
        ]
        of_items, of_raters = (np.pad(one, (0, -one.size % width)).reshape(-1, width) for one in often)
        return bool(of_items.min() > 1 and of_raters.min() > 1 and not np.ptp(of_raters, axis=1).any())

    def decimals(self, name: str) -> bool:
        """Return whether the values are numbers, and some of them not whole."""
        whole = (text.strip().removesuffix(".0").lstrip("-").isdigit() for text in self.texts(name))
        return self.kind(name) == "numbers" and not all(whole)

    def integers(self, name: str, *, named: bool = False) -> Codes | None:
        """Return each cell's whole number, (n,), if `named` behind a prefix, as in ``Ann1``; else None."""
        values = self[name].values
        if named and values:
            stem, *others = {text.rstrip(string.digits) for text in values}
            values = values if others else tuple(text.removeprefix(stem) for text in values)
        if not all(text.isascii() and text.isdigit() and len(text) < 7 for text in values):
            return None
        return np.array([int(text) for text in values], dtype=np.int64)[self[name].codes]

    @cached_property
    def distinct_rows(self) -> int:
        """Number of distinct rows; some tools write each answer twice."""
        return len(pd.DataFrame({name: self[name].codes for name in self.columns}).drop_duplicates())

    @cached_property
    def scales(self) -> set[str]:
        """Columns with the same few values as at least two others, as answers to several questions have."""
        few = [name for name in self.columns if len(self[name].values) <= MOST_QUESTIONS + 1]
        able = {name: frozenset(self.texts(name)) for name in few}
        alike = Counter(able.values())
        return {name for name, texts in able.items() if alike[texts] > 2 and 1 < len(texts) <= MOST_QUESTIONS}

    @cached_property
    def ids(self) -> tuple[str | None, str | None]:
        """Item and rater columns as the user named them, or else by their names; None if there is none."""
        found = self._like(names.ITEM), self._like(names.RATER)
        item, rater = (name if name in self.columns else None for name in (self.named.item, self.named.rater))
        return (
            item or (found[0] if found[0] != rater else None),
            rater or (found[1] if found[1] != item else None),
        )

    def id_score(self, name: str, kinds: frozenset[str]) -> int:
        """Return the name's score, but 0 for raters if a `subject` is a topic, as of a school or a mail."""
        score = names.id_score(name, kinds)
        return 0 if score and kinds is names.RATER and self._is_topic(name) else score

    def holds_files(self, name: str) -> bool:
        """Return whether the values are file names, as of items, and the column's name agrees."""
        if name not in self._holds_files:
            some = [text.strip() for text in self[name].values[:_MAX_LENGTHS] if text.strip()]
            like = sum(_FILE.fullmatch(text) is not None for text in some)
            other = names.label_score(name) or names.mentions(name, names.SHOWN - names.PARTS)
            self._holds_files[name] = len(some) > 1 and like >= NEARLY_ALL * len(some) and not other
        return self._holds_files[name]

    def holds_lists(self, name: str) -> bool:
        """Return whether each value is a list."""
        texts = self.texts(name)
        return bool(texts) and all(text.startswith("[") and text.endswith("]") for text in texts)

    def holds_objects(self, name: str) -> bool:
        """Return whether each value is an object in JSON, such as all answers of one person, or several."""
        texts = self.texts(name)
        return bool(texts) and all(text.lstrip().startswith(("{", "[{")) for text in texts)

    def _is_topic(self, name: str) -> bool:
        if names.words(name)[-1:] not in (("subject",), ("subj",)):
            return False
        texts = self.texts(name)
        able = (text for text in texts if text.replace(" ", "").isalpha())
        worded = sum(len(text) >= _WORD + text.isupper() for text in able)
        return 2 * worded > len(texts)

    def _like(self, kinds: frozenset[str]) -> str | None:
        scores = {name: self.id_score(name, kinds) for name in self.columns}
        best = max(scores, key=lambda name: scores[name])
        return best if scores[best] else None


def neutral(name: str) -> bool:
    """Return whether a column had no name and got one when it was read."""
    return _NEUTRAL.fullmatch(name) is not None


def _most_rows(table: Table) -> int:
    return min(MAX_ROWS, _MAX_CELLS // max(len(table.columns), 1))
