"""Records with an object per rater under the rater's id."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.formats.shapes import lists
from grasp_core.reading.sandbox.read import read_table
from tests.reading.formats.tools.exports import (
    cells,
    lines,
    loaded,
    mangled,
    spec_of,
    survives,
    table_of,
    textual,
)

GENDERS = {"P01": "Woman", "P02": "Man", "P03": "Woman"}
GIVEN = {"C1": {"P01": 3, "P02": 1}, "C2": {"P02": 3, "P03": 5}, "C3": {"P01": 1, "P03": 5}}
PAIRS = [(item, rater, str(label)) for item, labels in GIVEN.items() for rater, label in labels.items()]


def of_objects() -> dict[str, Any]:
    """As one object of items, with the raters' profiles beside their labels."""
    return {
        item: {
            "text": f"text {item}",
            "annotators": {
                rater: {"gender": GENDERS[rater], "label": label} for rater, label in labels.items()
            },
        }
        for item, labels in GIVEN.items()
    }


def of_values() -> list[dict[str, Any]]:
    return [{"id": item, "meta": {"ratings": labels}} for item, labels in GIVEN.items()]


def test_objects_by_rater_become_rows() -> None:
    table = table_of(of_objects())
    assert cells(table, "key", "annotators.rater", "annotators.label") == PAIRS
    assert spec_of(table).label == "annotators.label"
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 3, 6)
    assert data.summary.categories == ("1", "3", "5")
    assert [table.row(position) for position in (0, 2, 5)] == [1, 2, 3]


def test_values_by_rater_become_rows() -> None:
    table = table_of(of_values())
    assert cells(table, "id", "meta.ratings.rater", "meta.ratings.label") == PAIRS
    assert loaded(table).summary.annotations == 6
    several = [{"id": 1, "annotators": {"a": ["x", "y"], "b": ["y"]}}, {"id": 2, "annotators": {"a": ["x"]}}]
    assert cells(table_of(several), "annotators.label") == [("x + y",), ("y",), ("x",)]


def test_records_in_lines_and_without_annotations() -> None:
    records = [{"id": item, "votes": labels} for item, labels in GIVEN.items()]
    table = read_table(lines([*records, {"id": "C4", "votes": {}}, {"id": "C5", "votes": None}]), "a.jsonl")
    assert cells(table, "id", "votes.rater", "votes.label") == PAIRS


@pytest.mark.parametrize("field", ["annotations", "judgments", "responses", "worker_answers", "raters"])
@pytest.mark.parametrize("form", ["{}", "worker{}", "{}@example.org", "5f0c{}b"])
def test_names_of_fields_and_forms_of_ids(field: str, form: str) -> None:
    records = [
        {"uid": f"x{item}", field: {form.format(100 + rater): {"answer": "yes"} for rater in range(item, 5)}}
        for item in range(4)
    ]
    found = cells(table_of(records), "uid", f"{field}.rater", f"{field}.answer")
    assert found == [
        (f"x{item}", form.format(100 + rater), "yes") for item in range(4) for rater in range(item, 5)
    ]


@pytest.mark.parametrize(
    "records",
    [
        [{"id": 1, "labels": {"toxic": 1, "insult": 0}}, {"id": 2, "labels": {"insult": 1}}],
        [{"id": 1, "votes": {"1": 3, "2": 1}}, {"id": 2, "votes": {"2": 4}}],
        [{"id": 1, "ratings": {"toxic": {"value": 1}, "insult": {"value": 0}}}] * 2,
    ],
)
def test_what_may_be_raters_or_labels_is_refused(records: list[dict[str, Any]]) -> None:
    with pytest.raises(DataError, match=r"may be raters or something else.*call the field 'annotators'"):
        table_of(records)


def test_lists_of_raters_go_before_objects_that_may_be_anything() -> None:
    records = [
        {
            "id": item,
            "annotators": list(labels),
            "labels": list(labels.values()),
            "scores": {f"s{item}a": 1, "b": 2},
        }
        for item, labels in GIVEN.items()
    ]
    assert cells(table_of(records), "id", "annotators", "labels") == PAIRS


