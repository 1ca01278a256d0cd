"""Tables whose cells are lists, such as ``['P1', 'P2']`` or ``P1;P2``."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.reading.files import json_files
from grasp_core.reading.formats.shapes.lists import cell_text, parallel, recognised
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells, compact
from grasp_core.reading.table.table import Parsed

_FIRST_CELLS = 200
_NESTED = 5
_NOTHING = frozenset(["", "None", "nan", "NaN", "null"])
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[\[\],])|'(?P<one>(?:[^'\\]|\\.)*+)'|\"(?P<two>(?:[^\"\\]|\\.)*+)\""
    r"|(?P<bare>[^\s\[\],'\"()]++))\s*",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Return a row per entry of a table's lists; None if no column lists raters."""
    raters = [column for column in parsed.columns if names.list_score(column)]
    head: dict[str, list[str]] = parsed.data.slice(0, _FIRST_CELLS).to_pydict() if raters else {}
    plural = {
        column
        for column in raters
        if any(word.endswith("s") or word == "list" for word in names.words(column)[-2:])
    }
    if parsed.recipe is not None or not any(
        column in plural or any(cell.startswith("[") for cell in head[column]) for column in raters
    ):
        return None
    bracketed = [
        column
        for column, cells in head.items()
        if any(cells) and all(structure(cell) is not None for cell in cells if cell)
    ]
    if len(bracketed) > 1:
        return _exploded(parsed, bracketed, lambda cell: structure(cell) or [], name)
    for separator in (";", "|", ","):
        counts = {column: tuple(cell.count(separator) for cell in cells) for column, cells in head.items()}
        alike = Counter(counts.values())
        listed_in = [
            column
            for column, found_in in counts.items()
            if 2 * sum(map(bool, found_in)) >= sum(map(bool, head[column])) and any(head[column])
        ]
        if any(column in plural and alike[counts[column]] > 1 for column in listed_in):
            return _exploded(parsed, listed_in, partial(_split, separator=separator), name)
    return None


def _split(cell: str, separator: str) -> list[Any]:
    return [entry.strip() for entry in cell.split(separator)] if cell.strip() else []


def structure(cell: str) -> list[Any] | None:
    """Return the list in a cell, as JSON or as Python or NumPy print it; None for other cells."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    found = json_files.cell(cell)
    return found if isinstance(found, list) else _printed(cell)


def _printed(cell: str) -> list[Any] | None:
    """Read a list as Python prints it, with texts in either quotes, and commas or spaces between entries."""
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
        elif token["mark"] == "]" or len(stack) > _NESTED or token["bare"] == "...":
            return None
        elif token["bare"] is not None:
            stack[-1].append(None if token["bare"] in _NOTHING else token["bare"])
        elif token["mark"] is None:
            text = token["one"] if token["one"] is not None else token["two"]
            stack[-1].append(_ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text))
        if len(stack) == 1 and at < len(cell):
            return None
    whole = stack[0][0] if len(stack) == 1 and stack[0] else None
    return whole if isinstance(whole, list) else None


def _exploded(
    parsed: Parsed, columns_of_lists: Sequence[str], opened: Callable[[str], list[Any]], name: str
) -> Parsed | None:
    cells: dict[str, list[str]] = parsed.data.select(columns_of_lists).to_pydict()
    found = {column: [opened(cell) for cell in own] for column, own in cells.items()}
    lengths = {
        column: np.array([len(entries) for entries in own], dtype=np.int64) for column, own in found.items()
    }
    lists = parallel(lengths)
    if lists is None:
        return None
    raters = lists.entries(lengths, parsed.numbers, name)
    check_cells(int(raters.sum()) * len(parsed.columns), name)
    rest = [column for column in parsed.columns if column not in lists.all]  # each row recurs per entry
    made = dataclasses.replace(parsed, data=parsed.data.select(rest))
    made = made.kept(np.repeat(np.arange(len(parsed)), raters))
    columns = dict.fromkeys(parsed.columns) | {column: made.data.column(column) for column in rest}
    for column in lists.all:
        texts = [cell_text(entry) for entries in found[column] for entry in entries]
        columns[column] = pa.chunked_array([texts], pa.string())
    made = dataclasses.replace(made, data=compact(pa.table(columns)))
    return recognised(made, lists, f"{parsed.kind} with lists")
