"""Argilla's records.

The samples are written by hand after https://docs.argilla.io/en/v1.18.0/conceptual_guides/data_model.html
(1.x records), https://huggingface.co/datasets/vegeta/testargilla (1.x columns),
https://docs.argilla.io/latest/reference/argilla/records/records (2.x) and
https://huggingface.co/datasets/jfcalvo/export-testing-268 (2.x columns, statuses as class labels).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.formats.tools import argilla
from grasp_core.reading.sandbox.read import read_table
from tests.reading.exports import (
    cells,
    loaded,
    mangled,
    parquet,
    recipe_of,
    refused,
    spec_of,
    survives,
    table_of,
)

PEOPLE = ("u-ann", "u-ben", "u-cem", "u-dua")
ANSWERS = (("Yes", "Yes", "No", "No"), ("No", "Yes", "No", "Yes"), ("Yes", "No", "Yes", None))
"""What each person answered for records 1 to 3."""

Answers = tuple[str | None, ...]


ABOUT = {"chat": [{"role": "user", "content": "hi"}]}
SUBMITTED = {"status": "submitted"}
BY_MODEL = {"value": "No", "agent": "model"}


def fields(number: int) -> dict[str, Any]:
    return {"text": f"Text number {number}", **ABOUT}


def answered(answers: Answers) -> list[tuple[str, str]]:
    return [(user, answer) for user, answer in zip(PEOPLE, answers, strict=True) if answer]


def by_user(number: int, answers: Answers) -> dict[str, Any]:
    """1.x: what each user answered."""
    responses = [
        {"user_id": user, "values": {"toxic": {"value": answer}, "why": {"value": "so"}}, **SUBMITTED}
        for user, answer in answered(answers)
    ]
    ids = {"id": f"server-{number}", "external_id": f"r{number}"}
    about = {"fields": fields(number), "metadata": {"source": "forum"}}
    return {**ids, **about, "responses": responses, "suggestions": [{"question_name": "toxic", **BY_MODEL}]}


def by_question(number: int, answers: Answers) -> dict[str, Any]:
    """2.x, `to_json`: what each question was answered."""
    responses = [{"value": answer, "user_id": user} for user, answer in answered(answers)]
    ids = {"id": f"r{number}", "_server_id": f"server-{number}", "vectors": {}}
    about = {"fields": fields(number), "metadata": {"source": "forum"}, "suggestions": {"toxic": BY_MODEL}}
    return {**ids, **about, "responses": {"toxic": responses}}


def by_column(number: int, answers: Answers, *, submitted: str | int = "submitted") -> dict[str, Any]:
    """2.x, columns of a data set."""
    users, given_answers = zip(*answered(answers), strict=True) if any(answers) else ((), ())
    return {
        **{"id": f"r{number}", "status": "completed", "_server_id": f"server-{number}"},
        **{**fields(number), "source": "forum", "toxic.responses": list(given_answers)},
        **{"toxic.responses.users": list(users), "toxic.responses.status": [submitted] * len(users)},
        **{"toxic.suggestion": "No", "toxic.suggestion.agent": "model"},
    }


def by_class_label(number: int, answers: Answers) -> dict[str, Any]:
    """2.x, with statuses as numbers."""
    return by_column(number, answers, submitted=1)


def of_users(number: int, answers: Answers) -> dict[str, Any]:
    """1.x, columns of a data set."""
    toxic = [{"user_id": user, "value": answer, **SUBMITTED} for user, answer in answered(answers)]
    about = {"external_id": f"r{number}", "metadata": '{"source": "forum"}'}
    return {**fields(number), "toxic": toxic, "toxic-suggestion": "No", **about}


def of_lists(number: int, answers: Answers) -> dict[str, Any]:
    """1.x, a question's column as an object of lists."""
    record = of_users(number, answers)
    keys = ("user_id", "value", "status")
    return record | {"toxic": {key: [entry[key] for entry in record["toxic"]] for key in keys}}


