"""Columns of text: cells, dates, values."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, time, timedelta

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import BoolArray, Codes, tallied
from grasp_core.model.errors import DataError, Problem, know
from grasp_core.model.remarks.problems import DataProblem, FileProblem
from grasp_core.model.text import number, quoted


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Values that the type of a column names, in order if it has one, and the numbers that stand for them."""

    column: str
    values: tuple[str, ...]
    ordered: bool
    codes: tuple[float, ...] = ()


MAX_CELLS = 1 << 25  # most cells of a table that a small file may expand to
MAX_WRITTEN = 2 * MAX_CELLS  # most cells of a table whose file writes each cell


def check_cells(cells: int, name: str) -> None:
    """Refuse a file whose few fields or lists would expand to a table too large for memory."""
    if cells > MAX_CELLS:
        raise DataError(FileProblem.TOO_MANY_CELLS(file=name, most=MAX_CELLS))


def moment_text(value: datetime) -> str:
    """Write a day, or a day and a time, in ISO 8601."""
    return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")


def duration_text(value: timedelta) -> str:
    """Write hours, minutes and seconds, e.g. ``26:03:04``."""
    past = abs(value)
    minutes, seconds = divmod(past.days * 86_400 + past.seconds, 60)
    fraction = f".{past.microseconds:06}".rstrip("0") if past.microseconds else ""
    return f"{'-' if value.days < 0 else ''}{minutes // 60}:{minutes % 60:02}:{seconds:02}{fraction}"


LIKE_MISSING = frozenset({"na", "n/a", "#n/a", "nan", "none", "null", "-", "?", "."})


_WHOLE = re.compile(r"([+-]?\d+)\.0+")  # a whole number with decimals
_RARE = 500  # a label is rare if it has at most one annotation in so many
_WORD = re.compile(r"[^\W\d_]+([ '-][^\W\d_]+)*")
_MOST_MISSPELT = 3
_ALIKE = 0.75  # similarity by difflib from which a rare label may be a misspelling of another


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column's texts."""

    codes: Codes  # (n,): position of each cell's text in `values`
    values: tuple[str, ...]  # distinct texts in order of first appearance

    @classmethod
    def of(cls, texts: pa.ChunkedArray) -> Column:
        """Encode a column of text, or of codes into distinct texts."""
        # A single chunk stays in place: combining copies even one.
        whole = texts.chunk(0) if texts.num_chunks == 1 else texts.combine_chunks()
        if not pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_encode()
        return cls(whole.indices.to_numpy(), tuple(whole.dictionary.to_pylist()))

    def counts(self) -> Codes:
        """Count the cells of each value, shape (V,)."""
        return tallied(self.codes, len(self.values))

    @property
    def tally(self) -> dict[str, int]:
        """Number of cells by text."""
        return dict(zip(self.values, self.counts().tolist(), strict=True))

    @property
    def cells(self) -> list[str]:
        """The text of each cell; equal texts are one object."""
        values = self.values
        return [values[code] for code in self.codes.tolist()]

    def among(self, texts: Collection[str]) -> BoolArray:
        """Return a mask of the cells whose text is one of `texts`, shape (n,)."""
        hit = np.fromiter((value in texts for value in self.values), dtype=np.bool_, count=len(self.values))
        found: BoolArray = hit[self.codes]
        return found


def odd_texts(where: str, counts: Mapping[str, int], missing: Collection[str]) -> list[Problem]:
    """Warn of texts that look like missing values, and of texts that look alike."""
    present = {value: count for value, count in counts.items() if value not in missing and count}
    like = [
        know(DataProblem.LIKE_MISSING(where=where, cells=count, value=value), count, [value])
        for value, count in present.items()
        if value.strip().casefold() in LIKE_MISSING or not value.strip()
    ]
    return [*like, *near_duplicates(where, present, ids=False)]


