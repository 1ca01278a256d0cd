"""Ids that begin anew are asked about; those that mean the same everywhere are not."""

from __future__ import annotations

from random import Random

import pytest

from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table

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
