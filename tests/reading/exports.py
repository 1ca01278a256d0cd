"""Tests of all readers share these: reading, running, and mangling a sample."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Parsed, Recipe, Table
from tests.reading.making import parquet_bytes, refusal_of

JUNK: tuple[Any, ...] = (None, True, "", "x", "7", [], {}, [[]], [None], {"a": "b"}, [{"a": ["b"]}])


def lines(records: Sequence[Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def parquet(records: Sequence[Any]) -> bytes:
    return parquet_bytes(pa.Table.from_pylist(records))


def table_of(records: Any, name: str = "export.json") -> Table:
    return read_table(json.dumps(records).encode(), name)


def cells(table: Table, *columns: str) -> list[tuple[str, ...]]:
    """The rows of some columns."""
    return [tuple(table.cell(column, row) for column in columns) for row in range(len(table))]


def recipe_of(table: Table | Parsed) -> Recipe:
    assert table.recipe is not None
    return table.recipe


def spec_of(table: Table | Parsed) -> DataSpec:
    spec = recipe_of(table).spec
    assert spec is not None
    return spec


def loaded(table: Table) -> Dataset:
    """The data set that the table's own recipe makes, as guessing proposes it too."""
    spec, guess = spec_of(table), recognise(table)
    ours = ("layout", "item", "rater", "label", "text")
    assert [getattr(guess.spec, name) for name in ours] == [getattr(spec, name) for name in ours]
    return load(table, None, spec)


def refused(records: Sequence[Any], *sentences: str) -> None:
    """Reading the records ends with one error that names the file and says the sentences."""
    refusal_of(lambda: table_of(records, "export.json"), "export.json", *sentences)


def read_or_refused(content: bytes, name: str) -> None:
    """A damaged file gives a table or one sentence, never another error."""
    table, refusal = None, ""
    try:
        table = read_table(content, name)
    except DataError as error:
        refusal = str(error)
    if table is None:
        assert name in refusal
        assert "\n" not in refusal
        return
    assert len(table) > 0
    assert table.lines is None or len(table.lines) == len(table)
    if table.recipe is not None and table.recipe.spec is not None:
        spec = table.recipe.spec
        assert {spec.item, spec.rater, spec.label} <= set(table.columns)


@st.composite
def mangled(draw: st.DrawFn, sample: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sample with a few values dropped or replaced, anywhere in it; its numbers are text."""
    records: list[dict[str, Any]] = textual(copy.deepcopy(list(sample)))
    for _ in range(draw(st.integers(1, 4))):
        places = [*_places(records)]
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        junk = copy.deepcopy(draw(st.sampled_from(JUNK)))
        if draw(st.booleans()):
            del holder[key]
        elif holder is not records or isinstance(junk, dict):
            holder[key] = junk
        if not records:
            break
    return records


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with bytes flipped, cut out, put in and repeated."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(0, len(content) - 1)))
        piece, rest = content[start:][: draw(st.integers(1, 64))], content[start:]
        flipped = bytes([piece[0] ^ (1 << draw(st.integers(0, 7)))]) + rest[1:] if piece else b""
        inserted = draw(st.binary(max_size=16)) + rest
        repeated = piece * draw(st.integers(2, 50)) + rest[len(piece) :]
        changed = draw(st.sampled_from((flipped, rest[len(piece) :], inserted, repeated, b"")))
        content = content[:start] + changed
    return content


def textual(value: Any) -> Any:
    """Numbers as text, as the JSON reader hands them on."""
    if isinstance(value, dict):
        return {key: textual(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [textual(inner) for inner in value]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    own = [(value, key) for key in keys]
    return own + [p for key in keys if isinstance(value[key], dict | list) for p in _places(value[key])]


def survives(read: Callable[..., Parsed | None], *arguments: Any) -> None:
    """Nothing but a table, None or one sentence comes out."""
    sentence, found = None, None
    try:
        found = read(*arguments)
    except DataError as error:
        sentence = str(error)
    assert sentence is None or ("\n" not in sentence and len(sentence) > 30)
    if found is not None:
        assert found.data.num_rows > 0
        assert found.lines is not None
        assert len(found.lines) == found.data.num_rows
        if found.recipe.spec is not None:
            spec = found.recipe.spec
            assert {spec.item, spec.rater, spec.label} <= set(found.columns)
