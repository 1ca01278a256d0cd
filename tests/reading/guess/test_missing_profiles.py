"""Codes for no answer in columns about raters are nobody's group."""

from __future__ import annotations

import pytest

from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from tests.reading.making import rows_table


def groups(values: tuple[str, ...], labels: str = "yn", rater: str = "w{}") -> tuple[list[str], list[str]]:
    """The groups on an axis of these values, and what was said of texts that mean no value."""
    rows = [
        [f"i{n}", rater.format(r), labels[(n + r) % len(labels)], values[r % len(values)]]
        for n in range(9)
        for r in range(8)
    ]
    table = rows_table([["item", "rater", "label", "age"], *rows])
    guess = recognise(table)
    data = load(table, None, guess.spec, ("age",))
    said = [one.sentence for one in guess.reasons if one.field == "missing"]
    return sorted(data.raters.axes["age"].values), said


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (("1", "2", "-99"), "-99"),
        (("18-29", "30+", "999"), "999"),
        (("20", "61", "33", "999"), "999"),
        (("Woman", "Man", "-9"), "-9"),
    ],
)
def test_a_code_is_no_group(values: tuple[str, ...], code: str) -> None:
    found, said = groups(values)
    assert found == sorted(set(values) - {code})
    assert said == [f"'{code}' in 'age' stands for no answer, as codes of surveys do"]


@pytest.mark.parametrize(
    ("values", "labels", "rater"),
    [
        (("20", "61", "99"), "yn", "w{}"),
        (("-1", "0", "-9"), "yn", "w{}"),
        (("18-29", "30+", "77"), "yn", "7{}"),  # the id of a rater, too
    ],
)
def test_what_may_be_a_value_is_one(values: tuple[str, ...], labels: str, rater: str) -> None:
    assert groups(values, labels, rater) == (sorted(set(values)), [])


@pytest.mark.parametrize(
    "text", ["NA", "<NA>", "NaT", "#N/A", "NULL", " ", "CONSENT_REVOKED", "DATA_EXPIRED"]
)
def test_what_programs_write_for_no_value_is_no_group(text: str) -> None:
    found, said = groups(("Woman", "Man", text))
    assert found == ["Man", "Woman"]
    assert said == [f"'{text}' in 'age' stands for no answer, as programs write it"]


def test_none_may_be_an_answer() -> None:
    assert groups(("Christian", "Muslim", "None")) == (["Christian", "Muslim", "None"], [])


def test_beside_codes_of_places_it_is_asked_whether_na_is_one() -> None:
    found, (said,) = groups(("DE", "US", "NA"))
    assert found == ["DE", "NA", "US"]
    assert said.startswith("'NA' in 'age' stands beside codes of places, so it is a group")
