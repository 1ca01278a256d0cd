"""LeWiDi and perspectivist JSON.

Samples written by hand after the readme of LeWiDi_3-2025 in https://github.com/Le-Wi-Di/le-wi-di.github.io,
and the 2nd edition's description, https://aclanthology.org/2023.semeval-1.314/.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.formats.tools import lewidi
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading.exports import cells, loaded, mangled, recipe_of, survives, table_of

RATERS = ("Ann1", "Ann2", "Ann3", "Ann4")
SPLIT = {"split": "train", "lang": "en", "other_info": {"source": "reddit"}}


def third(post: str, reply: str, **annotations: str) -> dict[str, Any]:
    """A record of the third edition; one of its ids has a blank before it."""
    raters = {"annotators": ",".join(annotations), "number of annotators": len(annotations)}
    given_labels = {key if key != "Ann2" else " Ann2": label for key, label in annotations.items()}
    about = {"annotation task": "irony detection", "text": {"post": post, "reply": reply}, **SPLIT}
    soft = {"soft_label": {"0.0": 0.5, "1.0": 0.5}}
    return {**about, **raters, "number of annotations": len(annotations), "annotations": given_labels, **soft}


def second(text: str, annotations: str, **other_info: Any) -> dict[str, Any]:
    """A record of the second edition, annotated by four."""
    about = {"text": text, "annotation task": "hate speech detection", "disagreement": "1", "hard_label": "0"}
    raters = {"number of annotations": 4, "annotators": ",".join(RATERS), "soft_label": {"0": 0.5, "1": 0.5}}
    return {**about, **raters, "annotations": annotations, **SPLIT, "other_info": other_info}


THIRD = {
    "0": third("It rains.", "Lovely.", Ann1="1", Ann2="1", Ann3="0", Ann4="0"),
    "7": third("Monday.", "Great.", Ann1="0", Ann2="1", Ann4="1"),
}
FURTHER = {"other annotations": {"offensive language detection": "0,1,1,1", "too short": "0,1"}}
SECOND = {"1": second("a tweet", "0,0,1,1", **FURTHER), "2": second("another", "1,0,1,0")}
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


def test_annotators_become_a_raters_file() -> None:
    raters = table_of(META, "MP_annotators_meta.json")
    assert raters.kind == "LeWiDi annotators, JSON"
    assert raters.columns == ("rater", "Gender", "Age", "Nationality")
    assert recipe_of(raters).axes == (("Gender",), ("Nationality",))
    annotations = table_of(THIRD)
    dataset = load(annotations, raters, recognise(annotations, raters).spec, ("Gender", "Age"))
    assert dataset.raters.axes["Age"].codes.tolist() == [0, 1, -1, -1]
    assert dataset.raters.axes["Gender"].codes.tolist() == [0, 0, 1, 1]


def test_several_labels_of_an_annotator() -> None:
    """The annotators are listed as often as they chose a label."""
    several = third(
        "It rains.", "It is wet.", Ann1="entailment", Ann2="neutral,contradiction", Ann3="neutral"
    )
    told = {"annotators": "Ann1,Ann2,Ann2,Ann3", "number of annotations": 4}
    soft = {"soft_label": {"neutral": {"0": 0.3, "1": 0.7}}}
    assert cells(table_of({"138448": several | told | soft}), "item", "rater", "label") == [
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


def test_counts_that_do_not_fit_name_the_record() -> None:
    wrong: dict[object, str] = {
        "1,0,1": "3 annotations of 4 annotators were found",
        True: "'True' is neither",
    }
    for found, said in wrong.items():
        with pytest.raises(DataError, match=rf"x\.json, record 2: {said}"):
            table_of({"1": SECOND["1"], "2": {**SECOND["2"], "annotations": found}}, "x.json")


def test_a_test_set_without_labels_is_refused() -> None:
    with pytest.raises(DataError, match="no label in its 1 record"):
        table_of({"1": third("It rains.", "Lovely.", Ann1="", Ann2="")})


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
