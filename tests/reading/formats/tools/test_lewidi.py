"""LeWiDi and perspectivist JSON.

Samples written by hand after the readme of LeWiDi_3-2025 in https://github.com/Le-Wi-Di/le-wi-di.github.io,
and the 2nd edition's description, https://aclanthology.org/2023.semeval-1.314/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.formats.tools import lewidi
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading.exports import cells, loaded, mangled, recipe_of, recognised_run, survives, table_of

RATERS = ("Ann1", "Ann2", "Ann3", "Ann4")
THIRD: dict[str, Any] = {
    "0": {
        "annotation task": "irony detection",
        "text": {"post": "It rains.", "reply": "Lovely."},
        "number of annotators": 4,
        "annotators": "Ann1,Ann2,Ann3,Ann4",
        "number of annotations": 4,
        "annotations": {"Ann1": "1", " Ann2": "1", "Ann3": "0", "Ann4": "0"},
        "soft_label": {"0.0": 0.5, "1.0": 0.5},
        "split": "train",
        "lang": "en",
        "other_info": {"source": "reddit"},
    },
    "7": {
        "annotation task": "irony detection",
        "text": {"post": "Monday.", "reply": "Great."},
        "number of annotators": 3,
        "annotators": "Ann1,Ann2,Ann4",
        "number of annotations": 3,
        "annotations": {"Ann1": "0", "Ann2": "1", "Ann4": "1"},
        "soft_label": {"0.0": 0.33, "1.0": 0.67},
        "split": "train",
        "lang": "en",
        "other_info": {"source": "reddit"},
    },
}
SECOND: dict[str, Any] = {
    "1": {
        "text": "a tweet",
        "annotation task": "hate speech detection",
        "number of annotations": 4,
        "annotations": "0,0,1,1",
        "annotators": "Ann1,Ann2,Ann3,Ann4",
        "disagreement": "1",
        "hard_label": "0",
        "soft_label": {"0": 0.5, "1": 0.5},
        "lang": "en",
        "split": "train",
        "other_info": {"other annotations": {"offensive language detection": "0,1,1,1", "too short": "0,1"}},
    },
    "2": {
        "text": "another",
        "annotation task": "hate speech detection",
        "number of annotations": 4,
        "annotations": "1,0,1,0",
        "annotators": "Ann1,Ann2,Ann3,Ann4",
        "other_info": {},
    },
}
META = {
    "Ann1": {"Gender": "Female", "Age": "26", "Nationality": "Kenya"},
    "Ann2": {"Gender": "Female", "Age": "30", "Nationality": "Kenya"},
    "Ann3": {"Gender": "Male", "Age": "DATA_EXPIRED", "Nationality": "Peru"},
    "Ann4": {"Gender": "Male", "Age": "NaN", "Nationality": "Peru"},
}


def test_annotations_as_an_object() -> None:
    table = table_of(THIRD, "MP_train.json")
    assert table.kind == "LeWiDi, JSON"
    assert cells(table, "item", "rater", "label")[1] == ("0", "Ann2", "1")
    assert len(table) == 7
    assert [table.row(at) for at in range(7)] == [1, 1, 1, 1, 2, 2, 2]
    assert table.cell("text", 0) == "post: It rains.\nreply: Lovely."
    dataset = loaded(table)
    assert dataset.summary.label_counts == (3, 4)
    assert (dataset.summary.items, dataset.summary.raters) == (2, 4)


def test_annotations_as_text_and_further_questions() -> None:
    table = table_of(SECOND)
    assert cells(table, "rater", "label", "offensive language detection")[:4] == [
        *(("Ann1", "0", "0"), ("Ann2", "0", "1"), ("Ann3", "1", "1"), ("Ann4", "1", "1"))
    ]
    assert "too short" not in table.columns
    assert loaded(table).summary.annotations == 8


def test_annotators_become_a_raters_file(tmp_path: Path) -> None:
    raters = table_of(META, "MP_annotators_meta.json")
    assert raters.kind == "LeWiDi annotators, JSON"
    assert raters.columns == ("rater", "Gender", "Age", "Nationality")
    assert recipe_of(raters).axes == (("Gender",), ("Nationality",))
    annotations = table_of(THIRD)
    guess = recognise(annotations, raters)
    dataset = load(annotations, raters, guess.spec, ("Gender", "Age"))
    assert dataset.raters.axes["Age"].codes.tolist() == [0, 1, -1, -1]

    votes, people = (json.dumps(one).encode() for one in (THIRD, META))
    result = recognised_run(tmp_path, votes, "train.json", people, axis="Gender")
    sizes = {group["group"]["Gender"]: group["n_raters"] for group in result["groups"]}
    assert sizes == {"Female": 2, "Male": 2}


INFERENCE = {
    "138448": {
        "annotation task": "natural language inference",
        "text": {"context": "It rains.", "statement": "It is wet."},
        "number of annotators": 3,
        "annotators": "Ann1,Ann2,Ann2,Ann3",
        "number of annotations": 4,
        "annotations": {"Ann1": "entailment", " Ann2": "neutral,contradiction", "Ann3": "neutral"},
        "soft_label": {"neutral": {"0": 0.3, "1": 0.7}},
    }
}


def test_several_labels_of_an_annotator() -> None:
    """The annotators are listed as often as they chose a label."""
    assert cells(table_of(INFERENCE), "item", "rater", "label") == [
        ("138448", "Ann1", "entailment"),
        ("138448", "Ann2", "contradiction + neutral"),
        ("138448", "Ann3", "neutral"),
    ]


def test_numbers_of_annotators_are_those_of_the_annotations() -> None:
    """Two of the third edition's files: numbers for ids, and commas that nothing follows."""
    numbers = ",\n".join(
        f'"{key.removeprefix("Ann")}": {{"Gender": "{one["Gender"]}", "Age": "26,}}",\n}}'
        for key, one in META.items()
    )
    raters = read_table(f"{{\n{numbers},\n}}\n".encode(), "MP_annotators_meta.json")
    assert cells(raters, "rater", "key", "Age")[0] == ("Ann1", "1", "26,}")
    assert recipe_of(raters).axes == (("Gender",),)
    annotations = table_of(THIRD)
    dataset = load(annotations, raters, recognise(annotations, raters).spec, ("Gender",))
    assert dataset.raters.axes["Gender"].codes.tolist() == [0, 0, 1, 1]
    assert table_of({"1": {"Gender": "Man", "Age": 3, "Pets": 2}, "2": {"Gender": "Man"}}).recipe is None


