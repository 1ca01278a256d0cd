"""Tables whose cells are lists, as ``['P1', 'P2']`` or ``P1;P2``: of rater ids and, as long, of labels."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grasp_core.reading.files import json_files
from grasp_core.reading.formats.shapes import list_columns, rows
from grasp_core.reading.formats.shapes.list_columns import Lists
from grasp_core.reading.formats.tools import argilla
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells
from grasp_core.reading.table.parsed import Parsed, from_rows

_LOOKED_AT = 200
_SEPARATORS = (";", "|", ",")
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
    """A row per entry of a table's lists; None where no column lists raters.

    Raises DataError naming the row whose lists differ in length.
    """
    raters = [column for column in parsed.columns if names.id_score(column, names.RATER)]
    if parsed.recipe is not None or not any(_may_list(parsed, column) for column in raters):
        return None
    head = {column: _cells(parsed, column, _LOOKED_AT) for column in parsed.columns}
    bracketed = [column for column, cells in head.items() if _are_lists(cells, structure)]
    if len(bracketed) > 1:
        found = _of_argilla(parsed, bracketed, name)
        if found is not None:
            return found
        lists = {column: [structure(cell) or [] for cell in _cells(parsed, column)] for column in bracketed}
        return _exploded(parsed, lists, name)
    separator = next((one for one in _SEPARATORS if _separates(head, one)), None)
    if separator is None:
        return None
    lists = {
        column: [_split(cell, separator) for cell in _cells(parsed, column)]
        for column, cells in head.items()
        if _are_lists(cells, lambda cell: cell.split(separator) if separator in cell else None, most=0.5)
    }
    return _exploded(parsed, lists, name)


def _may_list(parsed: Parsed, column: str) -> bool:
    """Whether a first look at a column named like rater ids finds several in a cell."""
    return _is_plural(column) or any(cell.startswith("[") for cell in _cells(parsed, column, _LOOKED_AT))


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
            stack[-1].append(_entry(token))
        if len(stack) == 1 and at < len(cell):
            return None
    whole = stack[0][0] if len(stack) == 1 and stack[0] else None
    return whole if isinstance(whole, list) else None


def _entry(token: re.Match[str]) -> str | None:
    quoted = token["one"] if token["one"] is not None else token["two"]
    if quoted is not None:
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), quoted)
    bare = str(token["bare"])
    return None if bare in _NOTHING else bare


def _cells(parsed: Parsed, column: str, rows: int | None = None) -> list[str]:
    cells: list[str] = parsed.data.column(column).slice(0, rows).to_pylist()
    return cells


def _are_lists(cells: Sequence[str], read: Any, most: float = 1.0) -> bool:
    """Whether so many of the cells that hold anything are lists."""
    said = [cell for cell in cells if cell]
    return bool(said) and sum(read(cell) is not None for cell in said) >= most * len(said)


def _separates(head: Mapping[str, Sequence[str]], separator: str) -> bool:
    """Whether a column named after several raters has the separator, and another one as often in each row."""
    counts = {column: tuple(cell.count(separator) for cell in cells) for column, cells in head.items()}
    alike = Counter(counts.values())
    return any(
        _is_plural(column)
        and 2 * sum(bool(count) for count in found) >= sum(bool(cell) for cell in head[column])
        and alike[found] > 1
        for column, found in counts.items()
    )


def _is_plural(column: str) -> bool:
    """Whether a name speaks of raters in the plural: ``annotators``, ``worker_ids``."""
    found = names.words(column)
    return bool(names.id_score(column, names.RATER)) and any(word.endswith("s") for word in found[-2:])


def _split(cell: str, separator: str) -> list[str]:
    return [entry.strip() for entry in cell.split(separator)] if cell.strip() else []


def _of_argilla(parsed: Parsed, bracketed: Sequence[str], name: str) -> Parsed | None:
    """Argilla's columns, whose lists only its own reader understands."""
    records: list[dict[str, Any]] = parsed.data.slice(0, 1).to_pylist()
    if not argilla.is_export(records):
        return None
    records = [
        {column: structure(cell) if column in bracketed else cell for column, cell in record.items()}
        for record in parsed.data.to_pylist()
    ]
    return argilla.read(records, name, parsed.kind)


def _exploded(parsed: Parsed, columns: Mapping[str, list[list[Any]]], name: str) -> Parsed | None:
    lengths = {
        column: np.array([len(entries) for entries in found], dtype=np.int64)
        for column, found in columns.items()
    }
    lists = list_columns.parallel(lengths)
    if lists is None:
        return None
    raters = lengths[lists.rater]
    for other in lists.others:
        for at in np.flatnonzero(lengths[other] != raters)[:1].tolist():
            row, found = int(parsed.numbers[at]), int(lengths[other][at])
            raise list_columns.unequal(name, row, lists.rater, int(raters[at]), other, found)
    check_cells(int(raters.sum()) * len(parsed.columns), name)
    data = from_rows(parsed.columns, _rows(parsed, columns, lists, raters.tolist()))
    exploded = dataclasses.replace(parsed, data=data, lines=np.repeat(parsed.numbers, raters))
    return list_columns.recognised(exploded, lists, f"{parsed.kind} with lists")


def _rows(
    parsed: Parsed, columns: Mapping[str, list[list[Any]]], lists: Lists, counts: Sequence[int]
) -> list[list[str]]:
    beside = {column: _cells(parsed, column) for column in parsed.columns if column not in lists.all}
    return [
        [
            beside[column][row] if column in beside else _text(columns[column][row][entry])
            for column in parsed.columns
        ]
        for row, count in enumerate(counts)
        for entry in range(count)
    ]


def _text(entry: Any) -> str:
    """An entry as a cell; several choices are one label."""
    if isinstance(entry, list) and not any(isinstance(one, dict | list) for one in entry):
        return rows.joined(map(json_files.text, entry))
    return json_files.text(entry)
