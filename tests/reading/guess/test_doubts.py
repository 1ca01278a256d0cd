"""Doubts about ids, spans and questions are told or asked about; nothing is read in silence."""

from __future__ import annotations

import csv
import io
import json
from random import Random

import pytest

from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.guess.roles import question
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table

HEADER = ["HITId", "AssignmentId", "WorkerId", "Input.text", "Answer.spans"]


def batch(answer, header=HEADER, more=()) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    for n in range(30):
        writer.writerow([f"H{n // 3}", f"A{n}", f"W{n % 3}", f"a text {n // 3}", answer(n), *more])
    return file.getvalue().encode()


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (lambda n: json.dumps([{"start": n, "end": n + 2}]), "objects in JSON"),
        (lambda n: f"I have read this text {n} times and never understood what it is about", "free answers"),
    ],
)
def test_what_is_no_label_is_asked(answer, what) -> None:
    guess = recognise(read_table(batch(answer), "batch.csv"))
    assert [reason.field for reason in guess.uncertain] == ["label"]
    assert what in guess.uncertain[0].sentence


def test_answers_that_recur_are_labels() -> None:
    assert not recognise(read_table(batch(lambda n: "yn"[n % 2]), "batch.csv")).uncertain


def test_codes_for_no_answer_in_known_formats_too() -> None:
    guess = recognise(read_table(batch(lambda n: [1, 2, 3, 4, -99][n % 5]), "batch.csv"))
    assert (guess.spec.missing, guess.advised.missing) == (("",), ("", "-99"))


# Rows that mark spans are no labels of items, also where equal ones would count once.


def marked(columns: tuple[str, str], each: int = 2, step: int = 4) -> Table:
    """Spans of eight documents by four annotators, as many for each; all of a pair are of one kind."""
    rows = [
        [f"d{d}", f"a{a}", str(10 * k + a), str(10 * k + a + step), ("toxic", "insult")[(d * a + d) % 3 % 2]]
        for d in range(8)
        for a in range(1, 5)
        for k in range(each)
    ]
    return rows_table([["doc_id", "annotator", *columns, "label"], *rows])


@pytest.mark.parametrize(
    "columns", [("start", "end"), ("begin_char", "end_char"), ("startOffset", "endOffset")]
)
def test_spans_are_asked_about(columns: tuple[str, str]) -> None:
    why = (
        f"no column looks like labels: '{columns[0]}' and '{columns[1]}' mark spans, several of one rater "
        "in one item, on which no agreement is computed"
    )
    assert [(one.field, one.sentence) for one in recognise(marked(columns)).uncertain] == [("label", why)]
    assert not recognise(marked(columns), named=Named(label="label")).uncertain


@pytest.mark.parametrize(
    "table",
    [
        marked(("start", "end"), each=1),
        marked(("start", "end"), step=-1),
        marked(("start_time", "end_time")),
        marked(("left", "right")),
    ],
)
def test_other_numbers_are_none(table: Table) -> None:
    assert not recognise(table).uncertain


# Answers to several questions in one column are asked about where another column names the questions.


ASKED = ("clear", "fluent", "true")


def votes(column: str, of, item: str = "item") -> Table:
    """Nine items by six raters, each with the questions that `of` gives."""
    rows = [
        [f"i{n}", f"w{r}", one, str(1 + (n * r + at) % 5)]
        for n in range(9)
        for r in range(6)
        for at, one in enumerate(of(n, r))
    ]
    return rows_table([[item, "rater", column, "score"], *rows])


@pytest.mark.parametrize("column", ["variable", "quality_criterion", "metric_name", "score_type"])
@pytest.mark.parametrize("of", [lambda n, r: ASKED, lambda n, r: ASKED[r % 3 :][:1]])
def test_several_questions_are_asked_about(column: str, of) -> None:
    """Whether each rater answers all of them, or one."""
    (asked,) = recognise(votes(column, of)).uncertain
    assert (asked.field, asked.candidates) == ("label", ("score",))
    assert f"('{column}' names what each row answers ('clear', 'fluent', 'true'), so " in question(asked)


def test_items_without_a_name_are_found_within_one_question() -> None:
    """Criteria of albums, which no column calls items; the option that is told leaves one of them."""
    table = votes("criterion", lambda n, r: ASKED, item="album")
    (asked,) = recognise(table).uncertain
    assert (asked.field, asked.candidates) == ("label", ("score",))
    assert "--drop criterion=fluent --drop criterion=true" in asked.sentence
    assert recognise(table, named=Named(label="score")).spec.item == "album"


