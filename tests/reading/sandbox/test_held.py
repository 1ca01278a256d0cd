"""Tables that people have open are counted, person by person, as long as they are there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from grasp_core.model.errors import DataError
from grasp_core.model.turns import ask_as
from grasp_core.reading.sandbox.limits import count_held, held_by
from grasp_core.reading.sandbox.read import read_table

pytestmark = pytest.mark.in_earnest


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "200")
    ask_as("ann")
    yield "ann"
    ask_as(None)


def large() -> pa.Table:
    return pa.table({"a": np.zeros(15_000_000)})


def test_one_person_has_no_more_open_than_one_file_may_take(ann: str) -> None:
    first = large()
    count_held(first, "votes.csv")
    with pytest.raises(DataError, match=r"more\.csv"):
        count_held(large(), "more.csv")
    ask_as("bob")
    others = large()
    count_held(others, "votes.csv")
    ask_as(ann)
    del first
    assert held_by(ann) == 0
    again = large()
    count_held(again, "more.csv")
    assert held_by(ann) == again.nbytes


def test_what_is_read_counts_until_it_is_let_go(ann: str) -> None:
    table = read_table(b"item,rater,label\na,r,1\nb,r,2\n", "votes.csv")
    assert held_by(ann) == table.data.nbytes > 0
    del table
    assert held_by(ann) == 0


def test_where_nobody_shares_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "200")
    both = large(), large()
    for table in both:
        count_held(table, "votes.csv")
