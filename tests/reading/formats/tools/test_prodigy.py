"""Prodigy's exports.

The samples are written by hand after https://prodi.gy/docs/api-interfaces (tasks, `answer`, `options` and
`accept`, `field_id`), https://prodi.gy/docs/install#multi-user-sessions (`_session_id`) and
https://prodi.gy/docs/review (`_annotator_id`, hashes).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from grasp_core.reading.formats.tools import prodigy
from grasp_core.reading.sandbox.read import read_table
from tests.reading.exports import cells, lines, loaded, mangled, recipe_of, refused, survives

PEOPLE = ("news-ann", "news-ben", "news-cem", "news-dua")
OPTIONS = [{"id": "POS", "text": "Positive"}, {"id": "NEG", "text": "Negative"}, {"id": 0, "text": "Neutral"}]


def task(number: int, rater: str | None, answer: str = "accept", **other: Any) -> dict[str, Any]:
    about = {"text": f"Text number {number}", "meta": {"source": "forum", "row": number}}
    hashes = {"_input_hash": -1000 - number, "_task_hash": 2000 + number}
    signed = {"_timestamp": 1690289516, "_annotator_id": rater, "_session_id": rater}
    return {**about, **hashes, **other, "answer": answer, **signed}


def binary(number: int, rater: str, answer: str, label: str = "TOXIC") -> dict[str, Any]:
    hashed = {"_task_hash": 2000 + number + 100 * (label != "TOXIC")}
    return task(number, rater, answer, label=label, _view_id="classification", **hashed)


def choice(
    number: int, rater: str, accept: Any, answer: str = "accept", style: str = "single"
) -> dict[str, Any]:
    config = {"choice_style": style}
    return task(number, rater, answer, options=OPTIONS, accept=accept, config=config, _view_id="choice")


ANSWERS = {"a": "accept", "r": "reject", "i": "ignore"}
BINARY = [
    binary(number, rater, ANSWERS[answer])
    for number, answers in enumerate(("aarr", "arra", "aaai"), start=1)
    for rater, answer in zip(PEOPLE, answers, strict=True)
]


CHOICE = [
    *(choice(1, PEOPLE[0], ["POS"]), choice(1, PEOPLE[1], ["POS"])),
    *(choice(1, PEOPLE[2], ["NEG"]), choice(1, PEOPLE[3], [0])),
    *(choice(2, PEOPLE[0], ["NEG"]), choice(2, PEOPLE[1], ["POS"], "reject")),
    *(choice(2, PEOPLE[2], ["NEG"]), choice(2, PEOPLE[3], [])),
]


def test_binary_tasks() -> None:
    table = read_table(lines(BINARY), "news.jsonl")
    assert table.kind == "Prodigy, JSON"
    assert ",".join(table.columns) == "item,rater,answer,text,label,meta.source,meta.row,timestamp"
    assert cells(table, "item", "rater", "answer")[8:] == [
        *(("2003", "news-ann", "accept"), ("2003", "news-ben", "accept")),
        *(("2003", "news-cem", "accept"), ("2003", "news-dua", "")),
    ]
    assert [table.row(position) for position in (0, 11)] == [1, 12]
    assert recipe_of(table).sentences[0] == "1 ignored task counts as missing"
    assert "each input with its label is one item" in recipe_of(table).sentences[1]
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 4, 11)
    assert (data.summary.categories, data.summary.label_counts) == (("accept", "reject"), (7, 4))


def test_one_input_under_two_labels_is_two_items() -> None:
    both = read_table(lines([binary(1, "ds-ann", "accept"), binary(1, "ds-ann", "reject", "SPAM")]))
    told = [("2001", "TOXIC", "accept"), ("2101", "SPAM", "reject")]
    assert cells(both, "item", "label", "answer") == told


def test_choice_tasks() -> None:
    table = read_table(lines(CHOICE), "news.jsonl")
    assert cells(table, "item", "rater", "accept") == [
        *(("-1001", "news-ann", "POS"), ("-1001", "news-ben", "POS")),
        *(("-1001", "news-cem", "NEG"), ("-1001", "news-dua", "0")),
        *(("-1002", "news-ann", "NEG"), ("-1002", "news-ben", "")),
        *(("-1002", "news-cem", "NEG"), ("-1002", "news-dua", "")),
    ]
    assert recipe_of(table).sentences == ("1 rejected task counts as missing",)
    assert loaded(table).summary.annotations == 6


def test_several_options() -> None:
    given = ((["POS", 0], "accept"), ([0, "POS"], "accept"), ([], "accept"), ([], "ignore"))
    records = [choice(1, who, *one, style="multiple") for who, one in zip(PEOPLE, given, strict=True)]
    table = read_table(lines(records), "news.jsonl")
    assert [text for (text,) in cells(table, "accept")] == ["0 + POS", "0 + POS", "(none)", ""]
    assert recipe_of(table).sentences == (
        "1 ignored task counts as missing",
        "'(none)' stands for no option where several may be chosen",
        "several choices in one annotation were sorted and joined by ' + '",
    )


@pytest.mark.parametrize("declared", [True, False])
def test_ratings_that_are_filled_in(declared: bool) -> None:
    field = {"field_id": "rating"} if declared else {}
    given_ratings = ((1, "ds-ann", "5"), (1, "ds-ben", "2"), (2, "ds-ann", "5"))
    records = [task(number, rater, rating=value, **field) for number, rater, value in given_ratings]
    table = read_table(lines([*records, task(2, "ds-ben", "ignore", rating="2", **field)]))
    expected = [(str(-1000 - number), rater, value) for number, rater, value in given_ratings]
    assert cells(table, "item", "rater", "rating") == [*expected, ("-1002", "ds-ben", "")]
    assert loaded(table).summary.annotations == 3


def test_who_is_not_known_is_left_out() -> None:
    table = read_table(lines([*BINARY, task(9, None), {**task(9, None), "_session_id": "news-eve"}]))
    assert "1 annotation of an unknown annotator was left out" in recipe_of(table).sentences
    assert (len(table), table.cell("rater", 12)) == (13, "news-eve")


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def test_sessions_without_names_and_tasks_without_options_are_told() -> None:
    more = [choice(3, "2023-07-25_14-50-21", ["POS"]), task(4, PEOPLE[0])]
    table = read_table(lines([*CHOICE, *more]), "news.jsonl")
    assert len(table) == len(CHOICE) + 1
    assert "1 annotation of an unknown annotator was left out" in recipe_of(table).sentences
    assert "1 task without options counts as missing" in recipe_of(table).sentences


NO_SESSIONS = [task(1, "2023-07-25_14-50-21"), task(2, "news-2023-07-25_14-50-21")]
SPANS = [task(1, PEOPLE[0], spans=[{"start": 0, "end": 4, "label": "A"}], _view_id="ner_manual")]
NO_HASH = without(BINARY[1], "_input_hash", "_task_hash")


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        ([BINARY[0], without(BINARY[1], "answer")], "2: 'answer' should be accept, reject or ignore"),
        ([BINARY[0], {**BINARY[1], "answer": "yes"}], "'answer' should be accept, reject or ignore, found"),
        ([BINARY[0], NO_HASH], "2: '_input_hash' should be the number that Prodigy gives each input"),
        ([CHOICE[0], {**CHOICE[1], "accept": "POS"}], "2: 'accept' should be a list"),
        ([CHOICE[0], {**CHOICE[1], "accept": [["POS"]]}], "2: an option of 'accept' should be a text"),
        (NO_SESSIONS, "no record says who answered it; annotate in named sessions"),
        ([task(1, None), task(2, None)], "no record says who answered it; annotate in named sessions"),
        ([{**BINARY[0], "versions": [{"sessions": ["news-ann"]}]}], "`prodigy review` decided"),
        (SPANS, "spans or regions that were marked"),
    ],
)
def test_damage_is_one_sentence(records: list[Any], sentence: str) -> None:
    refused(records, sentence)


def test_other_records_are_not_its_own() -> None:
    for record in ({"answer": "accept"}, {"answer": "yes", "_input_hash": "1"}, {"accept": ["a"]}):
        assert prodigy.read([record], "other.json") is None, record


@given(mangled(BINARY[:4]) | mangled(CHOICE[:4]))
def test_mangled_answers(records: list[dict[str, Any]]) -> None:
    survives(prodigy.read, records, "news.jsonl")
