"""Data sets with a row per item that hold lists: of rater ids and, of the same length, of their labels.

In Parquet and JSON they are lists, in other tables cells such as ``['P1', 'P2']`` or ``P1;P2``.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import _rater_maps as rater_maps
from grasp_core.reading.formats.shapes.rows import joined, read_as_long
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells
from grasp_core.reading.table.parsed import Parsed, compact, from_rows

_PARALLEL = 0.9
"""Share of the rows looked at in which lists that belong together are equally long."""
_TRIED = 20
"""Columns that may be the raters' and are tried."""
_LOOKED_AT = 1_000
_SIGNATURES = re.compile("completed_by|created_by|annotated_by|by|username|login|email|author|name|id")
"""Fields of an annotation that may say whose it is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Lists:
    """Columns of lists that belong together.

    `rater`: the one of rater ids.
    `others`: those with as many entries: labels, times, what is known of the raters.
    """

    rater: str
    others: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Every column, the raters' first."""
        return (self.rater, *self.others)


def parallel(lengths: Mapping[str, Int64Array]) -> Lists | None:
    """The lists that hold annotations, by lengths (n,): one named like rater ids, and those as long as it."""
    scores = {path: names.id_score(path, names.RATER) for path in lengths}
    for rater in sorted((path for path in scores if scores[path]), key=lambda path: -scores[path])[:_TRIED]:
        if not lengths[rater].any():
            continue
        others = tuple(
            path
            for path in lengths
            if path != rater and float((lengths[path] == lengths[rater]).mean()) >= _PARALLEL
        )
        if others:
            return Lists(rater, others)
    return None


def unequal(name: str, row: int, rater: str, raters: int, other: str, found: int) -> DataError:
    """The error for a row whose lists differ in length."""
    return DataError(
        f"{name}, row {row}: {quoted(other)} has {number(found, 'entry', 'entries')} and "
        f"{quoted(rater)} has {raters:,}; give both one entry per annotation"
    )


