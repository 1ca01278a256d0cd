"""Raters files whose ids are not those of the annotations: not matched, but told how they would be."""

from __future__ import annotations

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.dataset.raters import alike
from tests.reading.making import LONG, rows_table


def tables(own: list[str], theirs: list[str], key: str = "rater"):
    votes = [["item", "rater", "label"], *([item, rater, "x"] for item in "ab" for rater in own)]
    raters = [["row", key, "age"], *(["abcdef"[n], rater, str(20 + n % 2)] for n, rater in enumerate(theirs))]
    return rows_table(votes), rows_table(raters, "raters.csv")


@pytest.mark.parametrize("key", ["rater", "participant"])
@pytest.mark.parametrize(
    ("own", "theirs", "but_for"),
    [
        (["p1", "p2"], ["p1 ", " p2"], "surrounding spaces"),
        (["p1", "p2"], ["P1", "P2"], "upper and lower case"),
        (["1.0", "2.0"], ["1", "2"], "how their numbers are written"),
        (["1", "2"], ["001", "002"], "how their numbers are written"),
        (["p1", "p2"], [" P1", "P2 "], "spaces, case and how their numbers are written"),
        (["ann", "bob"], ["Ann@x.org", "bob@x.org"], "what follows the @"),
        (["0", "1"], ["Ann0", "Ann1"], "what stands before their numbers"),
    ],
)
def test_ids_that_would_match(own: list[str], theirs: list[str], but_for: str, key: str) -> None:
    with pytest.raises(DataError) as caught:
        load(*tables(own, theirs, key), LONG, ["age"])
    message = str(caught.value)
    assert message.startswith("none of the raters of votes.csv")
    assert f": all would match but for {but_for}, as '{own[0]}' there and '{theirs[0]}' in" in message
    assert "use the same rater ids in both files" in message


def test_ids_that_have_nothing_in_common_say_no_more() -> None:
    with pytest.raises(DataError, match=r"use the same rater ids in both files$"):
        load(*tables(["ann", "bob"], ["x", "y"]), LONG, ["age"])


def test_some_that_would_match_are_told_and_stay_unknown() -> None:
    data = load(*tables(["p1", "p2", "p3"], ["p1", "P2", "other"]), LONG, ["age"])
    assert data.raters.axes["age"].codes.tolist() == [0, -1, -1]
    (note,) = [problem for problem in data.problems if "would match" in problem.message]
    assert "1 id would match a rater but for upper and lower case" in note.message
    assert note.examples == ("P2",)


def test_ids_that_may_be_two_raters_are_not_offered() -> None:
    assert alike(["p1"], ["P1", "p1 "]) is not None  # by spaces alone it is one
    assert alike(["p1"], ["P1", "P1 "]) == alike(["p1"], ["P1"])
    assert alike(["x1"], ["y1", "z1"]) is None
    assert alike([], ["a"]) is None


def test_a_few_conflicting_values_are_told_where_the_column_would_be_an_axis() -> None:
    rows = [["item", "rater", "label", "gender", "batch"]]
    for n in range(10):
        gender = "wm"[n % 2]
        rows += [[item, f"r{n}", "xy"[n % 2], gender, item] for item in "ab"]
    assert not [
        problem for problem in load(rows_table(rows), None, LONG).problems if "no axis" in problem.message
    ]
    rows[2][3] = "m"
    data = load(rows_table(rows), None, LONG)
    assert "gender" not in data.raters.axes
    (note,) = [problem for problem in data.problems if "no axis" in problem.message]
    assert "rows 2 and 3, column 'gender': rater 'r0' has 'w' and 'm'" in note.message
    assert "batch" not in str(data.problems)


def test_one_number_written_in_two_ways_is_told() -> None:
    rows = [["item", "rater", "label"], ["a", "1", "1.0"], ["a", "2", "1"], ["b", "1.0", "2"]]
    messages = [problem.message for problem in load(rows_table(rows), None, LONG).problems]
    assert any(
        "'1.0' (1 cell) and '1' (1 cell) differ only by how a number is written" in m for m in messages
    )
    assert any("column 'rater': 1 id is there" in m and "or by decimals" in m for m in messages)
