"""Which of several files holds the labels, which the raters and which the items."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.guess.roles import file_roles, question, with_items
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table
from tests.shared_data import DICES350, SHARED, needs_shared_data

VOTES = "item,rater,label\n" + "".join(f"i{i},r{j},{'YN'[i * j % 2]}\n" for i in range(9) for j in range(6))
RATERS = "person,gender\n" + "".join(f"r{j},{'fm'[j % 2]}\n" for j in range(6))
ITEMS = "id,topic\n" + "".join(f"i{i},{'ab'[i % 2]}\n" for i in range(9))
MATRIX = "item,r0,r1,r2,r3\n" + "".join(f"i{i},Y,N,Y,{'YN'[i % 2]}\n" for i in range(9))


def roles(files: Mapping[str, str], *, as_given: bool = False) -> list[str | None]:
    return [*file_roles([read_table(text.encode(), name) for name, text in files.items()], as_given=as_given)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_files_are_told_by_their_content_in_any_order(order: tuple[int, ...]) -> None:
    files = (("x.csv", VOTES), ("y.csv", RATERS), ("z.csv", ITEMS))
    said = ("annotations", "raters", "items")
    assert roles(dict(files[place] for place in order)) == [said[place] for place in order]


def test_the_heads_of_a_matrix_are_ids_too() -> None:
    assert roles({"matrix.csv": MATRIX, "people.csv": RATERS}) == ["annotations", "raters"]
    assert roles({"items.csv": ITEMS, "matrix.csv": MATRIX}) == ["items", "annotations"]


def test_where_raters_and_items_have_the_same_ids_names_tell() -> None:
    votes = "item,rater,label\n" + "".join(f"{i},{j},{'YN'[i * j % 2]}\n" for i in range(9) for j in range(9))
    people = "id,gender\n" + "".join(f"{j},{'fm'[j % 2]}\n" for j in range(9))
    texts = "id,text\n" + "".join(f"{i},some words about {i}\n" for i in range(9))
    nothing = "id,x\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(9))
    assert roles({"votes.csv": votes, "people.csv": people}) == ["annotations", "raters"]
    assert roles({"votes.csv": votes, "texts.csv": texts}) == ["annotations", "items"]
    assert roles({"votes.csv": votes, "what.csv": nothing}) == ["annotations", None]
    assert roles({"votes.csv": votes, "what.csv": nothing.replace("id,", "rater,")}) == [
        "annotations",
        "raters",
    ]


def test_a_file_that_joins_to_nothing_has_no_role() -> None:
    other = RATERS.replace("r", "other")
    assert roles({"votes.csv": VOTES, "other.csv": other}, as_given=True) == ["annotations", None]


def test_a_file_of_the_same_columns_holds_more_labels() -> None:
    assert roles({"june.csv": VOTES, "july.csv": VOTES.replace("\ni", "\nj")}) == ["annotations"] * 2


def test_files_that_hold_no_labels_are_refused() -> None:
    with pytest.raises(DataError, match="has only 2 columns"):
        roles({"items.csv": ITEMS, "raters.csv": RATERS})


@needs_shared_data
def test_real_files_are_told() -> None:
    files = ("items.csv", "raters.csv", "ratings_wide.csv")
    tables = [read_table(DICES350 / name) for name in files]
    assert file_roles(tables) == ("items", "raters", "annotations")
    for folder in ("04", "13a", "17", "35"):
        tables = [
            read_table(SHARED / "data" / "reports" / folder / name) for name in ("raters.csv", "ann.csv")
        ]
        assert file_roles(tables) == ("raters", "annotations"), folder


# The items file's column of ids: recognised where that is likely, else asked.


ROWS = [["item", "rater", "label"], *([f"i{n}", r, "xy"[n % 2]] for n in range(6) for r in "123")]
VOTES_ITEM_IDS = rows_table(ROWS)


def beside(header: list[str], *columns: list[str]) -> tuple[Guess, Table]:
    items = rows_table([header, *map(list, zip(*columns, strict=True))], "items.csv")
    return with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, items), items


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
    guess = with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, items, "other")
    assert guess.spec.items_id == "other"
    assert not guess.uncertain
    with pytest.raises(DataError, match=r"items.csv has no column 'keys'; did you mean 'key'"):
        with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, items, "keys")
    assert with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, None).spec.items_id is None
