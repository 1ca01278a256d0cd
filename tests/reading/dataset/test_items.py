"""Items as the files describe them: attributes from either file, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from grasp_core.model.data_spec import Bins, Filters, MapValues
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.dataset._items import LONGEST, MAX_SLICES
from grasp_core.reading.dataset.load import Dataset, load, signature
from grasp_core.reading.table.table import Table
from tests.reading.making import LONG, crossed, rows_table, text_table

BESIDE = replace(LONG, items_id="id")
ITEMS = ("p", "q", "r", "s")


def votes(*more: tuple[str, list[str]]) -> Table:
    """Two raters of each item; columns of `more` have a value per item."""
    return crossed(
        ",".join(["item,rater,label,side", *(name for name, _ in more)]),
        lambda n, m: (ITEMS[n], m + 1, "xy"[(n + m) % 2], "lr"[m], *(values[n] for _, values in more)),
        items=len(ITEMS),
        raters=2,
    )


def about(column: Sequence[str], ids: Sequence[str] = ITEMS, name: str = "topic") -> Table:
    return rows_table([["id", name], *zip(ids, column, strict=True)], "items.csv")


def values(data: Dataset, name: str) -> dict[str, str | None]:
    axis = data.attributes[name]
    assert len(axis.codes) == data.annotations.n_items
    return {
        item: None if code < 0 else axis.values[code]
        for item, code in zip(data.annotations.item_ids, axis.codes, strict=True)
    }


def refused(annotations: Table, items: Table | None, *names: str, spec=BESIDE) -> str:
    with pytest.raises(DataError) as caught:
        load(annotations, None, spec, [], items=items, slices=names)
    return str(caught.value)


def test_columns_of_either_file_describe_items() -> None:
    data = load(votes(("source", ["b", "b", "a", ""])), None, BESIDE, items=about(["t", "u", "t", "u"]))
    assert values(data, "topic") == {"p": "t", "q": "u", "r": "t", "s": "u"}
    assert values(data, "source") == {"p": "b", "q": "b", "r": "a", "s": None}
    assert set(data.attributes) == {"topic", "source"}  # neither ids, labels nor what varies within an item
    assert [file.name for file in data.summary.files] == ["votes.csv", "items.csv"]


def test_rows_of_the_items_file_may_stand_in_any_order_and_its_items_without_a_label_do_not_count() -> None:
    data = load(votes(), None, BESIDE, items=about(["z", "y", "z", "y"], ("s", "r", "q", "p")))
    assert values(data, "topic") == {"p": "y", "q": "z", "r": "y", "s": "z"}
    spec = replace(BESIDE, filters=replace(BESIDE.filters, items=("q",)))
    data = load(votes(), None, spec, ["side"], items=about(["t", "x", "u", "t"]), slices=["topic"])
    assert values(data, "topic") == {"p": "t", "r": "u", "s": "t"}
    assert data.attributes["topic"].values == ("t", "u")


def test_only_what_is_named_is_taken_where_axes_are() -> None:
    files = votes(("source", ["b", "b", "a", "a"])), None, BESIDE, ["side"]
    items = about(["t", "u", "t", "u"])
    assert not load(*files, items=items).attributes
    assert set(load(*files, items=items, slices=["topic"]).attributes) == {"topic"}


def test_rows_and_items_that_are_left_out_describe_no_item() -> None:
    rows = [["item", "rater", "label", "skip", "source"], ["p", "3", "x", "yes", "b"]]
    rows += [[item, rater, "xy"[n % 2], "no", "ab"[n % 2]] for n, item in enumerate(ITEMS) for rater in "12"]
    table = rows_table(rows)
    assert "item 'p' has 'b' and 'a'" in refused(table, None, "source", spec=LONG)
    spec = replace(LONG, filters=Filters(drop=(("skip", "yes"),)))
    found = load(table, None, spec, [], slices=["source"])
    assert values(found, "source") == {"p": "a", "q": "b", "r": "a", "s": "b"}
    assert "source" in load(table, None, spec).attributes
    assert "source" not in load(table, None, LONG).attributes
    left_out = replace(LONG, filters=Filters(items=("p",)))
    assert load(table, None, left_out, [], slices=["source"]).attributes["source"].values == ("a", "b")


def test_the_items_file_decides_and_a_difference_is_told() -> None:
    own = votes(("topic", ["t", "u", "t", "u"]))
    data = load(own, None, BESIDE, ["side"], items=about(["t", "u", "u", ""]), slices=["topic"])
    assert values(data, "topic") == {"p": "t", "q": "u", "r": "u", "s": "u"}
    (note,) = [problem for problem in data.problems if "disagree" in problem.message]
    assert note.message == "items.csv and votes.csv disagree on 'topic' for 1 item; items.csv decides"
    assert note.examples == ("r",)


def test_matrices_take_attributes_from_the_items_file_and_from_columns_left_aside() -> None:
    table = text_table("item A B topic/p x y t/q x y u/r x y t/s x y u")
    by_item = replace(LONG, layout="items-by-raters", rater=None, label=None, ignore=("topic",))
    assert values(load(table, None, by_item), "topic") == dict(zip(ITEMS, "tutu", strict=True))
    kinds, told = about("aabb", name="kind"), dict(zip(ITEMS, "aabb", strict=True))
    assert values(load(table, None, replace(by_item, items_id="id"), items=kinds), "kind") == told
    turned = text_table("rater p q r s/A x x y y/B x y x y")
    by_rater = replace(BESIDE, layout="raters-by-items", item=None, label=None)
    assert values(load(turned, None, by_rater, items=kinds), "kind") == told


def test_attributes_are_recoded_in_both_files() -> None:
    steps = (MapValues("topic", (("", "none"),)), Bins("length", (10.0,), ("short", "long")))
    rows = [["id", "topic", "length"], *zip(ITEMS, ["t", "", "t", "t"], ["9", "12", "100", "3"], strict=True)]
    spec = replace(BESIDE, recode=steps)
    data = load(votes(), None, spec, [], items=rows_table(rows, "items.csv"), slices=["topic", "length"])
    assert values(data, "topic")["q"] == "none"  # declared, so it is a slice of its own
    assert data.attributes["length"].values == ("short", "long")  # ranges in their order
    assert values(data, "length") == {"p": "short", "q": "long", "r": "long", "s": "short"}


def test_ids_that_do_not_match() -> None:
    for ids, said in (
        ("wxyz", "use the same item ids in both files, or name another column of ids"),
        ("PQRS", "all would match but for upper and lower case, as 'p' there and 'P' here"),
    ):
        message = refused(votes(), about("tttt", ids))
        assert message.startswith(
            "none of the items of votes.csv ('p', 'q', 'r' and 1 more) is in column 'id'"
        )
        assert said in message


def test_ids_some_of_which_match() -> None:
    items = about(["t", "u", "t"], ("p", "q", "R "))
    data = load(votes(), None, BESIDE, [], items=items, slices=["topic"])
    assert values(data, "topic") == {"p": "t", "q": "u", "r": None, "s": None}
    notes = {problem.message: problem.examples for problem in data.problems}
    said = "2 items with annotations are not in column 'id' of items.csv, so what only that file says of them"
    assert notes[f"{said} is unknown"] == ("r", "s")
    assert notes["1 item in items.csv has no annotations and does not count"] == ("R ",)
    assert any("1 id would match an item but for spaces, case" in message for message in notes)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (about("tutu", "pqpq"), "rows 2 and 4, column 'id': item 'p' is there more"),
        (about("tutu", "pqr "), "row 5, column 'id': the item id is blank"),
        (about("tu", "pq"), "has a column 'kind'"),
        (about(["t", "t", "t", ""]), "'topic' has only 't' among the items that count"),
        (about([""] * 4), "'topic' has no value among the items that count"),
        (about(["t", "u", "t", "x" * (LONGEST + 1)]), f"row 5, column 'topic': a text of {LONGEST + 1}"),
        (about(["t" * 1_000_000, "u", "t", "v"]), "a text of 1,000,000 characters names no slice"),
    ],
)
def test_what_is_wrong_with_an_items_file(items: Table, said: str) -> None:
    assert said in refused(votes(), items, "kind" if "kind" in said else "topic")


def test_a_catalogue_counts_for_the_items_that_were_rated() -> None:
    further = [f"topic {'of great length ' * 20}{n}" for n in range(200)]
    items = about([*"tutu", *further], (*ITEMS, *(f"further {n}" for n in range(200))))
    data = load(votes(), None, BESIDE, items=items, slices=["topic"])
    assert values(data, "topic") == {"p": "t", "q": "u", "r": "t", "s": "u"}
    assert set(load(votes(), None, BESIDE, items=items).attributes) == {"topic"}


def test_too_many_values() -> None:
    rated = crossed("item,rater,label", lambda n, m: (f"i{n}", m, "x"), items=10_000, raters=2)
    ids = [f"i{n}" for n in range(10_000)]
    items = about([f"topic {item}" for item in ids], ids)
    with pytest.raises(DataError, match=f"10,000 different values were found, at most {MAX_SLICES}"):
        load(rated, None, BESIDE, [], items=items, slices=["topic"])
    assert not load(rated, None, BESIDE, items=items).attributes


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("label", "column 'label' holds labels, of which no slices are made"),
        ("item", "column 'item' holds ids, of which no slices are made"),
        ("words", "column 'words' holds the items' texts, of which no slices are made"),
        ("side", "rows 2 and 3, column 'side': item 'p' has 'l' and 'r' (and 3 more items likewise)"),
    ],
)
def test_columns_that_make_no_slices(name: str, said: str) -> None:
    own = votes(("words", ["a", "b", "c", "d"]))
    assert said in refused(own, None, name, spec=replace(LONG, text="words"))


def test_files_and_readings_that_do_not_go_together() -> None:
    topics = about("tutu")
    assert "no items file was given" in refused(votes(), None)
    with pytest.raises(SpecError, match="an items file needs `items_id`"):
        load(votes(), None, LONG, items=topics)
    with pytest.raises(SpecError, match="`items_member` is of an items file"):
        replace(LONG, items_member="Sheet1")
    unnamed = replace(BESIDE, layout="items-by-raters", item=None, rater=None, label=None)
    with pytest.raises(DataError, match=r"no column of votes.csv holds item ids, so items.csv cannot"):
        load(text_table("A B/x y/x x"), None, unnamed, items=topics)
    with pytest.raises(DataError, match=r"items.csv has no column 'idd'; did you mean"):
        load(votes(), None, replace(BESIDE, items_id="idd"), items=topics)


def test_files_of_the_same_columns_are_told_apart_by_what_they_are() -> None:
    one, other = votes(), about("tutu")
    assert len({signature(one, None), signature(one, other), signature(one, None, other)}) == 3
