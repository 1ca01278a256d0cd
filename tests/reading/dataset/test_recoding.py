"""More"""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest

from grasp_core.model.annotations import is_number, number_of
from grasp_core.model.data_spec import Bins, Combine, DataSpec, MapValues
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.checks import merge_rare, one_spelling
from grasp_core.reading.dataset.load import Dataset, candidate_axes, load
from grasp_core.reading.dataset.recoding import counts
from grasp_core.reading.table.table import Table
from tests.reading.making import LONG, rows_table, text_table

VOTES = "item rater label/a r1 Yes/a r2 yes/a r3 No/b r1 Maybe/b r2 No/b r3 No"
RATERS = "rater gender age/r1 woman 17/r2 Woman_ 18/r3 Man 24.5"


def loaded(
    *steps: object, votes: str = VOTES, raters: str = RATERS, spec: DataSpec = LONG, axis: str = "gender"
) -> Dataset:
    return load(text_table(votes), text_table(raters, "raters.csv"), replace(spec, recode=steps), [axis])


def labels(data: Dataset) -> dict[str, int]:
    return dict(zip(data.summary.categories, data.summary.label_counts, strict=True))


def profile(data: Dataset, axis: str) -> list[str | None]:
    found = data.raters.axes[axis]
    return [None if code < 0 else found.values[code] for code in found.codes]


def test_values_are_merged_and_treated_as_missing():
    data = loaded(
        MapValues(None, (("yes", "Yes"), ("Maybe", ""))),
        MapValues("gender", (("woman", "Woman"), ("Woman_", "Woman"))),
    )
    assert labels(data) == {"No": 3, "Yes": 2}
    assert profile(data, "gender") == ["Woman", "Woman", "Man"]


def test_a_later_step_sees_what_an_earlier_one_made():
    data = loaded(
        MapValues("label", (("yes", "Yes"),)), MapValues(None, (("Yes", "1"), ("No", "0"), ("Maybe", "0")))
    )
    assert labels(data) == {"0": 4, "1": 2}


def test_values_may_change_places():
    data = loaded(MapValues(None, (("Yes", "No"), ("No", "Yes"), ("yes", "No"), ("Maybe", ""))))
    assert labels(data) == {"No": 2, "Yes": 3}


def test_numbers_are_cut_at_the_edges():
    data = loaded(Bins("age", (18, 24.5), ("minor", "young", "old")), axis="age")
    assert profile(data, "age") == ["minor", "young", "old"]


def test_a_rating_scale_becomes_two_labels():
    votes = "item rater label/a r1 1/a r2 3/a r3 -1/b r1 4/b r2 x/b r3 2,5"
    data = loaded(
        MapValues(None, (("-1", ""),)), Bins(None, (3,), ("low", "high")), votes=votes.replace(",", ".")
    )
    assert labels(data) == {"high": 2, "low": 2}
    assert data.summary.categories == ("low", "high")
    assert any("1 cell without a number ('x')" in problem.message for problem in data.problems)


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), (" 3.5 ", 3.5), ("3,5", 3.5), ("-1", -1), ("1e3", 1000), ("+2", 2)]
)
def test_numbers(text, value):
    assert number_of(text) == value
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "x", "1,000,000", "1_000", "nan", "NaN", "1,5.2", "inf nity"])
def test_no_numbers(text):
    assert str(number_of(text)) == "nan"
    assert not is_number(text)


QUESTIONS = [
    ["item", "rater", "harm", "bias", "gender"],
    ["a", "r1", "No", "Yes", "w"],
    ["a", "r2", "Unsure", "No", "m"],
    ["b", "r1", "No", "No", "w"],
    ["b", "r2", "", "No", "m"],
    ["c", "r1", "", "", "w"],
]
ANY = Combine(("harm", "bias"), ("Yes", "Unsure", "No"), "unsafe")


def combined(step: Combine = ANY) -> Dataset:
    return load(
        rows_table(QUESTIONS), None, DataSpec(item="item", rater="rater", label="unsafe", recode=(step,))
    )


