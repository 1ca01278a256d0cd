"""Tables with several columns for each rater (item): named after both, or the rater's name beside the label.

``P01_offensive, P01_sarcastic, P02_offensive, ...`` and ``annotator1, label1, annotator2, label2, ...``
become a row per annotation. What is a rater is told by names alone; where they do not say it, nothing is
changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.annotations import Int64Array
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.wording import listed, number, quoted
from grasp_core.reading.formats.shapes.name_pairs import Group, Pairs, beside, paired
from grasp_core.reading.formats.shapes.rows import first_label
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column, check_cells
from grasp_core.reading.table.parsed import Parsed, compact
from grasp_core.reading.table.table import Recipe


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """A row per annotation, with how to read it; None for other tables.

    Raises DataError naming the row where a label stands beside no rater, or if the table would be too large.
    """
    if parsed.recipe is not None or not len(parsed.data):
        return None
    groups = beside(parsed.columns)
    if groups is not None and _are_ids(parsed, groups):
        return _beside(parsed, groups, name)
    pairs = paired(parsed.columns)
    return None if pairs is None else _paired(parsed, pairs, name)


# Raters beside their labels


def _are_ids(parsed: Parsed, groups: Sequence[Group]) -> bool:
    """Whether the raters' columns hold ids: nobody stands twice in a row, as labels do."""
    stacked = Column.of(pa.chunked_array([_texts(parsed, group.rater) for group in groups]))
    filled = ~stacked.among([""])
    row = np.tile(np.arange(len(parsed.data)), len(groups))
    pairs = row.astype(np.int64) * len(stacked.values) + stacked.codes
    return int(np.unique(pairs[filled]).size) == int(filled.sum())


def _beside(parsed: Parsed, groups: Sequence[Group], name: str) -> Parsed:
    fields = list(dict.fromkeys(field for group in groups for field in group.fields))
    for group in groups:
        _check_raters(parsed, group, name)
    own = {column for group in groups for column in (group.rater, *group.fields.values())}
    rest = [column for column in parsed.columns if column not in own]
    rater = names.unused(groups[0].name, [*rest, *fields])
    parts = [
        {rater: _texts(parsed, group.rater)}
        | {field: _texts(parsed, group.fields[field]) if field in group.fields else None for field in fields}
        for group in groups
    ]
    said = f"{listed([group.rater for group in groups], 3)} name the raters of the labels beside them"
    return _long(parsed, parts, rest, (rater, None), f"{said}; each annotation was given a row", name)


def _check_raters(parsed: Parsed, group: Group, name: str) -> None:
    for column in group.fields.values():
        alone = pc.and_(pc.equal(_texts(parsed, group.rater), ""), pc.not_equal(_texts(parsed, column), ""))
        if pc.any(alone).as_py():
            position = pc.index(alone, True).as_py()
            raise DataError(
                f"{name}, row {parsed.numbers[position]}: {quoted(column)} is filled and "
                f"{quoted(group.rater)} is empty; name the rater, or clear the cell"
            )


# Names of both


def _paired(parsed: Parsed, pairs: Pairs, name: str) -> Parsed | None:
    own = {column for columns in pairs.columns.values() for column in columns.values()}
    if 2 * sum(names.mentions(column, names.COUNTED) for column in own) > len(own):
        return None  # counts of votes per label are nobody's answers
    rest = [column for column in parsed.columns if column not in own]
    if any(unit in rest for unit in pairs.columns):
        return None  # a column called P01 beside P01_time holds the label, or an id
    key = _key(parsed, rest)
    by_name = {kind: names.id_score(key or "", words) for kind, words in _KINDS.items()}
    of_key = None if by_name["item"] == by_name["rater"] else max(by_name, key=lambda kind: by_name[kind])
    units = {"item": "rater", "rater": "item"}.get(str(of_key), pairs.units)
    if units is None or pairs.units not in (None, units) or (key is None and units != "rater"):
        return None
    unit = names.unused(units, [*rest, *pairs.questions])
    parts = [
        {unit: pa.array([one] * len(parsed.data), pa.string())}
        | {
            question: _texts(parsed, columns[question]) if question in columns else None
            for question in pairs.questions
        }
        for one, columns in pairs.columns.items()
    ]
    said = (
        f"the columns of each {units} ({listed(list(pairs.columns), 3)}) were taken apart into the "
        f"{number(len(pairs.questions), 'question')} {listed(pairs.questions, 5)}, a row per annotation"
    )
    ids = (unit, key) if units == "rater" else (str(key), unit)
    return _long(parsed, parts, rest, ids, said, name)