@pytest.mark.parametrize(
    "record",
    [
        {"id": 1, "soft_label": {"0": 0.2, "1": 0.8}},
        {"rater": "P01", "labels": {"C1": 2, "C2": 3}},
        {"gender": "Woman", "labels": {"C1": 2, "C2": 3}},
        {"id": 1, "answers": {"q1": 2, "q2": 3}},
        {"id": 1, "user": {"id": "P1", "url": "http"}},
        {"id": 1, "meta": {"n1": 2, "n2": 3}},
    ],
)
def test_other_objects_are_left_alone(record: dict[str, Any]) -> None:
    assert lists.read(textual([record, {**record, "id": 2}]), "a.json") is None


@pytest.mark.parametrize("field", ["by", "name", "id", "completed_by"])
def test_lists_of_annotations_that_a_field_signs(field: str) -> None:
    records = [
        {"id": item, "annotations": [{field: rater, "label": label} for rater, label in labels.items()]}
        for item, labels in GIVEN.items()
    ]
    table = table_of(records)
    assert cells(table, "id", f"annotations.{field}", "annotations.label") == PAIRS
    assert loaded(table).summary.annotations == 6


@pytest.mark.parametrize("field", ["labels", "answers"])
def test_lists_of_labels_or_questions_have_no_raters(field: str) -> None:
    records = [
        {"id": item, field: [{"name": name, "value": 1} for name in labels]} for item, labels in GIVEN.items()
    ]
    assert table_of(records).recipe is None


def test_an_id_of_each_annotation_is_no_rater() -> None:
    records = [
        {"id": item, "annotations": [{"id": 10 * item + at, "label": "x"} for at in range(2)]}
        for item in range(3)
    ]
    assert table_of(records).recipe is None


def test_an_object_of_lists_is_told_by_what_their_entries_lack() -> None:
    by_item = {
        item: [{"rater": rater, "label": label} for rater, label in labels.items()]
        for item, labels in GIVEN.items()
    }
    by_item["C4"] = [{"rater": "P01", "label": 2}]
    assert cells(table_of(by_item), "item", "rater", "label") == [*PAIRS, ("C4", "P01", "2")]
    by_rater: dict[str, list[dict[str, Any]]] = {"P09": []}
    for item, rater, label in [*PAIRS, ("C4", "P01", "2")]:
        by_rater.setdefault(rater, []).append({"item": item, "label": label})
    assert sorted(cells(table_of(by_rater), "item", "rater", "label")) == [*PAIRS, ("C4", "P01", "2")]
    whole = [{"item": item, "rater": rater, "label": label} for item, rater, label in PAIRS]
    splits = table_of({"train": whole[:4], "test": whole[4:]})
    assert cells(splits, "item", "rater", "label") == PAIRS
    assert splits.distinct("split") == ("train", "test")
    pictures = {"images": [{"id": 1, "file": "a"}], "annotations": [{"id": 1, "image": 1, "x": 2}] * 2}
    assert table_of(pictures).columns == ("images", "annotations")


@given(mangled([{"key": item, **record} for item, record in of_objects().items()]))
def test_nothing_breaks_it(records: list[dict[str, Any]]) -> None:
    survives(lists.read, records, "x.json")


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1),
        st.dictionaries(st.integers(0, 999).map("w{}".format), st.integers(1, 5), min_size=1),
        min_size=1,
    )
)
def test_every_label_gets_a_row(given_labels: dict[str, dict[str, int]]) -> None:
    records = [{"uid": item, "annotators": labels} for item, labels in given_labels.items()]
    raters = {rater for labels in given_labels.values() for rater in labels}
    if len(raters) < 2:
        return
    expected = [
        (item, rater, str(label)) for item, labels in given_labels.items() for rater, label in labels.items()
    ]
    assert cells(table_of(records), "uid", "annotators.rater", "annotators.label") == expected