Form = Callable[[int, Answers], dict[str, Any]]
FORMS: tuple[Form, ...] = (by_user, by_column, by_class_label, of_users, of_lists)


def sample(form: Form) -> list[dict[str, Any]]:
    return [form(number, answers) for number, answers in enumerate(ANSWERS, start=1)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_row_per_record_and_user(form: Form) -> None:
    table = table_of(sample(form))
    assert table.kind == "Argilla, JSON"
    assert table.columns[:3] == ("item", "rater", "toxic")
    assert not {name for name in table.columns if "suggestion" in name or "chat" in name}
    expected = [
        (f"r{n}", *given) for n, answers in enumerate(ANSWERS, start=1) for given in answered(answers)
    ]
    assert cells(table, "item", "rater", "toxic") == expected
    assert [table.row(position) for position in (0, 4, 10)] == [1, 2, 3]
    assert (spec_of(table).label, spec_of(table).text) == ("toxic", "text")
    assert recipe_of(table).sentences == ()
    data = loaded(table)
    assert dict(zip(data.summary.categories, data.summary.label_counts, strict=True)) == {"No": 5, "Yes": 6}


def test_what_is_not_submitted_is_left_out_and_said() -> None:
    records = sample(by_user)
    records[0]["responses"][0]["status"] = "draft"
    records[0]["responses"][1]["status"] = "discarded"
    records[1]["responses"][0]["user_id"] = None
    table = table_of(records)
    assert len(table) == 8
    assert recipe_of(table).sentences == (  # two questions each
        "4 responses that were not submitted were left out",
        "2 annotations of an unknown annotator were left out",
    )


@pytest.mark.parametrize(
    "form", [by_column, by_class_label, of_users, of_lists], ids=lambda form: form.__name__
)
def test_parquet_gives_what_json_gives(form: Form) -> None:
    """Columns hold lists of answers and of objects; a record without answers has none."""
    records = [*sample(form), form(4, (None,) * 4)]
    ours, theirs = table_of(records), read_table(parquet(records), "records.parquet")
    assert theirs.kind == "Argilla, Parquet"
    assert spec_of(theirs) == spec_of(ours)
    shown = [name for name in ours.columns if name in theirs.columns]
    assert shown[:3] == ["item", "rater", "toxic"]
    assert cells(theirs, *shown) == cells(ours, *shown)
    assert [theirs.row(position) for position in (0, 4, 10)] == [1, 2, 3]


def column(name: str, answers: list[Any], status: list[str]) -> dict[str, Any]:
    return {name: answers, f"{name}.users": list(PEOPLE), f"{name}.status": status}


def test_parquet_leaves_out_drafts_and_reads_every_kind_of_question() -> None:
    status = ["submitted", "draft", "discarded", "submitted"]
    kinds, spans = [["threat", "insult"], ["slur"], [], ["insult"]], [{"start": 0, "end": 3, "label": "X"}]
    record = {
        "id": "r1",
        **column("stars.responses", [1, 2, 3, 4], status),
        **column("kinds.responses", kinds, status),
        **column("marks.responses", [spans, [], [], []], ["submitted"] * 4),
    }
    table = read_table(parquet([record]), "records.parquet")
    assert cells(table, "item", "rater", "stars", "kinds") == [
        ("r1", "u-ann", "1", "insult + threat"),
        ("r1", "u-dua", "4", "insult"),
    ]
    assert "marks" not in table.columns
    assert recipe_of(table).sentences[:2] == (
        "4 responses that were not submitted were left out",
        "questions whose answers cannot be read were left out: 'marks'",
    )


def test_nested_records_without_statuses_are_refused() -> None:
    """2.x never writes them there: drafts would count as answers."""
    with pytest.raises(DataError, match=r"does not say which responses were.*to_list\(flatten=True\)"):
        table_of(sample(by_question))
    records = sample(by_question)
    for record in records:
        for response in record["responses"]["toxic"]:
            response["status"] = "submitted"
    records[0]["responses"]["toxic"][0]["status"] = None
    table = table_of(records)
    assert len(table) == 10
    assert recipe_of(table).sentences == ("1 response without a status was left out",)


def test_a_user_who_answers_a_question_twice_is_refused() -> None:
    twice = by_column(1, ("Yes", "No", None, None)) | {"toxic.responses.users": ["u-ann", "u-ann"]}
    refused([twice], "record 1: user 'u-ann' answers 'toxic' twice")


def test_rankings_of_2() -> None:
    """They are lists like choices, but of all options in an order."""
    record = by_column(1, ("Yes",) * 4)
    ranked = record | {"toxic.responses": [["b", "a"], ["a", "b"], [], ["a", "b"]]}
    assert cells(table_of([ranked]), "toxic") == [("b > a",), ("a > b",), ("",), ("a > b",)]
    chosen = record | {"toxic.responses": [["b", "a"], ["a", "b"], ["a"], []]}
    assert cells(table_of([chosen]), "toxic") == [("a + b",), ("a + b",), ("a",), ("",)]


def test_every_kind_of_answer() -> None:
    ranking = [{"value": "b", "rank": 1}, {"value": "a", "rank": 2}, {"value": "c", "rank": 2}]
    spans = [{"label": "X", "start": 0, "end": 4}]
    given_answers = {"stars": 4, "kinds": ["threat", "insult"], "order": ranking, "marks": spans}
    values = {name: {"value": value} for name, value in {**given_answers, "why": "so", "no": None}.items()}
    response = {"user_id": "u", "values": values, "status": "submitted"}
    table = table_of([{"fields": fields(1), "responses": [response]}])
    assert table.columns == ("item", "rater", "stars", "kinds", "order", "why", "no", "text")
    assert cells(table, *table.columns[:7]) == [("1", "u", "4", "insult + threat", "b > a = c", "so", "")]
    assert "questions whose answers cannot be read were left out: 'marks'" in recipe_of(table).sentences


def test_damage_is_one_sentence_that_names_the_record() -> None:
    def second(form: Form, record: dict[str, Any], said: str) -> None:
        refused([form(1, ANSWERS[0]), record], "record 2: ", said)

    def by_answer(value: Any) -> dict[str, Any]:
        order = [{"user_id": "u", "value": value, **SUBMITTED}]
        return {"fields": {}, "responses": {"order": order}}

    second(by_user, {"responses": []}, "'fields' should be an object, found nothing")
    second(by_user, {"fields": {}, "responses": "x"}, "'responses' should be a list, found 'x'")
    second(by_user, {"fields": {}, "responses": [{"values": {}}]}, "should be the user's id, found nothing")
    unsigned = {"fields": {}, "responses": {"a": [{"value": "No"}]}}
    second(by_question, unsigned, "with 'user_id' and 'value'")
    record = by_column(2, ANSWERS[1])
    second(by_column, record | {"toxic.responses.users": ["u"]}, "as many of each, found '1, 4, 4'")
    second(by_column, record | {"toxic.responses.users": None}, "the users of 'toxic' should be a list")
    answers = {"toxic.responses": [{}, "No", "No", "No"]}
    refused([record | answers], "its question 'toxic' cannot be read")
    refused([by_answer([{"value": "a", "rank": "first"}])], "its question 'order' cannot be read")
    marked = [{"start": 0, "end": 1, "label": "a"}]
    refused([by_answer(marked)], "cannot be read, as those that mark spans")
    refused([by_user(1, (None,) * 4)], "is an export without annotations (Argilla, JSON)")


def test_other_records_are_not_its_own() -> None:
    values = ({"fields": {"text": "a"}}, {"responses": ["a"]}, {"toxic.responses": ["Yes"]})
    for record in (*values, {"toxic": [{"value": "Yes"}]}):
        assert argilla.read([record], "other.json") is None, record


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_mangled_records(form: Form) -> None:
    @given(mangled(sample(form)[:2]))
    def check(records: list[dict[str, Any]]) -> None:
        survives(argilla.read, records, "records.json")

    check()
