"""Names of columns, runs of like names, joined columns; tables from rows or cells of text."""

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Codes
from grasp_core.model.errors import DataError, Problem, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import ROWS_AT_ONCE, Column, compact
from grasp_core.reading.table.table import Table

RATERS = names.RATER | {"ann", "anno", "annot", "ppt", "subj", "resp", "human", "doctor", "expert"}
ITEMS = names.ITEM | names.PARTS | {"q", "stim", "img", "trial"}
"""Beginnings of columns' names, also in short forms."""
_WHOLE = (
    (re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.I), "<uuid>"),
    (re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"), "<e-mail>"),
    (re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{24}", re.I), "<24 hexadecimal digits>"),
    (re.compile(r"(?=.*\d)A[0-9A-Z]{9,20}"), "<worker id>"),
)
"""Forms of ids that platforms make; the last is Mechanical Turk's."""
ANY = "*"  # the sign for any text in a pattern of columns' names
_LONGEST_PATTERN = 59
_LONGEST = 200  # most letters of a name; longer ones are sentences
_LETTER = re.compile(r"(.*[^\W\d_].*[\W_])[a-z]", re.I)
"""Names such as ``rater_a``; a letter alone says nothing."""

_AGAIN = re.compile(r"(.+) \((\d{1,4})\)|(.*\D)\.(\d{1,4})", re.S)


def form(name: str) -> str | None:
    """Return the form that like names share: ``p#`` for ``P01``, ``q#_#`` for ``Q3_1``; else None."""
    name = name.strip()
    if len(name) > _LONGEST:
        return None
    for pattern, whole in _WHOLE:
        if pattern.fullmatch(name):
            return whole
    if re.search(r"\d", name):
        return re.sub(r"\d+", "#", name.casefold())
    letter = _LETTER.fullmatch(name)
    return None if letter is None else f"{letter[1].casefold()}@"


def runs(columns: Iterable[str]) -> list[list[str]]:
    """Group columns with names of one form, also ``label`` and ``label (2)``, the longest run first."""
    columns = list(columns)
    known, found = set(columns), dict[str, list[str]]()
    for column in columns:
        alike = form(column if f"{column} (2)" not in known else f"{column} (1)")
        if alike is not None:
            found.setdefault(alike, []).append(column)
    return sorted((run for run in found.values() if len(run) > 1), key=len, reverse=True)


def repeated(columns: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return columns of a recurring heading, as ``label (2)`` or ``label.1``, with it and the occurrence."""
    found: dict[str, tuple[str, int]] = {}
    for column in columns:
        if (told := _AGAIN.fullmatch(column)) is None:
            continue
        base: str = told[1] or told[3]
        if base in columns:
            found[base] = base, 1
            found[column] = base, int(told[2] or int(told[4]) + 1)
    return found


def alike(columns: Iterable[str], named: Sequence[str]) -> list[str]:
    """Return the `columns` that are in `named`, or whose names have the form of most of `named`."""
    known = set(named)
    forms = [form(name) for name in named]
    usual, often = Counter(forms).most_common(1)[0] if forms else (None, 0)
    if usual is None or 2 * often <= len(forms):
        return [column for column in columns if column in known]
    return [column for column in columns if column in known or form(column) == usual]


def questions_in(run: Sequence[str]) -> list[list[str]]:
    """Split like names by question, as ``Q3_1`` and ``Q4_1``, or ``1_Q5`` and ``1_Q6``; else one list."""
    ways: list[dict[str, list[str]]] = [{}, {}]
    for name in run:
        for groups, number in zip(ways, (r"\d+(?=\D*$)", r"^\D*\d+"), strict=True):
            groups.setdefault(re.sub(number, "#", name), []).append(name)
    able = [[*groups.values()] for groups in ways if len(groups) > 1 and min(map(len, groups.values())) > 1]
    return min(able, key=len, default=[[*run]])


def pattern_of(several: Sequence[str], columns: Sequence[str]) -> str | None:
    """Return the beginning and end that names share, with ``*`` between; None if other names have both."""
    start = names.common_start(several)
    end = names.common_start([name[len(start) :][::-1] for name in several])[::-1]
    start = start.rstrip("0123456789")
    end = end if end[:1] == "_" or not end[:1].isdigit() else end.lstrip("0123456789")
    if not (start or end) or ANY in start + end:
        return None
    if len(start + end) > _LONGEST_PATTERN:
        start, end = start[:_LONGEST_PATTERN].rstrip(), ""
    pattern = f"{start}{ANY}{end}"
    return pattern if len(matching(pattern, columns)) == len(several) else None


def matching(pattern: str, columns: Sequence[str]) -> list[str]:
    """Return the columns whose names fit a pattern; only ``*`` stands for any text."""
    wanted = re.compile(".*".join(map(re.escape, pattern.split(ANY))), re.DOTALL)
    return [name for name in columns if wanted.fullmatch(name)]


class Kind(NamedTuple):
    """Columns that share labels, each with at least one other."""

    labels: set[str]
    columns: list[str]


def kinds_of(texts: Mapping[str, set[str]]) -> list[Kind]:
    """Group columns that share texts, the largest group first; columns without any text are left out."""
    leader: dict[str, str] = {}  # by label, its first column
    above = {name: name for name in texts}

    def first_of(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for name, own in texts.items():
        for text in own:
            above[first_of(name)] = first_of(leader.setdefault(text, name))
    parts: dict[str, Kind] = {}
    for name, own in texts.items():
        if own:
            part = parts.setdefault(first_of(name), Kind(set(), []))
            part.labels.update(own)
            part.columns.append(name)
    return sorted(parts.values(), key=lambda part: len(part.columns), reverse=True)


def stem(name: str) -> str:
    """Return ``annotator`` for ``annotator_1`` and ``Annotator12``."""
    found = names.words(name)
    return found[0].rstrip("0123456789") if found else ""


def ends_in_rater(name: str) -> bool:
    """Return whether a name ends in a numbered word for raters: ``hate_coder2``, ``Hate (Expert 1)``."""
    found = [word.rstrip("0123456789") for word in names.words(name)]
    numbered = bool(found) and names.words(name)[-1][-1:].isdigit()
    return numbered and next((word for word in reversed(found) if word), "") in names.RATES | {"expert"}


_LETTERS = frozenset(["", *"aehjpruw"])
"""Letters before numbers of raters, as annotators, workers and judges; others may be criteria or times."""


def may_be_people(columns: Iterable[str]) -> bool:
    """Return whether columns may be raters: by name, by a letter with a number, or by differing names."""
    columns = list(columns)
    called = set(map(stem, columns))
    return len(called) > 1 or not called.isdisjoint(RATERS | _LETTERS) or all(map(ends_in_rater, columns))


PLUS = "+"
_BETWEEN = " + "


def parts_of(name: str, columns: Collection[str]) -> tuple[str, ...]:
    """Return the columns that a name with plus signs joins; none if it is a column's own or one is absent."""
    parts = tuple(name.split(PLUS))
    if name in columns or len(parts) < 2 or len(set(parts)) < len(parts):
        return ()
    return parts if all(part in columns for part in parts) else ()


def with_joined(table: Table, names: Iterable[str | None]) -> Table:
    """Return the table with a column for each name that joins several; blank if a part is, else unique."""
    for name in dict.fromkeys(filter(None, names)):
        if parts := parts_of(name, table.columns):
            data = table.data.append_column(name, _joined([table.column(part) for part in parts]))
            table = dataclasses.replace(table, data=data)
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
    """Return codes (n,) of pairs of values, and each pair's number ``one * len(column.values) + other``."""
    both = codes.astype(np.int64) * len(column.values) + column.codes
    pairs, of_cells = np.unique(both, return_inverse=True)
    return of_cells, pairs


Row = TypeVar("Row")
Watch = Callable[[int, int], None]
"""Receives the amounts done and in total. An exception from it ends the work, but loses nothing kept."""


def unwatched(_done: int, _total: int) -> None:
    """Report nothing."""


MAX_COLUMNS = 20_000
"""Most columns; more are taken for a mistake, e.g. a table with rows and columns swapped."""
CELLS_AT_ONCE = 1 << 22
_FREE_CELLS, _CELLS_PER_FILLED = 1 << 22, 1_000
"""Cells that any table may have, and further cells per filled one; a larger table is a mistake."""


def from_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> pa.Table:
    """Make a table of rows of text, each as long as `columns`; rows may come one by one."""

    def arrays(chunk: list[Sequence[str]]) -> list[pa.Array]:
        return [pa.array(cells, pa.string()) for cells in zip(*chunk, strict=True)]

    return _in_batches(columns, rows, arrays)


def from_cells(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> pa.Table:
    """Make a table of rows given as their filled cells; rows may come one by one."""

    def arrays(chunk: list[Mapping[str, str]]) -> list[pa.Array]:
        cells: dict[str, tuple[list[int], list[str]]] = {}
        for at, row in enumerate(chunk):
            for column, text in row.items():
                places, texts = cells.setdefault(column, ([], [""]))
                places.append(at)
                texts.append(text)
        empty = _spread([], [""], len(chunk))
        return [_spread(*cells[name], len(chunk)) if name in cells else empty for name in columns]

    return _in_batches(columns, rows, arrays)


def _in_batches(
    columns: Sequence[str], rows: Iterable[Row], arrays: Callable[[list[Row]], list[pa.Array]]
) -> pa.Table:
    remaining = iter(rows)
    at_once = min(ROWS_AT_ONCE, max(1, CELLS_AT_ONCE // max(1, len(columns))))
    schema = pa.schema([pa.field(name, pa.string()) for name in columns])
    batches = []
    while chunk := list(islice(remaining, at_once)):
        batches.append(pa.RecordBatch.from_arrays(arrays(chunk), schema=schema))
    return compact(pa.Table.from_batches(batches, schema=schema))


def _spread(places: list[int], texts: list[str], rows: int) -> pa.Array:
    """Make a column with the texts after the first in the cells at `places`, and the first in all others."""
    whole = pa.array(texts, pa.string())
    if len(places) == rows:
        return whole.slice(1)
    position = np.zeros(rows, dtype=np.int64)
    position[places] = np.arange(1, len(texts))
    return whole.take(pa.array(position))


def check_filled(rows: int, columns: int, filled: int, name: str) -> None:
    """Refuse a table of almost only blanks, which needs far more memory than its file."""
    if rows * columns > _FREE_CELLS + _CELLS_PER_FILLED * filled:
        cells = rows * columns
        remark = FileProblem.HARDLY_FILLED(
            file=name, records=rows, columns=columns, cells=cells, filled=filled
        )
        raise DataError(remark)


def name_columns(
    header: Sequence[str], name: str, row: str = "row 1"
) -> tuple[tuple[str, ...], list[Problem]]:
    """Name the columns: "column 3" for a third one without a name, "score (2)" for a second "score"."""
    if len(header) > MAX_COLUMNS:
        remark = FileProblem.TOO_MANY_COLUMNS(file=name, where=row, columns=len(header), most=MAX_COLUMNS)
        raise DataError(remark)
    if not any(column.strip() for column in header):
        raise DataError(FileProblem.NO_COLUMN_NAMED(file=name, where=row, columns=len(header)))
    taken = set(header)
    columns: list[str] = []
    places: list[int] = []
    again: list[str] = []
    numbers: dict[str, Iterator[int]] = {}  # continued if a name recurs
    for position, column in enumerate(header, start=1):
        own = column
        if not column.strip():
            own = _free(f"column {position}", taken, count(2))
            places.append(position)
        elif column in numbers:
            own = _free(column, taken, numbers[column])
            again.append(own)
        numbers.setdefault(column, count(2))
        taken.add(own)
        columns.append(own)
    notes: list[Problem] = []
    if places == [1]:
        notes.append(know(FileProblem.FIRST_COLUMN_UNNAMED(file=name, where=row, column=columns[0])))
    elif places:
        shown = ", ".join(map(str, places[:5])) + (", ..." if len(places) > 5 else "")
        remark = FileProblem.COLUMNS_UNNAMED(
            file=name, where=row, unnamed=len(places), columns=len(columns), places=shown
        )
        notes.append(know(remark, len(places)))
    if again:
        remark = FileProblem.COLUMNS_NAMED_ALIKE(file=name, where=row, again=tuple(again))
        notes.append(know(remark, len(again), again))
    return tuple(columns), notes


def _free(column: str, taken: Collection[str], numbers: Iterator[int]) -> str:
    """Return the name, or the name with the first number behind it that is not `taken`."""
    return next(one for one in chain([column], (f"{column} ({n})" for n in numbers)) if one not in taken)


def no_rows(name: str, row: int = 0) -> DataError:
    """Return the error for a file without data rows."""
    return DataError(FileProblem.NO_ROWS(file=name, row=row))
