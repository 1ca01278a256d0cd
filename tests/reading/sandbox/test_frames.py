"""Data frames are read as files with their columns; columns whose texts recur are kept as codes."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox.parse import frame_table
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.parsed import compact

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
NAMES = st.lists(st.text("abcdefg_.é", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


def cells(frame: Any) -> dict[str, list[str]]:
    return frame_table(frame, "votes").frame().to_dict("list")


@given(st.data())
def test_texts_stay_and_all_libraries_give_the_same_table(data: st.DataObject) -> None:
    names, rows = data.draw(NAMES), data.draw(st.integers(1, 5))
    column = st.lists(st.none() | CELLS, min_size=rows, max_size=rows)
    held = {name: data.draw(column, label=name) for name in names}
    arrow = pa.table(held, pa.schema([pa.field(name, pa.string()) for name in names]))
    frames = [
        *(pd.DataFrame(held, dtype="str"), pd.DataFrame(held, dtype=object)),
        pl.DataFrame(held, schema=dict.fromkeys(names, pl.String)),
        *(arrow, pa.concat_tables([arrow.slice(0, 1), arrow.slice(1)])),
    ]
    tables = [frame_table(frame, "votes") for frame in frames]
    expected = {name: [text or "" for text in column] for name, column in held.items()}
    assert all(table.frame().to_dict("list") == expected for table in tables)
    assert len({(table.sha256, table.bytes) for table in tables}) == 1


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["007", "7", None], ["007", "7", ""]),
        ([1.0, np.nan, 3.0], ["1", "", "3"]),
        ([0.5, np.nan, 3.0], ["0.5", "", "3"]),
        (pd.array([1, None, 3], dtype="Int64"), ["1", "", "3"]),
        ([True, False, True], ["True", "False", "True"]),
        (pd.array([True, None, False], dtype="boolean"), ["True", "", "False"]),
        (pd.Categorical(["b", None, "a"]), ["b", "", "a"]),
        (pd.Categorical([2, None, 1]), ["2", "", "1"]),
        (pd.cut([20, 50, np.nan], [0, 40, 60]), ["(0, 40]", "(40, 60]", ""]),
        ([1, "maybe", None], ["1", "maybe", ""]),
        ([2.0, "maybe", np.nan], ["2", "maybe", ""]),
        (["None", "nan", "NA"], ["None", "nan", "NA"]),
        ([datetime.date(2024, 5, 1), None, datetime.date(2024, 5, 2)], ["2024-05-01", "", "2024-05-02"]),
        ([2**70, None, 1], [str(2**70), "", "1"]),
    ],
)
def test_cells_of_every_kind_become_text(column: Any, expected: list[str]) -> None:
    assert cells(pd.DataFrame({"x": column})) == {"x": expected}


def test_columns_of_polars_have_the_same_texts() -> None:
    columns = {"n": [1, None], "f": [1.0, None], "c": pl.Series(["a", None], dtype=pl.Categorical)}
    columns |= {"e": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])), "b": [True, None]}
    frame = pl.DataFrame(columns)
    expected = {"n": ["1", ""], "f": ["1", ""], "c": ["a", ""], "e": ["u", "v"], "b": ["True", ""]}
    assert cells(frame) == expected
    assert cells(frame.to_arrow()) == expected
    assert frame_table(frame, "votes").sha256 == frame_table(frame.to_arrow(), "votes").sha256


class ByProtocol:
    """What hands out its columns, and is no frame of a library that anybody knows."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class ByInterchange:
    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __dataframe__(self, **options: Any) -> Any:
        return self._table.__dataframe__(**options)


class Broken:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise OSError("the other end is gone")


@pytest.mark.parametrize("library", [ByProtocol, ByInterchange])
def test_any_library_that_hands_out_its_columns_will_do(library: Any) -> None:
    assert cells(library(pa.table({"x": ["007", None]}))) == {"x": ["007", ""]}


def test_names_become_text_and_a_named_index_is_a_column() -> None:
    raters = pd.DataFrame({"race": ["a", "b"]}, index=pd.Index(["007", "8"], name="rater"))
    assert cells(raters) == {"rater": ["007", "8"], "race": ["a", "b"]}
    assert cells(raters.rename_axis(None)) == {"race": ["a", "b"]}
    assert cells(pd.DataFrame({0: ["a"], ("x", "y"): ["b"]})) == {"0": ["a"], "x.y": ["b"]}


def test_a_frame_is_read_as_the_parquet_file_that_it_makes(tmp_path: Any) -> None:
    lists = {"lists": [["r1", "r2"], ["r1", "r3"]], "of": [[1, 2], [2, 2]]}
    frame = pd.DataFrame({"item": ["a", "b"], "n": [1.0, np.nan], **lists})
    frame.to_parquet(tmp_path / "votes.parquet")
    file, read = read_table(tmp_path / "votes.parquet"), frame_table(frame, "votes")
    pd.testing.assert_frame_equal(read.frame(), file.frame())
    assert read.row(2) == file.row(2)


def test_the_hash_tells_names_cells_and_rows_apart() -> None:
    held = [
        *({"x": ["ab", "c"]}, {"x": ["a", "bc"]}, {"y": ["ab", "c"]}),
        *({"x": ["ab", "c"], "y": ["", ""]}, {"x": ["c", "ab"]}, {"x": ["ab", "c", ""]}),
    ]
    assert len({frame_table(pd.DataFrame(one), "votes").sha256 for one in held}) == len(held)


@pytest.mark.parametrize(
    ("frame", "code", "said"),
    [
        (3, "no-frame", "votes is of type builtins int; give a data frame"),
        ([1], "no-frame", "votes is of type builtins list"),
        (pd.DataFrame({"x": []}), "no-rows", "no rows"),
        (pd.DataFrame({"x": [1, {}, "a"]}), "cell-without-text", "votes, row 2, column 'x'"),
        (pd.DataFrame({"x": [b"raw"]}), "data", "without a column of text, numbers or dates"),
        (Broken(), "frame-not-read", "does not hand out its columns (OSError)"),
    ],
)
def test_what_is_no_table_is_refused_with_a_code(frame: Any, code: str, said: str) -> None:
    with pytest.raises(DataError) as refused:
        frame_table(frame, "votes")
    assert refused.value.code == code
    assert said in str(refused.value)


# Codes
ROWS = 600_000


@pytest.mark.parametrize(("texts", "coded"), [(60_000, True), (5, True), (ROWS, False)])
def test_ids_in_no_order_are_kept_as_codes_where_they_recur(texts: int, coded: bool) -> None:
    rng = np.random.default_rng(0)
    positions = rng.permutation(ROWS) if texts == ROWS else rng.integers(0, texts, ROWS)
    ids = pa.array(positions).cast(pa.string())
    kept = compact(pa.table({"id": pa.chunked_array([ids[: ROWS // 3], ids[ROWS // 3 :]])}))["id"]
    assert pa.types.is_dictionary(kept.type) == coded
    assert kept.num_chunks == 1
    assert kept.cast(pa.string()).combine_chunks().equals(ids)