_KINDS = {"item": names.ITEM, "rater": names.RATER}


def _key(parsed: Parsed, rest: Sequence[str]) -> str | None:
    """The column of the rows' ids, told by its name."""
    scores = {column: names.key_score(column, *_KINDS.values()) for column in rest}
    able = [column for column in rest if scores[column] and _distinct(parsed, column) == len(parsed.data)]
    return max(able, key=lambda column: scores[column], default=None)


def _distinct(parsed: Parsed, column: str) -> int:
    return len(parsed.data.column(column).unique())


# A row per annotation


def _long(
    parsed: Parsed,
    parts: Sequence[dict[str, pa.Array | None]],
    rest: Sequence[str],
    ids: tuple[str, str | None],
    said: str,
    name: str,
) -> Parsed:
    """The parts one below the other, row by row, without those that are empty."""
    n = len(parsed.data)
    rater, item = ids
    asked = [column for column in parts[0] if column not in ids]
    check_cells(n * len(parts) * (len(rest) + len(parts[0])), name)
    stacked = _stacked(parts, n)
    kept = _filled(stacked, asked, n)
    if not kept.size:
        raise DataError(f"{name}: {listed(asked, 5)} hold no answer; fill them in, or leave them out")
    row = kept % n
    columns = {column: _texts(parsed, column).take(pa.array(row)) for column in rest}
    lines = parsed.numbers[row]
    done = [said]
    item = item or _key(parsed, rest)
    if item is None:
        item = names.unused("item", [*rest, *parts[0]])
        columns[item] = pa.array([f"row {line}" for line in lines.tolist()], pa.string())
        done.append(f"no column tells the items apart, so {quoted(item)} holds the row numbers")
    columns |= {column: values.take(pa.array(kept)) for column, values in stacked.items()}
    data = compact(pa.table(columns))
    label = first_label({column: data.column(column).unique().to_pylist() for column in asked})
    text = "text" if "text" in rest and item != "text" else None
    kind = f"{parsed.kind}, several columns per {'rater' if item in rest else 'item'}"
    spec = DataSpec(item=item, rater=rater, label=label, text=text)
    return dataclasses.replace(
        parsed,
        columns=tuple(columns),
        data=data,
        kind=kind,
        lines=lines,
        recipe=Recipe(kind, spec, sentences=tuple(done), questions=tuple(asked)),
    )


def _stacked(parts: Sequence[Mapping[str, pa.Array | None]], n: int) -> dict[str, pa.Array]:
    """Each column's cells, `n` of each part, one part below the other."""
    blank = pa.array([""] * n, pa.string())
    return {
        column: pa.concat_arrays([blank if part[column] is None else part[column] for part in parts])
        for column in parts[0]
    }


def _filled(stacked: Mapping[str, pa.Array], asked: Sequence[str], n: int) -> Int64Array:
    """Positions in `stacked` with an answer to any question, all of a row of the file together."""
    size = len(stacked[asked[0]])
    filled = np.zeros(size, dtype=np.bool_)
    for column in asked:
        filled |= np.asarray(pc.not_equal(stacked[column], ""), dtype=np.bool_)
    in_order = np.arange(size).reshape(-1, n).T.ravel()
    return in_order[filled[in_order]]


def _texts(parsed: Parsed, column: str) -> pa.Array:
    whole = parsed.data.column(column).cast(pa.string()).combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