def test_questions_are_combined_by_priority():
    data = combined()
    assert labels(data) == {"No": 2, "Unsure": 1, "Yes": 1}  # c has no answer and is no annotation
    assert data.summary.items == 2


def test_a_value_without_place_in_the_order_stops():
    with pytest.raises(
        DataError, match=r"row 3, column 'harm': 'Unsure' has no place in the order 'Yes', 'No'"
    ):
        combined(replace(ANY, priority=("Yes", "No")))


def test_a_combined_column_does_not_overwrite_another():
    with pytest.raises(DataError, match="has a column 'gender' already"):
        combined(replace(ANY, into="gender"))


@pytest.mark.parametrize(
    "step",
    [MapValues("gendre", (("a", "b"),)), Bins("gendre", (1,), ("a", "b")), replace(ANY, columns=("lable",))],
)
def test_columns_that_do_not_exist_are_named(step):
    with pytest.raises(
        DataError, match=r"no column '(gendre|lable)' to recode; did you mean '(gender|label)'\?"
    ):
        loaded(step)


def test_values_that_do_not_occur_are_reported():
    data = loaded(MapValues("gender", (("wmn", "Woman"),)))
    assert "raters.csv, column 'gender': 'wmn' to be recoded, but not there" in [
        p.message for p in data.problems
    ]


def test_the_cells_of_a_matrix_are_recoded_but_not_its_other_columns():
    votes = text_table("item r1 r2 note/a y n y/b n y n")
    spec = DataSpec(
        layout="items-by-raters", item="item", ignore=("note",), recode=(MapValues(None, (("y", "Yes"),)),)
    )
    data = load(votes, None, spec)
    assert labels(data) == {"n": 2, "Yes": 2}
    assert data.annotations.rater_ids == ("r1", "r2")


def test_a_binned_column_can_become_an_axis():
    ages = "rater age/" + "/".join(f"r{number} {18 + number}" for number in range(300))
    votes = "item rater label/" + "/".join(
        f"a r{number} {'Yes' if number % 2 else 'No'}" for number in range(300)
    )
    tables = text_table(votes), text_table(ages, "raters.csv")
    assert candidate_axes(*tables, LONG) == ()
    step = Bins("age", (100, 200), ("young", "middle", "old"))
    assert candidate_axes(*tables, replace(LONG, recode=(step,))) == ("age",)


def test_counts_are_of_both_files():
    tables: list[Table] = [
        text_table("item rater label g/a r1 Yes x/b r1 No x"),
        text_table("rater g/r1 y", "raters.csv"),
    ]
    assert counts(tables, "g", LONG) == {"x": 2, "y": 1}
    assert counts(tables, None, LONG) == {"Yes": 1, "No": 1}


# Suggestions.


def test_case_spaces_and_short_forms_get_one_spelling():
    counts = {"woman": 5, "Woman ": 2, "F": 1, "Man": 4, "nonbinary": 1}
    assert one_spelling(counts) == {"Woman ": "woman", "F": "woman"}


def test_unicode_forms_are_one_spelling():
    composed, decomposed = "café", unicodedata.normalize("NFD", "café")
    assert one_spelling({decomposed: 3, composed: 1}) == {decomposed: composed}


def test_a_lone_value_loses_its_spaces():
    assert one_spelling({" North  East": 3, "South": 1}) == {" North  East": "North East"}


def test_what_is_tidy_stays():
    assert one_spelling({"Yes": 3, "No": 2, "": 4, "Unsure": 1}) == {}


def test_rare_values_are_merged():
    counts = {"a": 9, "b": 1, "c": 2, "": 1}
    assert merge_rare(counts, 3) == {"b": "Other", "c": "Other"}
    assert merge_rare(counts, 2) == {}  # one value alone gains nothing by another name
    assert merge_rare({"a": 1, "b": 1}, 5) == {}