def near_duplicates(where: str, counts: Mapping[str, int], *, ids: bool) -> list[Problem]:
    """Warn of values that differ only by spaces, Unicode form or case; ids are not quoted."""
    groups = spelled_alike(counts)
    if not groups:
        return []
    pairs = [
        " and ".join(f"{quoted(value)} ({number(counts[value], 'cell')})" for value in values)
        for values in groups
    ]
    numbers = any(_WHOLE.fullmatch(value.strip()) for values in groups for value in values)
    forms = any(not unicodedata.is_normalized("NFC", value) for values in groups for value in values)
    if not ids:
        letters, more = int(forms and not numbers), len(pairs) - 1
        remark = DataProblem.VALUES_ALIKE(
            where=where, pair=pairs[0], numbers=int(numbers), letters=letters, more=more
        )
    else:  # ids stay out of sentences that become part of results
        remark = DataProblem.IDS_ALIKE(where=where, ids=len(pairs), forms=int(forms), numbers=int(numbers))
    return [know(remark, len(pairs), pairs)]


def spelled_alike(values: Collection[str]) -> list[list[str]]:
    """Group values that differ only by spaces, Unicode form or case, two or more each, in the order given."""
    if len(set(map(spelling, values))) == len(values):  # the usual case, even of a million ids
        return []
    alike: dict[str, list[str]] = {}
    for value in values:
        alike.setdefault(spelling(value), []).append(value)
    return [ways for ways in alike.values() if len(ways) > 1]


def spelling(value: str) -> str:
    """Return the form that similar values share: letters with accents may be one character or two."""
    whole = _WHOLE.fullmatch(value.strip()) if "." in value else None
    if whole is not None:  # 1.0 and 1, as a spreadsheet or a program may have made of one number
        return whole[1]
    if value.isascii():
        return value.strip().casefold()
    folded = unicodedata.normalize("NFC", value).strip()
    return unicodedata.normalize("NFC", folded.casefold())


def misspelt(where: str, counts: Mapping[str, int]) -> list[Problem]:
    """Warn of labels that are so rare, and so similar to a common label, that they may be misspelt."""
    rare_up_to = sum(counts.values()) // _RARE
    words = {value: count for value, count in counts.items() if _WORD.fullmatch(value.strip())}
    common = [value for value, count in words.items() if count > rare_up_to]
    problems: list[Problem] = []
    for value, count in words.items():
        alike = difflib.get_close_matches(value, common, n=1, cutoff=_ALIKE) if count <= rare_up_to else []
        if alike:
            remark = DataProblem.MISSPELT(where=where, label=value, cells=count, other=alike[0])
            problems.append(know(remark, count, [value]))
    return problems[:_MOST_MISSPELT]


ROWS_AT_ONCE = 1 << 16
_RECURRING = 0.5  # share of distinct texts below which a column is kept as codes
_SPARSE = 8  # step from which every n-th row of a column is taken for a random sample


def compact(table: pa.Table) -> pa.Table:
    """Keep columns whose texts recur as codes into their distinct texts; each column in one piece."""
    with ThreadPoolExecutor(2) as pool:  # Arrow releases the interpreter meanwhile
        columns = list(pool.map(_compacted, table.columns))
    return pa.Table.from_arrays(columns, names=table.column_names)


def _compacted(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    elif _recurs(column):
        column = column.dictionary_encode()
    whole = column.combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


def _recurs(column: pa.ChunkedArray) -> bool:
    """Return whether texts occur about twice or more often, judged by the first rows or by a sample of all.

    Of `m` rows drawn from `d` texts, about ``m * m / (2 * d)`` repeat a text that was drawn before. Unordered
    ids may hardly recur among the first rows of a large file, and still recur among all.
    """
    head = column.slice(0, ROWS_AT_ONCE)
    if len(head.unique()) < _RECURRING * len(head):
        return True
    step = len(column) // ROWS_AT_ONCE
    if step < _SPARSE:
        return False
    some = column.take(pa.array(range(0, step * ROWS_AT_ONCE, step)))
    met = len(some) - len(some.unique())
    return len(some) ** 2 < 2 * met * _RECURRING * len(column)
