"""Answers to several questions in one column are asked about where another column names the questions."""

from __future__ import annotations

import pytest

from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.guess.roles import question
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table

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
