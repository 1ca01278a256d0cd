"""Numbers written in two ways: one label, and a question about ids."""

from __future__ import annotations

import pytest

from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table


def votes(labels: tuple[str, ...], item: str = "i{}", rater: str = "r{}") -> Table:
    """Nine items by four raters."""
    rows = [
        [item.format(n), rater.format(r), labels[(n * r + n) % len(labels)]]
        for n in range(9)
        for r in range(1, 5)
    ]
    return rows_table([["item", "rater", "label"], *rows])


def found(table: Table, declared: tuple[str, ...] = ()) -> tuple[tuple[str, ...], list[str]]:
    guess = recognise(table, declared=declared)
    assert not guess.uncertain
    data = load(table, None, guess.spec, ())
    return tuple(data.summary.categories), [r.sentence for r in guess.reasons if r.field == "recode"]


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        (("1", "0", "1.0", "0.0"), ("0", "1")),
        (("1.5", "1,5", "2,5"), ("1.5", "2,5")),
        (("2.0", "2.00", "3.0"), ("2", "3.0")),
        (("-1", "-1.0", "0", "1"), ("-1", "0", "1")),
    ],
)
def test_a_number_written_in_two_ways_is_one_label(labels: tuple[str, ...], read: tuple[str, ...]) -> None:
    categories, why = found(votes(labels))
    assert sorted(categories) == sorted(read)
    assert why[0].startswith("one number written in two ways is one label: ")


@pytest.mark.parametrize(
    "labels", [("1", "01", "2"), ("1.0", "2.0"), ("1", "1.5"), ("1,000", "1", "2"), ("Yes", "yes")]
)
def test_other_labels_stay_as_they_are(labels: tuple[str, ...]) -> None:
    categories, why = found(votes(labels))
    assert (sorted(categories), why) == (sorted(labels), [])


def test_labels_that_are_declared_stay_two() -> None:
    categories, why = found(votes(("1", "1.0")), declared=("1", "1.0"))
    assert (sorted(categories), why) == (["1", "1.0"], [])


def asked(table: Table, named: Named | None = None) -> list[tuple[str, str]]:
    return [(one.field, one.sentence) for one in recognise(table, named=named).uncertain]


def test_ids_of_two_spellings_are_asked_about() -> None:
    rows = [[f"{n}.0" if r > 2 else str(n), f"r{r}", "yn"[n * r % 2]] for n in range(9) for r in range(1, 5)]
    table = rows_table([["item", "rater", "label"], *rows])
    why = "'0', '0.0' are one number written in two ways, as 9 ids may be; write them alike"
    assert asked(table) == [("item", why)]
    assert asked(table, Named(item="item")) == []


def test_ids_that_a_spreadsheet_rounded_are_asked_about() -> None:
    why = (
        "'1.05851E+14' is a long number that a spreadsheet has rounded, so that several raters may have "
        "become one; write the ids as text"
    )
    assert asked(votes(("y", "n"), rater="1.0585{}E+14")) == [("rater", why)]


@pytest.mark.parametrize("rater", ["00{}", "{}e5", "{}.5"])
def test_ids_of_one_spelling_are_not(rater: str) -> None:
    assert asked(votes(("y", "n"), rater=rater)) == []