def recognised(parsed: Parsed, lists: Lists, kind: str) -> Parsed:
    """A table with a row per annotation, with how to read it; rows are numbered by `parsed.lines`."""
    data = parsed.data
    rows = int(np.unique(parsed.lines).size) if parsed.lines is not None else len(data)
    others = [column for column in data.column_names if column not in lists.all]
    scores = {column: names.key_score(column, names.ITEM) for column in others}
    able = (column for column in others if scores[column] or names.is_id(column))
    named = sorted(able, key=lambda column: -scores[column])
    item = next((column for column in named if len(data.column(column).unique()) == rows), None)
    done = [f"each entry of the lists {listed(lists.all)} was given a row; row numbers are those of the file"]
    if item is None and parsed.lines is not None:
        item = "item" if "item" not in data.column_names else "row number"
        column = pa.array([str(line) for line in parsed.lines.tolist()], pa.string())
        data = compact(data.add_column(0, item, column))
        done.append(f"no column tells the items apart, so {quoted(item)} holds the row numbers")
    return read_as_long(parsed, data, kind, (item, lists.rater), lists.others, done, data.column_names)


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A row per annotation of JSON records with parallel lists; None for other files."""
    flat = rater_maps.flattened(records)
    if flat is not None:
        return json_files.table(flat, name, "JSON")
    lists = _found(records, name)
    by_rater = rater_maps.as_lists(records, name) if lists is None else None
    if by_rater is not None:
        records = by_rater
        lists = _found(records, name)
    if lists is None:
        return None
    found_rows: list[dict[str, Any]] = []
    lines: list[int] = []
    cells = 0
    for position, record in enumerate(records, start=1):
        found = _lists(record)
        rest = _without_lists(record)
        raters = found.get(lists.rater, [])
        for path in lists.others:
            if len(found.get(path, ())) != len(raters):
                raise unequal(name, position, lists.rater, len(raters), path, len(found.get(path, ())))
        cells += len(raters) * (len(rest) + len(lists.all))
        check_cells(cells, name)
        for entry in range(len(raters)):
            found_rows.append({**rest, **{path: found[path][entry] for path in lists.all}})
            lines.append(position)
    parsed = json_files.table(found_rows, name, "JSON")
    if not set(lists.all) <= set(parsed.columns):
        return None
    return recognised(
        dataclasses.replace(parsed, lines=np.array(lines, dtype=np.int64)), lists, "JSON with lists"
    )


def _found(records: Sequence[Record], name: str) -> Lists | None:
    """The lists that hold annotations, as the first records tell."""
    looked_at = [_lists(record) for record in records[:_LOOKED_AT]]
    paths = dict.fromkeys(path for found in looked_at for path in found)
    signed: dict[str, list[str]] = {}
    for path in paths:
        outer, _, field = path.rpartition(".")
        if outer and names.id_score(field, names.RATER):
            signed.setdefault(field, []).append(path)
    for alike in signed.values():  # the others' annotations would be left out
        if any(found.get(alike[0], []) != found.get(path, []) for path in alike[1:] for found in looked_at):
            raise DataError(
                f"{name}: {listed(alike)} are lists of different raters, so it is not clear which labels are "
                "theirs; write one list of annotations per record, each with its rater and its label"
            )
    lengths = {
        path: np.array([len(found.get(path, ())) for found in looked_at], dtype=np.int64) for path in paths
    }
    named = parallel(lengths)
    if named is not None:
        return named
    # Lists of annotations that a field such as ``by`` signs: once in a record, and again in others.
    beside: dict[str, list[str]] = {}
    for path in paths:
        beside.setdefault(path.rpartition(".")[0], []).append(path)
    for path in paths:
        outer, _, field = path.rpartition(".")
        if not _SIGNATURES.fullmatch(field) or not rater_maps.is_of_annotations(outer.rpartition(".")[2]):
            continue
        entries = [[json_files.text(entry) for entry in found.get(path, ())] for found in looked_at]
        once = all(len(set(found)) == len(found) for found in entries)
        total, distinct = sum(map(len, entries)), {entry for found in entries for entry in found}
        varies = len({frozenset(found) for found in entries if found}) > 1
        if once and varies and 1 < len(distinct) < total and "" not in distinct and len(beside[outer]) > 1:
            return Lists(path, tuple(other for other in beside[outer] if other != path))
    return None


def _without_lists(record: Record) -> Record:
    rest = {
        field: _without_lists(value) if isinstance(value, dict) else value
        for field, value in record.items()
        if not isinstance(value, list)
    }
    return {field: value for field, value in rest.items() if value != {}}


def _lists(record: Record) -> dict[str, list[Any]]:
    """Lists of scalars, and of each field of lists of objects, by their path."""
    found: dict[str, list[Any]] = {}
    for field, value in record.items():
        if isinstance(value, dict):
            found |= {f"{field}.{path}": inner for path, inner in _lists(value).items()}
        if not isinstance(value, list) or not value:
            continue
        if not any(isinstance(entry, dict | list) for entry in value):
            found[field] = value
        elif all(isinstance(entry, dict) for entry in value):
            entries = [_flat(entry) for entry in value]
            for inner in dict.fromkeys(inner for entry in entries for inner in entry):
                found[f"{field}.{inner}"] = [entry.get(inner) for entry in entries]
    return found


def _flat(entry: Record) -> Record:
    """An annotation's fields, those of objects as ``outer.inner``, several choices as one label."""
    flat: Record = {}
    for field, value in entry.items():
        # A text may hold an object as JSON, as in annotations of labelling jobs.
        opened = json_files.cell(value.strip()) if isinstance(value, str) and value[:1] == "{" else None
        value = opened if isinstance(opened, dict) else value
        if isinstance(value, dict):
            flat |= {f"{field}.{inner}": cell for inner, cell in _flat(value).items()}
        else:
            flat[field] = _text(value) if isinstance(value, list) else value
    return flat


def _text(value: Any) -> str:
    """A value as a cell; several choices are one label."""
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return joined(map(json_files.text, value))
    return json_files.text(value)


# Lists in cells

