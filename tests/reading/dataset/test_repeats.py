"""A rater who answers an item more than once: refused, or the first or the last answer counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core import cli
from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.dataset._times import ranks
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


# Times as programs and people write them, in order; what is not certain is refused.


WHERE = "votes.csv, column 'when'"


def refused(*texts: str) -> str:
    with pytest.raises(DataError) as caught:
        ranks(WHERE, texts, texts)
    message = str(caught.value)
    assert message.startswith(WHERE)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "earlier_first",
    [
        ("9", "10", "1e3"),
        ("1709546400123456788", "1709546400123456789"),
        ("-1.5", "0.25"),
        ("2024-03-05", "2024-03-05 00:00:01", "2024-03-05T00:00:01.5", "2024-3-6 1:00"),
        ("2024-03-05T10:00:00+02:00", "2024-03-05T09:00:00Z", "2024-03-05T05:00:00-0500"),
        ("2024-03-05T10:00:00.123456788Z", "2024-03-05T10:00:00.123456789Z"),
        ("2024/03/05 10:00", "2024/03/05 10:01"),
        ("5.3.2024 10:00", "04.04.2024 09:00"),
        ("13/01/2024 10:00", "02/02/2024 09:00"),
        ("1/31/2024 10:00", "2/2/2024 9:00"),
        ("1/31/2024 11:59 AM", "1/31/2024 12:00 PM", "1/31/2024 1:00:00 p.m."),
        ("1/31/2024 12:30 AM", "1/31/2024 1:00 AM"),
        ("Tue Jul 21 10:20:30 PDT 2020", "Tue Jul 21 17:20:31 UTC 2020"),
        ("Tue, 21 Jul 2020 10:20:30 GMT", "21 Jul 2020 12:20:31 +0200"),
        ("Mar 5, 2024 10:11 PM", "Mar 5, 2024 at 11:00 PM", "September 1, 2024"),
        ("Tue Mar 05 2024 10:11:12 GMT+0100 (Central European Standard Time)", "2024-03-05 09:11:13Z"),
        ("2024-03-05 10:00 CEST", "2024-03-05 10:01 CEST"),
    ],
)
def test_times_are_put_in_order(earlier_first: tuple[str, ...]) -> None:
    found = ranks(WHERE, reversed(earlier_first), earlier_first)
    assert [found[text] for text in earlier_first] == list(range(len(earlier_first)))


def test_equal_times_have_one_rank() -> None:
    found = ranks(WHERE, ["1", "1.0", "2"], ())
    assert found == {"1": 0, "1.0": 0, "2": 1}


def test_the_column_tells_whether_the_day_comes_first() -> None:
    texts = ["3/4/2024", "2/5/2024"]
    assert ranks(WHERE, texts, [*texts, "13/4/2024"]) == {"3/4/2024": 0, "2/5/2024": 1}
    assert ranks(WHERE, texts, [*texts, "4/13/2024"]) == {"3/4/2024": 1, "2/5/2024": 0}


def test_dates_that_may_be_two_days_are_refused() -> None:
    assert "whether '3/4/2024' names the day or the month first" in refused("3/4/2024", "2/5/2024")
    both = refused("3/4/2024", "13/5/2024", "5/13/2024")
    assert "'13/5/2024' names the day first and '5/13/2024' the month" in both


@pytest.mark.parametrize(
    "text", ["yesterday", "12:30", "2024-02-30", "1/2/24 10:00 x", "13:00 PM", "2024-13-01", "1/13/24", "1,5"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    assert f"'{text}' is no number or time" in refused(text, "2024-01-01")


@pytest.mark.parametrize(
    "pair",
    [
        ("1709546400", "2024-03-05"),
        ("2024-03-05 10:00", "2024-03-05 10:00Z"),
        ("2024-03-05 10:00 CEST", "2024-03-05 10:00 CET"),
    ],
)
def test_times_of_different_kinds_are_refused(pair: tuple[str, str]) -> None:
    assert "which is earlier cannot be told" in refused(*pair)


@given(st.lists(st.datetimes(), min_size=1, unique=True))
def test_iso_times_have_the_order_of_the_moments(moments) -> None:
    texts = {moment.isoformat(): moment for moment in moments}
    found = ranks(WHERE, texts, ())
    assert sorted(texts, key=found.__getitem__) == sorted(texts, key=texts.__getitem__)


@given(st.text())
def test_any_text_is_ordered_or_refused_in_a_sentence(text) -> None:
    try:
        found = ranks(WHERE, [text], [text])
    except DataError as error:
        found = {text: str(error).count("\n")}
    assert found == {text: 0}
