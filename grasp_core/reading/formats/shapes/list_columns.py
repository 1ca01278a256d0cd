"""Data sets with a row per item that hold lists: of rater ids and, of the same length, of their labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Int64Array
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.wording import listed, number, quoted
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import _rater_maps as rater_maps
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import first_label
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells
from grasp_core.reading.table.parsed import Parsed, compact
from grasp_core.reading.table.table import Recipe

_PARALLEL = 0.9
"""Share of the rows looked at in which lists that belong together are equally long."""
_TRIED = 20
"""Columns that may be the raters' and are tried."""
_LOOKED_AT = 1_000
_SIGNATURES = (
    "completed_by",
    "created_by",
    "annotated_by",
    "by",
    "username",
    "login",
    "email",
    "author",
    "name",
    "id",
)
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
    item = _item(data, lists, rows)
    done = [f"each entry of the lists {listed(lists.all)} was given a row; row numbers are those of the file"]
    if item is None and parsed.lines is not None:
        item = "item" if "item" not in data.column_names else "row number"
        column = pa.array([str(line) for line in parsed.lines.tolist()], pa.string())
        data = compact(data.add_column(0, item, column))
        done.append(f"no column tells the items apart, so {quoted(item)} holds the row numbers")
    label = first_label({path: data.column(path).unique().to_pylist() for path in lists.others})
    text = "text" if "text" in data.column_names and item != "text" else None
    spec = DataSpec(item=item, rater=lists.rater, label=label, text=text)
    return dataclasses.replace(
        parsed,
        columns=tuple(data.column_names),
        data=data,
        kind=kind,
        recipe=Recipe(kind, spec, sentences=tuple(done), questions=tuple(lists.others)),
    )


def _item(data: pa.Table, lists: Lists, rows: int) -> str | None:
    """A column named like item ids that has another value in each row of the file."""
    others = [column for column in data.column_names if column not in lists.all]
    scores = {column: names.key_score(column, names.ITEM) for column in others}
    named = sorted((column for column in others if scores[column]), key=lambda column: -scores[column])
    return next((column for column in named if len(data.column(column).unique()) == rows), None)


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A row per annotation of JSON records with parallel lists; None for other files.

    Raises DataError naming the record whose lists differ in length, or of what only few records hold.
    """
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


def _check_one(records: Sequence[Mapping[str, list[Any]]], name: str) -> None:
    """Each list of raters besides the first has annotations of its own, which would be left out."""
    signed: dict[str, list[str]] = {}
    for path in dict.fromkeys(path for found in records for path in found):
        outer, _, field = path.rpartition(".")
        if outer and names.id_score(field, names.RATER):
            signed.setdefault(field, []).append(path)
    for paths in signed.values():
        if any(found.get(paths[0], []) != found.get(path, []) for path in paths[1:] for found in records):
            raise DataError(
                f"{name}: {listed(paths)} are lists of different raters, so it is not clear which labels are "
                "theirs; write one list of annotations per record, each with its rater and its label"
            )


def _found(records: Sequence[Record], name: str) -> Lists | None:
    """The lists that hold annotations, as the first records tell."""
    looked_at = [_lists(record) for record in records[:_LOOKED_AT]]
    _check_one(looked_at, name)
    paths = dict.fromkeys(path for found in looked_at for path in found)
    lengths = {
        path: np.array([len(found.get(path, ())) for found in looked_at], dtype=np.int64) for path in paths
    }
    return parallel(lengths) or _with_signed_entries(looked_at, lengths)


def _with_signed_entries(
    records: Sequence[Mapping[str, list[Any]]], lengths: Mapping[str, Int64Array]
) -> Lists | None:
    """Lists of annotations that a field such as ``by`` signs: once in a record, and again in others."""
    beside: dict[str, list[str]] = {}
    for path in lengths:
        beside.setdefault(path.rpartition(".")[0], []).append(path)
    for path in lengths:
        outer, _, field = path.rpartition(".")
        if field not in _SIGNATURES or not rater_maps.is_of_annotations(outer.rpartition(".")[2]):
            continue
        entries = [[json_files.text(entry) for entry in record.get(path, ())] for record in records]
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
    for field, value in ((field, _opened(value)) for field, value in entry.items()):
        if isinstance(value, dict):
            flat |= {f"{field}.{inner}": cell for inner, cell in _flat(value).items()}
        elif isinstance(value, list) and not any(isinstance(cell, dict | list) for cell in value):
            flat[field] = rows.joined(map(json_files.text, value))
        else:
            flat[field] = json_files.text(value) if isinstance(value, list) else value
    return flat


def _opened(value: Any) -> Any:
    """The object that a text holds as JSON, as annotations of labelling jobs do; else the value."""
    inner = json_files.cell(value.strip()) if isinstance(value, str) and value[:1] == "{" else None
    return inner if isinstance(inner, dict) else value
