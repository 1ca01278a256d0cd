"""Tables are guessed and loaded in a process of limited memory and time, as they would be here."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import fitting, load
from grasp_core.reading.example import example_files
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.guess.roles import with_items
from grasp_core.reading.table.table import Table
from grasp_core.reading.tables import fitted, guessed, loaded
from tests.reading.making import read_here, text_table

pytestmark = pytest.mark.in_earnest

LONG = text_table("item rater label age/a r1 yes 30/a r2 no 41/b r1 no 30/b r2 NA 41/c r1 yes 30/c r3 no 22")
WIDE = text_table("item r1 r2 r3/a x y x/b y y x/c x x y")
ITEMS = text_table("item topic/a sports/b sports/c news", "items.csv")
CASES: dict[str, tuple[Table, Table | None, Table | None]] = {
    "long": (LONG, None, None),
    "matrix and items": (WIDE, None, ITEMS),
    "two files": (*(read_here(content, name) for name, content in example_files().items()), None),  # type: ignore[dict-item]
}


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal through and through, arrays and their types included."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in names
        )
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_outcome_is_that_of_doing_it_here(case: tuple[Table, Table | None, Table | None]) -> None:
    annotations, raters, items = case
    guess = guessed(annotations, raters, items)
    assert guess == with_items(recognise(annotations, raters), annotations, items)
    spec = guess.spec
    assert same(loaded(annotations, raters, spec, items=items), load(annotations, raters, spec, items=items))
    named = loaded(annotations, raters, spec, guess.axes, items=items, slices=())
    assert same(named, load(annotations, raters, spec, guess.axes, items=items, slices=()))
    assert fitted(annotations, raters, spec, guess.axes, items) == fitting(
        annotations, raters, spec, guess.axes, items
    )


def test_what_is_wrong_comes_back_with_its_problems() -> None:
    spec = DataSpec(item="item", rater="rater", label="nowhere")
    with pytest.raises(DataError) as here:
        load(LONG, None, spec)
    with pytest.raises(DataError) as there:
        loaded(LONG, None, spec)
    assert str(there.value) == str(here.value)
    assert there.value.problems == here.value.problems


def test_a_table_that_takes_more_than_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "256")
    ids = pa.array([f"id {n}" for n in range(1_000_000)])
    data = pa.table({"item": ids, "rater": ids, "label": ids})
    table = dataclasses.replace(LONG, columns=tuple(data.column_names), data=data, lines=None)
    with pytest.raises(DataError, match=r"more than 0\.25 GiB"):
        loaded(table, None, DataSpec(item="item", rater="rater", label="label"))
    assert guessed(LONG).spec.layout == "long"  # the next one is handled


def test_matrices_are_held_against_the_limit_of_the_asker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "200")
    rows = pa.array(["x"] * 3_000)
    names = ["item", *(f"r{n}" for n in range(6_000))]
    data = pa.table([pa.array(map(str, range(3_000))), *[rows.dictionary_encode()] * 6_000], names=names)
    table = dataclasses.replace(LONG, columns=tuple(names), data=data, lines=None)
    with pytest.raises(DataError, match="which would take about"):
        loaded(table, None, DataSpec(layout="items-by-raters", item="item"))