def damaged(**fields: Any) -> dict[str, Any]:
    return {"1": SECOND["1"], "2": {**SECOND["2"], **fields}}


def test_counts_that_do_not_fit_name_the_record() -> None:
    with pytest.raises(DataError, match=r"x\.json, record 2: 3 annotations of 4 annotators were found"):
        table_of(damaged(annotations="1,0,1"), "x.json")
    with pytest.raises(DataError, match=r"x\.json, record 2: 'True' is neither"):
        table_of(damaged(annotations=True), "x.json")


def test_a_test_set_without_labels_is_refused() -> None:
    kept_back = {"1": {**THIRD["0"], "annotations": {"Ann1": "", "Ann2": ""}}}
    with pytest.raises(DataError, match="no label in its 1 record"):
        table_of(kept_back)


def test_other_json_is_left_alone() -> None:
    for records in ([{"annotations": [], "id": 1}], [{"item": "a", "rater": "b", "label": "c"}]):
        assert table_of(records).recipe is None
    assert table_of({"a1": {"x": 1, "y": 2}, "a2": {"x": 3, "y": 4}}).recipe is None


def records_of(whole: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, **value} for key, value in whole.items()]


@given(mangled([*records_of(THIRD), *records_of(SECOND)]))
def test_nothing_breaks_it(records: list[dict[str, Any]]) -> None:
    survives(lewidi.read, records, "x.json")


@given(mangled(records_of(META)))
def test_nothing_breaks_the_raters(records: list[dict[str, Any]]) -> None:
    found = lewidi.read(records, "x.json")
    assert found is None or found.data.num_rows == len(records)
