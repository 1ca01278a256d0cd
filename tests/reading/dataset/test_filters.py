from __future__ import annotations

from dataclasses import replace

import pytest

from grasp_core.model.data_spec import DataSpec, Filters, MapValues
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.filters import GroupShare
from grasp_core.reading.dataset.load import Dataset, load
from tests.reading.making import LONG, rows_table

ROWS = [
    ["item", "rater", "label", "gender", "ms", "status", "gold"],
    ["a", "r1", "Yes", "w", "900", "ok", "Yes"],
    ["a", "r2", "No", "m", "100", "ok", "Yes"],
    ["a", "r3", "Yes", "m", "950", "ok", "Yes"],
    ["b", "r1", "No", "w", "800", "ok", "No"],
    ["b", "r2", "Yes", "m", "", "bad", "No"],
    ["b", "r3", "No", "m", "5000", "ok", "No"],
    ["c", "r1", "No", "w", "700", "ok", ""],
    ["c", "r2", "", "m", "700", "ok", ""],
]


def filtered(spec: DataSpec = LONG, **filters: object) -> Dataset:
    return load(rows_table(ROWS), None, replace(spec, filters=Filters(**filters)), ["gender"])


def left(data: Dataset) -> list[tuple[str, str]]:
    annotations = data.annotations
    return [
        (annotations.item_ids[item], annotations.rater_ids[rater])
        for item, rater in zip(annotations.item, annotations.rater, strict=True)
    ]


ALL = [("a", "r1"), ("a", "r2"), ("a", "r3"), ("b", "r1"), ("b", "r2"), ("b", "r3"), ("c", "r1")]


@pytest.mark.parametrize(
    ("filters", "gone"),
    [
        ({}, []),
        ({"drop": (("status", "bad"),)}, [("b", "r2")]),
        ({"raters": ("r1",)}, [("a", "r1"), ("b", "r1"), ("c", "r1")]),
        ({"items": ("a", "c")}, [("a", "r1"), ("a", "r2"), ("a", "r3"), ("c", "r1")]),
        ({"time": "ms", "min_time": 800}, [("a", "r2"), ("b", "r2"), ("c", "r1")]),
        ({"time": "ms", "max_time": 950}, [("b", "r2"), ("b", "r3")]),
        ({"gold": "gold", "min_gold": 0.5}, [("a", "r2"), ("b", "r2")]),
        ({"gold": "gold", "min_gold": 0.0}, []),
        ({"min_per_rater": 3}, [("a", "r2"), ("a", "r3"), ("b", "r2"), ("b", "r3")]),
        ({"min_per_item": 2}, [("c", "r1")]),
        # r3 goes first, with one annotation in time; item b then has one left and goes, too.
        (
            {"time": "ms", "max_time": 999, "min_per_rater": 2, "min_per_item": 1},
            [("a", "r2"), ("a", "r3"), ("b", "r2"), ("b", "r3")],
        ),
    ],
)
def test_what_is_left(filters, gone):
    assert left(filtered(**filters)) == [pair for pair in ALL if pair not in gone]


def test_the_account_by_group():
    data = filtered(raters=("r2",), min_per_item=2)
    first, second = data.removals
    assert (str(first.filter), first.annotations, first.raters, first.items) == (
        "raters on the exclusion list",
        2,
        1,
        0,
    )
    assert first.groups["gender"] == (
        GroupShare("w", annotations=3, removed_annotations=0, raters=1, removed_raters=0),
        GroupShare("m", annotations=4, removed_annotations=2, raters=2, removed_raters=1),
    )
    assert (second.annotations, second.raters, second.items) == (1, 0, 1)
    notes = [problem.message for problem in data.problems]
    assert "left out: 2 annotations, 1 rater (raters on the exclusion list)" in notes


def test_unknown_raters_have_a_group_of_their_own():
    rows = [[cell if cell != "w" else "" for cell in row] for row in ROWS]
    data = load(rows_table(rows), None, replace(LONG, filters=Filters(raters=("r1",))), ["gender"])
    assert [share.value for share in data.removals[0].groups["gender"]] == [None, "m"]


def test_exclusions_are_in_the_account():
    data = load(rows_table(ROWS), None, replace(LONG, exclude=(("gender", "w"),)))
    assert [str(removal.filter) for removal in data.removals] == ["raters with 'gender' = 'w'"]
    assert data.removals[0].raters == 1


def test_a_matrix_by_items_has_times_and_gold_in_columns_of_their_own():
    rows = [
        ["item", "r1", "r2", "gold"],
        ["a", "Yes", "No", "Yes"],
        ["b", "No", "Yes", "No"],
        ["c", "No", "No", ""],
    ]
    spec = DataSpec(layout="items-by-raters", item="item", filters=Filters(gold="gold", min_gold=0.8))
    data = load(rows_table(rows), None, spec)
    assert data.annotations.rater_ids == ("r1",)


def test_the_experts_labels_are_recoded_with_the_raters():
    steps = (MapValues(None, (("Yes", "bad"), ("No", "good"))),)
    recoded = replace(LONG, recode=steps)
    gold = {"gold": "gold", "min_gold": 0.5}
    assert left(filtered(recoded, **gold)) == left(filtered(**gold)) != ALL


def test_a_matrix_by_items_has_no_labels_in_a_column_that_annotations_are_dropped_by():
    rows = [["item", "r1", "r2", "split"], ["a", "Yes", "No", "test"], ["b", "No", "Yes", "train"]]
    spec = DataSpec(layout="items-by-raters", item="item", filters=Filters(drop=(("split", "train"),)))
    data = load(rows_table(rows), None, spec)
    assert left(data) == [("a", "r1"), ("a", "r2")]
    assert data.annotations.categories == ("No", "Yes")


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"drop": (("statsu", "bad"),)}, "no column 'statsu' to filter by; did you mean 'status'"),
        ({"time": "duration", "min_time": 1}, "no column 'duration'"),
        ({"gold": "expert", "min_gold": 1}, "no column 'expert'"),
        ({"gold": "status", "min_gold": 0.5}, "it holds 'ok', 'bad', none of which is a label"),
        ({"min_per_rater": 99}, "no annotation left"),
    ],
)
def test_filters_that_cannot_be_applied(filters, said):
    with pytest.raises(DataError, match=said):
        filtered(**filters)


def test_what_a_list_names_in_vain_is_counted():
    data = filtered(raters=("r9", "r8"), items=("z",), drop=(("status", "never"),))
    notes = " ".join(problem.message for problem in data.problems)
    assert "2 raters of the list to leave out are not in votes.csv" in notes
    assert "1 item of the list to leave out is not in votes.csv" in notes
    assert "no annotation has 'status' = 'never'" in notes
