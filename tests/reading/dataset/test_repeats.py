"""A rater who answers an item more than once: refused, or the first or the last answer counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core import cli
from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.dataset.load import Dataset, load
from tests.reading.making import LONG, csv_bytes, rows_table, text_table

AGAIN = """
item rater label when             gender
a    r1    Yes   2024-03-05T10:00 w
a    r2    No    2024-03-05T10:00 m
a    r1    No    2024-03-05T09:00 w
b    r1    Yes   2024-03-05T11:00 w
b    r2    Yes   2024-03-05T12:00 m
b    r2    Yes   2024-03-05T13:00 m
b    r1    No    2024-03-05T10:30 w
b    r1    No    2024-03-05T12:30 w
"""
FIRST, LAST = (replace(LONG, repeated=which) for which in ("first", "last"))


def labels(data: Dataset) -> dict[tuple[str, str], str]:
    formed = data.annotations
    return {
        (formed.item_ids[i], formed.rater_ids[j]): formed.categories[k]
        for i, j, k in zip(formed.item, formed.rater, formed.category, strict=True)
    }


def test_different_labels_are_refused_with_what_would_do() -> None:
    with pytest.raises(DataError, match=r"--repeated first or last, by the order of rows or .* --order"):
        load(text_table(AGAIN), None, LONG)


@pytest.mark.parametrize(
    ("spec", "a", "b"),
    [
        (FIRST, "Yes", "Yes"),
        (LAST, "No", "No"),
        (replace(FIRST, order="when"), "No", "No"),
        (replace(LAST, order="when"), "Yes", "No"),
    ],
)
def test_the_first_or_last_counts(spec: DataSpec, a: str, b: str) -> None:
    data = load(text_table(AGAIN), None, spec, ["gender"])
    assert labels(data) == {("a", "r1"): a, ("a", "r2"): "No", ("b", "r1"): b, ("b", "r2"): "Yes"}
    (removal,) = data.removals
    others = "later" if spec.repeated == "first" else "earlier"
    by = "the order of rows" if spec.order is None else "the times in 'when'"
    assert str(removal.filter) == f"{others} answers of a rater to the same item, by {by}"
    assert (removal.annotations, removal.raters, removal.items) == (3, 0, 0)
    women, men = removal.groups["gender"]
    assert (men.value, men.removed_annotations, men.annotations) == ("m", 0, 3)
    assert (women.value, women.removed_annotations, women.annotations) == ("w", 3, 5)
    notes = [problem.message for problem in data.problems]
    assert f"left out: 3 annotations ({removal.filter})" in notes
    assert any("1 annotation of votes.csv repeats an earlier one" in note for note in notes)


def test_a_choice_that_is_not_needed_leaves_nothing_out() -> None:
    data = load(text_table("item rater label/a r1 Yes/a r2 No/a r1 Yes"), None, LAST)
    (removal,) = data.removals
    assert removal.annotations == 0
    assert data.annotations.n_annotations == 2


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("rs"), st.sampled_from("xyz"), st.integers(0, 99)),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[3],
    )
)
def test_first_and_last_are_those_of_the_times(rows) -> None:
    table = rows_table([["item", "rater", "label", "t"], *([*row[:3], str(row[3])] for row in rows)])
    by_time = sorted(rows, key=lambda row: row[3])
    last = {(item, rater): label for item, rater, label, _ in by_time}
    first = {(item, rater): label for item, rater, label, _ in reversed(by_time)}
    assert labels(load(table, None, replace(LAST, order="t"))) == last
    assert labels(load(table, None, replace(FIRST, order="t"))) == first
    in_file = {(item, rater): label for item, rater, label, _ in rows}
    assert labels(load(table, None, LAST)) == in_file


def test_a_time_that_is_missing_or_shared_is_refused_only_where_it_decides() -> None:
    spec = replace(LAST, order="t")
    rows = [
        ["item", "rater", "label", "t"],
        ["a", "r1", "Yes", "1"],
        ["a", "r1", "No", ""],
        ["b", "r1", "No", ""],
    ]
    with pytest.raises(
        DataError, match=r"row 3, column 't': the time is missing where item 'a' by rater 'r1'"
    ):
        load(rows_table(rows), None, spec)
    rows[2][3] = "1"
    with pytest.raises(DataError, match=r"rows 2 and 3, column 't': .* differently at the same time"):
        load(rows_table(rows), None, spec)
    rows.append(["a", "r1", "No", "2"])
    assert labels(load(rows_table(rows), None, spec)) == {("a", "r1"): "No", ("b", "r1"): "No"}


def test_each_question_is_chosen_by_itself() -> None:
    rows = "item rater q1 q2/a r1 Yes No/a r2 No No/a r1 No No/b r2 Yes Yes"
    spec = DataSpec(item="item", rater="rater", label="q1", further=(Question("q2"),), repeated="last")
    data = load(text_table(rows), None, spec)
    assert data.summary.label_counts == (2, 1, 2, 1)
    assert [removal.annotations for removal in data.removals] == [1, 0]


@pytest.mark.parametrize("layout", ["items-by-raters", "raters-by-items"])
def test_rows_of_a_matrix_that_stand_there_twice(layout: str) -> None:
    key = "item" if layout == "items-by-raters" else "rater"
    table = text_table(f"{key} x y when/1 Yes No 2/2 No No 1/1 No No 1")
    spec = DataSpec(layout=layout, **{key: key}, repeated="first")
    one = labels(load(table, None, replace(spec, ignore=("when",))))
    other = labels(load(table, None, replace(spec, order="when")))
    pair = ("1", "x") if layout == "items-by-raters" else ("x", "1")
    assert (one[pair], other[pair]) == ("Yes", "No")
    assert len(one) == len(other) == 4


def test_an_order_column_that_does_not_exist() -> None:
    with pytest.raises(DataError, match=r"no column 'wen'; did you mean 'when'"):
        load(text_table(AGAIN), None, replace(LAST, order="wen"))


@pytest.mark.parametrize(
    "fields", [{"repeated": "newest"}, {"order": "when"}, {"repeated": "last", "order": 3}]
)
def test_what_the_spec_refuses(fields: dict[str, object]) -> None:
    with pytest.raises(SpecError, match=r"`(repeated|order)`"):
        replace(LONG, **fields)


def test_the_command_chooses(tmp_path, capsys) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(csv_bytes([line.split() for line in AGAIN.strip().splitlines()]))
    columns = ["--annotations", str(path), "--item", "item", "--rater", "rater", "--label", "label"]
    assert cli.main(["quality", *columns]) == 2
    assert "--repeated first or last" in capsys.readouterr().err
    assert cli.main(["quality", *columns, "--repeated", "last", "--order", "when"]) == 0
    assert "earlier answers of a rater to the same item, by the times in 'when'" in capsys.readouterr().err


def test_rows_that_may_be_choices_of_one_answer_are_refused_as_such() -> None:
    """To let one of them count would leave out what else the rater chose."""
    rows = [[f"i{i}", f"r{r}", label] for i in range(4) for r in range(3) for label in ("joy", "fear")]
    table = rows_table([["item", "rater", "label"], *rows])
    with pytest.raises(
        DataError, match=r"choices of one answer, write them into one row, .* --repeated first"
    ):
        load(table, None, LONG, ())
    few = rows_table([["item", "rater", "label"], *rows[::2], *rows[1:3]])
    with pytest.raises(DataError, match="keep one of them"):
        load(few, None, LONG, ())