@pytest.mark.parametrize(
    ("column", "of"),
    [("dimension", lambda n, r: ASKED[n % 3 :][:1]), ("topic_type", lambda n, r: ASKED[r % 3 :][:1])],
)
def test_what_is_the_item_s_or_called_otherwise_is_no_question(column: str, of) -> None:
    assert not recognise(votes(column, of)).uncertain


def test_a_label_that_is_named_is_sure() -> None:
    assert not recognise(votes("dimension", lambda n, r: ASKED), named=Named(label="score")).uncertain


# Ids that begin anew are asked about; those that mean the same everywhere are not.


PLACES = ("north", "south")


def table(columns: dict, raters: int = 6, items: int = 10) -> Table:
    """A row for each item, rater and place; each column is made of place, item and rater."""
    rows = [
        [make(place, item, rater) for make in columns.values()]
        for place in range(len(PLACES))
        for item in range(items)
        for rater in range(raters)
        if (item + rater) % 2
    ]
    return rows_table([list(columns), *rows])


def asked(guess: Guess) -> list[tuple[str, str]]:
    return [(one.field, one.sentence) for one in guess.uncertain]


LABEL = {"label": lambda place, item, rater: Random(f"{place} {item} {rater}").choice("yn")}
ANEW = {
    "item": lambda place, item, rater: f"i{item}",
    "rater": lambda place, item, rater: f"{'ab'[place]}{rater}",
}


@pytest.mark.parametrize("name", ["dataset", "source_corpus"])
def test_the_same_items_in_several_sets_are_several(name: str) -> None:
    both = table(ANEW | {name: lambda place, item, rater: PLACES[place]} | LABEL)
    why = f"'item': the same ids are there in several '{name}'"
    assert asked(recognise(both)) == [("item", why)]
    assert asked(recognise(both, named=Named(item="item"))) == []


def test_raters_of_two_countries_share_their_items() -> None:
    assert asked(recognise(table(ANEW | {"country": lambda place, *_: PLACES[place]} | LABEL))) == []


def test_an_id_with_several_texts_is_several_items() -> None:
    words = {
        "content": lambda place, item, rater: f"what was said about number {item} in the {PLACES[place]}"
    }
    why = "'item': one id has several texts in 'content', each of them rated by several"
    assert asked(recognise(table(ANEW | words | LABEL, raters=8, items=16))) == [("item", why)]
    own = {"why": lambda place, item, rater: f"because rater {rater} of {PLACES[place]} thinks so of {item}"}
    assert asked(recognise(table(ANEW | own | LABEL, raters=8, items=16))) == []


PEOPLE = {
    "item": lambda place, item, rater: f"{'ab'[place]}{item}",
    "rater": lambda place, item, rater: f"annotator {rater}",
}


@pytest.mark.parametrize("place", ["batch", "country"])
def test_a_rater_of_two_genders_is_two_people(place: str) -> None:
    more = {
        place: lambda where, *_: PLACES[where],
        "gender": lambda where, item, rater: ("Woman", "Man")[(rater // 2 + where) % 2],
    }
    differs = f"'gender' differs with '{place}'"
    why = f"'rater': one id may be several people, as {differs}"
    assert asked(recognise(table(PEOPLE | more | LABEL))) == [("rater", why)]
    assert asked(recognise(table(PEOPLE | more | LABEL), named=Named(rater="rater"))) == []


def about(value) -> list[str]:
    """What is said of axes, where each row's age is made of its place, item and rater."""
    more = {"batch": lambda place, *_: PLACES[place], "age_group": value}
    guess = recognise(table(PEOPLE | more | LABEL))
    assert asked(guess) == []
    return [reason.sentence for reason in guess.reasons if reason.field == "axes"]


def test_a_rater_of_two_ages_by_mistake_is_said() -> None:
    mistaken = about(lambda place, item, rater: "65+" if (item, rater) == (2, 1) else f"{rater % 3}0s")
    assert "'age_group' is none: 1 rater of 6 has several values" in mistaken


@pytest.mark.parametrize(
    "value",
    [
        lambda place, item, rater: f"{rater % 3}0s",
        lambda place, item, rater: f"{rater % 3}0s" if item % 3 else "",
        lambda place, item, rater: f"{item % 3}0s",
        lambda place, item, rater: f"{(item + place) % 3}0s",
    ],
)
def test_nothing_is_said_of_raters_who_have_one_or_of_what_is_no_rater_s(value) -> None:
    assert not any("is none" in sentence for sentence in about(value))
