"""The items file's column of ids: recognised where that is likely, else asked."""

from __future__ import annotations

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.guess.roles import question, with_items
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table

ROWS = [["item", "rater", "label"], *([f"i{n}", r, "xy"[n % 2]] for n in range(6) for r in "123")]
VOTES = rows_table(ROWS)


def beside(header: list[str], *columns: list[str]) -> tuple[Guess, Table]:
    items = rows_table([header, *map(list, zip(*columns, strict=True))], "items.csv")
    return with_items(recognise(VOTES), VOTES, items), items


IDS = [f"i{n}" for n in range(6)]


def test_a_column_named_as_the_item_column_is() -> None:
    guess, _ = beside(["other", "item"], IDS, IDS)
    assert guess.spec.items_id == "item"
    assert not guess.uncertain


def test_the_one_column_that_holds_the_items_each_once() -> None:
    guess, _ = beside(["topic", "key", "near"], list("ababab"), [*IDS[:5], "new"], ["i1"] * 6)
    assert guess.spec.items_id == "key"
    (reason,) = [reason for reason in guess.reasons if reason.field == "items_id"]
    assert (reason.sentence, reason.confidence) == ("'key' holds 83% of the items", "likely")


@pytest.mark.parametrize(
    ("columns", "candidates"),
    [((IDS, IDS[::-1]), ("key", "other")), ((["i0", *"abcde"], list("uvwxyz")), ("key", "other"))],
)
def test_what_is_not_certain_is_asked(columns: tuple[list[str], ...], candidates: tuple[str, ...]) -> None:
    guess, _ = beside(["key", "other"], *columns)
    (reason,) = guess.uncertain
    assert (reason.field, reason.candidates) == ("items_id", candidates)
    assert "items file's column of item ids is not certain: 'key' or 'other'?" in question(reason)


def test_a_column_that_is_named_is_sure() -> None:
    _, items = beside(["key", "other"], IDS, IDS[::-1])
    guess = with_items(recognise(VOTES), VOTES, items, "other")
    assert guess.spec.items_id == "other"
    assert not guess.uncertain
    with pytest.raises(DataError, match=r"items.csv has no column 'keys'; did you mean 'key'"):
        with_items(recognise(VOTES), VOTES, items, "keys")
    assert with_items(recognise(VOTES), VOTES, None).spec.items_id is None
