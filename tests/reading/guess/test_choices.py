"""Lists of the same choices are one label, in whatever order they stand."""

from __future__ import annotations

import pytest

from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from tests.reading.making import rows_table


def found(labels: tuple[str, ...], declared: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
    rows = [[f"i{n}", f"r{r}", labels[(n * r + n + r) % len(labels)]] for n in range(12) for r in range(7)]
    table = rows_table([["item", "rater", "label"], *rows])
    guess = recognise(table, declared=declared)
    assert not guess.uncertain
    data = load(table, None, guess.spec, ())
    return sorted(data.summary.categories), [r.sentence for r in guess.reasons if r.field == "recode"]


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        (("joy", "anger", "joy|anger", "anger|joy"), ["anger", "anger|joy", "joy"]),
        (("a; b", "b; a", "a", "b", "c;a;b", "a;b;c"), ["a", "a; b", "a;b;c", "b"]),
        (("1,3", "3,1", "1", "3", "1,2,3", "2"), ["1", "1,2,3", "1,3", "2", "3"]),
        (('["a", "b"]', '["b", "a"]', '["a"]'), ['["a", "b"]', '["a"]']),
        (("['a', 'b']", "['b', 'a']", "[]", "['b']"), ["['a', 'b']", "['b']", "[]"]),
    ],
)
def test_the_same_choices_in_another_order_are_one_label(labels, read) -> None:
    categories, why = found(labels)
    assert categories == read
    assert why[0].startswith("the same choices in another order are one label: ")


@pytest.mark.parametrize(
    "labels",
    [
        ("a|b|c", "b|a|c", "c|b|a"),  # ranks
        ("yes, always", "no, never", "maybe"),
        ("1,5", "5,1", "1", "5", "2"),
        ("a|b", "a", "b"),
    ],
)
def test_other_labels_stay_as_they_are(labels) -> None:
    assert found(labels) == (sorted(labels), [])


def test_labels_that_are_declared_stay() -> None:
    labels = ("joy", "anger", "joy|anger", "anger|joy")
    assert found(labels, labels) == (sorted(labels), [])