_FIRST_CELLS = 200
_DEPTH = 5
_NOTHING = frozenset(["", "None", "nan", "NaN", "null"])
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[\[\],])|'(?P<one>(?:[^'\\]|\\.)*+)'|\"(?P<two>(?:[^\"\\]|\\.)*+)\""
    r"|(?P<bare>[^\s\[\],'\"()]++))\s*",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """A row per entry of a table's lists; None where no column lists raters."""
    raters = [column for column in parsed.columns if names.id_score(column, names.RATER)]
    head = {column: _cells(parsed, column, _FIRST_CELLS) for column in parsed.columns if raters}
    if parsed.recipe is not None or not any(
        _is_plural(column) or any(cell.startswith("[") for cell in head[column]) for column in raters
    ):
        return None
    bracketed = [
        column
        for column, cells in head.items()
        if any(cells) and all(structure(cell) is not None for cell in cells if cell)
    ]
    if len(bracketed) > 1:
        lists = {column: [structure(cell) or [] for cell in _cells(parsed, column)] for column in bracketed}
        return _exploded(parsed, lists, name)
    for separator in (";", "|", ","):
        counts = {column: tuple(cell.count(separator) for cell in cells) for column, cells in head.items()}
        alike = Counter(counts.values())
        listed_in = [
            column
            for column, found in counts.items()
            if 2 * sum(map(bool, found)) >= sum(map(bool, head[column])) and any(head[column])
        ]
        if any(_is_plural(column) and alike[counts[column]] > 1 for column in listed_in):
            lists = {
                column: [
                    [entry.strip() for entry in cell.split(separator)] if cell.strip() else []
                    for cell in _cells(parsed, column)
                ]
                for column in listed_in
            }
            return _exploded(parsed, lists, name)
    return None


def structure(cell: str) -> list[Any] | None:
    """The list that a cell holds as JSON, or as Python or NumPy print it; None for other cells."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    found = json_files.cell(cell)
    return found if isinstance(found, list) else _printed(cell)


def _printed(cell: str) -> list[Any] | None:
    """A list as Python prints it: its texts in either quotes, entries apart by commas or spaces."""
    stack: list[list[Any]] = [[]]
    at = 0
    while at < len(cell):
        token = _TOKEN.match(cell, at)
        if token is None:
            return None
        at = token.end()
        if token["mark"] == "[":
            stack.append([])
        elif token["mark"] == "]" and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif token["mark"] == "]" or len(stack) > _DEPTH or token["bare"] == "...":
            return None
        elif token["mark"] is None:
            quoted_text = token["one"] if token["one"] is not None else token["two"]
            if quoted_text is not None:
                stack[-1].append(_ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), quoted_text))
            else:
                stack[-1].append(None if token["bare"] in _NOTHING else token["bare"])
        if len(stack) == 1 and at < len(cell):
            return None
    whole = stack[0][0] if len(stack) == 1 and stack[0] else None
    return whole if isinstance(whole, list) else None


def _cells(parsed: Parsed, column: str, first: int | None = None) -> list[str]:
    cells: list[str] = parsed.data.column(column).slice(0, first).to_pylist()
    return cells


def _is_plural(column: str) -> bool:
    """Whether a name speaks of raters in the plural: ``annotators``, ``worker_ids``."""
    found = names.words(column)
    return bool(names.id_score(column, names.RATER)) and any(word.endswith("s") for word in found[-2:])


def _exploded(parsed: Parsed, columns: Mapping[str, list[list[Any]]], name: str) -> Parsed | None:
    lengths = {
        column: np.array([len(entries) for entries in found], dtype=np.int64)
        for column, found in columns.items()
    }
    lists = parallel(lengths)
    if lists is None:
        return None
    raters = lengths[lists.rater]
    for other in lists.others:
        for at in np.flatnonzero(lengths[other] != raters)[:1].tolist():
            row, found = int(parsed.numbers[at]), int(lengths[other][at])
            raise unequal(name, row, lists.rater, int(raters[at]), other, found)
    check_cells(int(raters.sum()) * len(parsed.columns), name)
    rest = {column: _cells(parsed, column) for column in parsed.columns if column not in lists.all}
    cells = [
        [
            rest[column][row] if column in rest else _text(columns[column][row][entry])
            for column in parsed.columns
        ]
        for row, count in enumerate(raters.tolist())
        for entry in range(count)
    ]
    data = from_rows(parsed.columns, cells)
    exploded = dataclasses.replace(parsed, data=data, lines=np.repeat(parsed.numbers, raters))
    return recognised(exploded, lists, f"{parsed.kind} with lists")
