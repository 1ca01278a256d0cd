"""The labels and their order that types of columns name count, and nothing else ranks words."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pytest

import grasp_core as grasp
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.parse import frame_table
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.words.levels import known_scale, unranked

ORDER = ["low", "medium", "high", "extreme"]
QUIET: dict[str, Any] = {"progress": False, "permutations": 50, "pairs": False, "axes": ["team"]}


def votes() -> pd.DataFrame:
    rows = [(f"i{i}", f"r{j}", ORDER[(i * (j + 1)) % 3], "AB"[j % 2]) for i in range(9) for j in range(6)]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "team"])


def typed(*, ordered: bool, values: list[str] = ORDER) -> pd.DataFrame:
    frame = votes()
    return frame.assign(label=pd.Categorical(frame["label"], values, ordered=ordered))


def enum() -> pl.DataFrame:
    return pl.from_pandas(votes()).with_columns(pl.col("label").cast(pl.Enum(ORDER)))


def as_file(frame: pd.DataFrame, kind: str) -> Any:
    out = io.BytesIO()
    if kind == "parquet":
        frame.to_parquet(out)
    elif kind == "feather":
        feather.write_feather(frame, out)
    else:
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_file(out, table.schema) as file:
            file.write_table(table)
    return read_table(out.getvalue(), f"votes.{kind}")


@pytest.mark.parametrize(
    "make",
    [
        lambda: frame_table(typed(ordered=True), "votes"),
        lambda: frame_table(enum(), "votes"),
        lambda: frame_table(pa.Table.from_pandas(typed(ordered=True)), "votes"),
        lambda: as_file(typed(ordered=True), "parquet"),
        lambda: as_file(typed(ordered=True), "feather"),
        lambda: as_file(typed(ordered=True), "arrow"),
    ],
)
def test_an_ordered_type_says_labels_and_their_order(make: Any) -> None:
    guess = recognise(make())
    assert guess.spec.categories == tuple(ORDER)
    assert guess.ranked
    (why,) = (one for one in guess.reasons if one.field == "categories")
    assert "'extreme' is a label that no cell has" in why.sentence


@pytest.mark.parametrize("values", [ORDER, ["medium", "low", "high"]])
def test_a_type_without_an_order_says_its_labels_alone(values: list[str]) -> None:
    guess = recognise(frame_table(typed(ordered=False, values=values), "votes"))
    assert guess.spec.categories == (("extreme", "high", "low", "medium") if "extreme" in values else None)
    assert not guess.ranked


def test_texts_that_are_codes_to_save_room_say_nothing() -> None:
    table = pa.Table.from_pandas(votes(), preserve_index=False).replace_schema_metadata(None)
    coded = table.set_column(2, "label", table["label"].dictionary_encode())
    assert recognise(frame_table(coded.slice(0, 20), "votes")).spec.categories is None


def test_what_is_named_or_recoded_goes_before() -> None:
    frame = typed(ordered=True)
    named = grasp.analyse(frame, level="ordinal", categories=ORDER[:3], **QUIET)
    assert named.result.spec.data.categories == tuple(ORDER[:3])
    less = grasp.analyse(frame, level="ordinal", missing=["extreme"], **QUIET)
    assert less.result.spec.data.categories == tuple(ORDER[:3])
    assert less.result.groups == named.result.groups
    both = grasp.MapValues(None, (("medium", "high"),))
    assert grasp.analyse(frame, recode=[both], **QUIET).result.data.categories == ("high", "low")


def test_words_without_an_order_are_not_ranked() -> None:
    for frame in (votes(), typed(ordered=False)):
        with pytest.raises(grasp.SpecError, match=r"nothing says how .* rank"):
            grasp.analyse(frame, level="ordinal", **QUIET)
    ordered = grasp.analyse(typed(ordered=True), level="ordinal", **QUIET)
    named = grasp.analyse(votes(), level="ordinal", categories=ORDER, **QUIET)
    assert ordered.result.groups == named.result.groups


@pytest.mark.parametrize(
    "labels",
    [("1", "2", "3"), ("1 star", "2 stars", "3 stars"), ("level 1", "level 2", "level 10"), ("no", "yes")],
)
def test_numbers_rank_by_their_size(labels: tuple[str, ...]) -> None:
    assert unranked(labels) is None


@pytest.mark.parametrize(
    "labels",
    [
        ("high", "low", "medium"),
        ("1", "2", "3", "not sure"),
        ("level 1", "level 10", "level 2"),
        ("A", "B", "C"),
    ],
)
def test_the_alphabet_ranks_nothing(labels: tuple[str, ...]) -> None:
    assert unranked(labels) is not None


@pytest.mark.parametrize(
    ("labels", "scale"),
    [
        (("High", "Low", "Medium"), ("Low", "Medium", "High")),
        (("agree", "disagree", "strongly_agree"), ("disagree", "agree", "strongly_agree")),
        (("joy", "anger", "fear"), None),
    ],
)
def test_known_scales_are_proposed(labels: tuple[str, ...], scale: tuple[str, ...] | None) -> None:
    assert known_scale(labels) == scale
