"""Recoded values, and answers given more than once: the first or the last counts, by row or time."""

import math
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core import cli
from grasp_core.model.annotations import is_number, number_of
from grasp_core.model.data_spec import Bins, Combine, DataSpec, MapValues, Question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.dataset._repeats import ranks
from grasp_core.reading.dataset.load import Dataset, candidate_axes, load
from grasp_core.reading.dataset.recoding import counts
from pages._ui.data.recoding import merge_rare, one_spelling
from tests.reading.making import LONG, crossed, csv_bytes, labels_of, refusal_of, rows_table, text_table

VOTES = "item rater label/a r1 Yes/a r2 yes/a r3 No/b r1 Maybe/b r2 No/b r3 No"
RATERS = "rater gender age/r1 woman 17/r2 Woman_ 18/r3 Man 24.5"


def loaded(*steps: object, votes: str = VOTES, axis: str = "gender") -> Dataset:
    return load(text_table(votes), text_table(RATERS, "raters.csv"), replace(LONG, recode=steps), [axis])


def labels(data: Dataset) -> dict[str, int]:
    return dict(zip(data.summary.categories, data.summary.label_counts, strict=True))


def profile(data: Dataset, axis: str) -> list[str | None]:
    found = data.raters.axes[axis]
    return [None if code < 0 else found.values[code] for code in found.codes]


def test_values_are_mapped():
    merged = MapValues(None, (("yes", "Yes"), ("Maybe", "")))
    assert labels(loaded(merged)) == {"No": 3, "Yes": 2}
    to_numbers = MapValues(None, (("Yes", "1"), ("No", "0"), ("Maybe", "0")))
    assert labels(loaded(MapValues("label", (("yes", "Yes"),)), to_numbers)) == {"0": 4, "1": 2}
    places_changed = MapValues(None, (("Yes", "No"), ("No", "Yes"), ("yes", "No"), ("Maybe", "")))
    assert labels(loaded(places_changed)) == {"No": 2, "Yes": 3}
    of_raters = MapValues("gender", (("woman", "Woman"), ("Woman_", "Woman")))
    assert profile(loaded(of_raters), "gender") == ["Woman", "Woman", "Man"]


def test_numbers_are_cut_at_the_edges_so_that_a_scale_becomes_two_labels():
    data = loaded(Bins("age", (18, 24.5), ("minor", "young", "old")), axis="age")
    assert profile(data, "age") == ["minor", "young", "old"]
    votes = "item rater label/a r1 1/a r2 3/a r3 -1/b r1 4/b r2 x/b r3 2.5"
    data = loaded(MapValues(None, (("-1", ""),)), Bins(None, (3,), ("low", "high")), votes=votes)
    assert labels(data) == {"high": 2, "low": 2}
    assert data.summary.categories == ("low", "high")
    assert any("1 cell without a number ('x')" in problem.message for problem in data.problems)


def test_numbers():
    numbers = {"3": 3, " 3.5 ": 3.5, "3,5": 3.5, "-1": -1, "1e3": 1000, "+2": 2}
    assert {text: number_of(text) for text in numbers if is_number(text)} == numbers
    for text in ("", "x", "1,000,000", "1_000", "nan", "NaN", "1,5.2", "inf nity"):
        assert math.isnan(number_of(text)), text
        assert not is_number(text), text


QUESTIONS = "item rater harm bias sex/a r1 No Yes w/a r2 Unsure No m/b r1 No No w/b r2 '' No m/c r1 '' '' w"
ANY = Combine(("harm", "bias"), ("Yes", "Unsure", "No"), "unsafe")


def combined(step: Combine = ANY) -> Dataset:
    spec = DataSpec(item="item", rater="rater", label="unsafe", recode=(step,))
    return load(text_table(QUESTIONS), None, spec)


def test_questions_are_combined_by_priority():
    data = combined()
    assert labels(data) == {"No": 2, "Unsure": 1, "Yes": 1}  # c has no answer and is no annotation
    assert data.summary.items == 2
    with pytest.raises(DataError, match=r"row 3, column 'harm': 'Unsure' has no place in the order"):
        combined(replace(ANY, priority=("Yes", "No")))
    with pytest.raises(DataError, match="has a column 'sex' already"):
        combined(replace(ANY, into="sex"))


@pytest.mark.parametrize(
    "step",
    [MapValues("gendre", (("a", "b"),)), Bins("gendre", (1,), ("a", "b")), replace(ANY, columns=("lable",))],
)
def test_columns_that_do_not_exist_are_named(step):
    said = r"column '(gendre|lable)'; did you mean '(gend|lab)e[rl]'"
    with pytest.raises(DataError, match=said):
        loaded(step)


def test_cells_are_recoded_but_not_other_columns_or_values_that_do_not_occur():
    said = [problem.message for problem in loaded(MapValues("gender", (("wmn", "Woman"),))).problems]
    assert "raters.csv, column 'gender': 'wmn' to be recoded, but not there" in said
    recode = (MapValues(None, (("y", "Yes"),)),)
    spec = DataSpec(layout="items-by-raters", item="item", ignore=("note",), recode=recode)
    data = load(text_table("item r1 r2 note/a y n y/b n y n"), None, spec)
    assert labels(data) == {"n": 2, "Yes": 2}
    assert data.annotations.rater_ids == ("r1", "r2")


def test_a_binned_column_can_become_an_axis_and_counts_are_of_both_files():
    votes = crossed("item,rater,label", lambda _, j: ("a", f"r{j}", ("No", "Yes")[j % 2]), 1, raters=300)
    ages = crossed("rater,age", lambda _, j: (f"r{j}", 18 + j), 1, raters=300)
    assert candidate_axes(votes, ages, LONG) == ()
    step = Bins("age", (100, 200), ("young", "middle", "old"))
    assert candidate_axes(votes, ages, replace(LONG, recode=(step,))) == ("age",)
    tables = [text_table("item rater label g/a r1 Yes x/b r1 No x"), text_table("rater g/r1 y", "raters.csv")]
    assert counts(tables, "g", LONG) == {"x": 2, "y": 1}
    assert counts(tables, None, LONG) == {"Yes": 1, "No": 1}


# Suggestions.
def test_spellings_and_rare_values_are_merged():
    composed, decomposed = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    for found, spelt in (
        ({"woman": 5, "Woman ": 2, "F": 1, "Man": 4, "nonbinary": 1}, {"Woman ": "woman", "F": "woman"}),
        ({decomposed: 3, composed: 1}, {decomposed: composed}),
        ({" North  East": 3, "South": 1}, {" North  East": "North East"}),  # spaces of a lone value
        ({"Yes": 3, "No": 2, "": 4, "Unsure": 1}, {}),
    ):
        assert one_spelling(found) == spelt
    counts = {"a": 9, "b": 1, "c": 2, "": 1}
    assert merge_rare(counts, 3) == {"b": "Other", "c": "Other"}
    assert merge_rare(counts, 2) == {}  # one value alone gains nothing by another name
    assert merge_rare({"a": 1, "b": 1}, 5) == {}


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


def test_different_labels_are_refused_with_what_would_do_and_orders_that_cannot_be() -> None:
    with pytest.raises(DataError, match=r"--repeated first or last, by the order of rows or .* --order"):
        load(text_table(AGAIN), None, LONG)
    with pytest.raises(DataError, match=r"no column 'wen'; did you mean 'when'"):
        load(text_table(AGAIN), None, replace(LAST, order="wen"))
    for fields in ({"repeated": "newest"}, {"order": "when"}, {"repeated": "last", "order": 3}):
        with pytest.raises(SpecError, match=r"`(repeated|order)`"):
            replace(LONG, **fields)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("order", [None, "when"])
def test_the_first_or_last_counts(first: bool, order: str | None) -> None:
    data = load(text_table(AGAIN), None, replace(FIRST if first else LAST, order=order), ["gender"])
    a, b = {(True, None): ("Yes", "Yes"), (False, "when"): ("Yes", "No")}.get((first, order), ("No", "No"))
    expected = {("a", "r1"): a, ("a", "r2"): "No", ("b", "r1"): b, ("b", "r2"): "Yes"}
    assert labels_of(data.annotations) == expected
    (removal,) = data.removals
    others = "later" if first else "earlier"
    by = "the order of rows" if order is None else "the times in 'when'"
    assert str(removal.filter) == f"{others} answers of a rater to the same item, by {by}"
    assert (removal.annotations, removal.raters, removal.items) == (3, 0, 0)
    women, men = removal.groups["gender"]
    assert (men.value, men.removed_annotations, men.annotations) == ("m", 0, 3)
    assert (women.value, women.removed_annotations, women.annotations) == ("w", 3, 5)
    notes = " | ".join(problem.message for problem in data.problems)
    assert f"left out: 3 annotations ({removal.filter})" in notes
    assert "1 annotation of votes.csv repeats an earlier one" in notes


def test_a_choice_is_made_where_it_is_needed_and_for_each_question_by_itself() -> None:
    data = load(text_table("item rater label/a r1 Yes/a r2 No/a r1 Yes"), None, LAST)
    (removal,) = data.removals
    assert removal.annotations == 0
    assert data.annotations.n_annotations == 2
    rows = "item rater q1 q2/a r1 Yes No/a r2 No No/a r1 No No/b r2 Yes Yes"
    spec = DataSpec(item="item", rater="rater", label="q1", further=(Question("q2"),), repeated="last")
    data = load(text_table(rows), None, spec)
    assert data.summary.label_counts == (2, 1, 2, 1)
    assert [removal.annotations for removal in data.removals] == [1, 0]


TIMED = st.tuples(st.sampled_from("ab"), st.sampled_from("rs"), st.sampled_from("xyz"), st.integers(0, 99))


@given(st.lists(TIMED, min_size=1, max_size=12, unique_by=lambda row: row[3]))
def test_first_and_last_are_those_of_the_times(rows) -> None:
    table = rows_table([["item", "rater", "label", "t"], *([*row[:3], str(row[3])] for row in rows)])
    by_time = sorted(rows, key=lambda row: row[3])
    for spec, ordered in (
        (replace(LAST, order="t"), by_time),
        (replace(FIRST, order="t"), by_time[::-1]),
        (LAST, rows),
    ):
        expected = {(item, rater): label for item, rater, label, _ in ordered}
        assert labels_of(load(table, None, spec).annotations) == expected


def test_a_time_that_is_missing_or_shared_is_refused_only_where_it_decides() -> None:
    spec, text = replace(LAST, order="t"), "item rater label t/a r1 Yes 1/a r1 No ''/b r1 No ''"
    with pytest.raises(DataError, match=r"row 3, column 't': the time is missing where item 'a' by"):
        load(text_table(text), None, spec)
    text = text.replace("No ''", "No 1", 1)
    with pytest.raises(DataError, match=r"rows 2 and 3, column 't': .* differently at the same time"):
        load(text_table(text), None, spec)
    found = load(text_table(f"{text}/a r1 No 2"), None, spec).annotations
    assert labels_of(found) == {("a", "r1"): "No", ("b", "r1"): "No"}


@pytest.mark.parametrize("layout", ["items-by-raters", "raters-by-items"])
def test_rows_of_a_matrix_that_stand_there_twice(layout: str) -> None:
    key = "item" if layout == "items-by-raters" else "rater"
    table = text_table(f"{key} x y when/1 Yes No 2/2 No No 1/1 No No 1")
    spec = DataSpec(layout=layout, **{key: key}, repeated="first")
    one, other = (
        labels_of(load(table, None, how).annotations)
        for how in (replace(spec, ignore=("when",)), replace(spec, order="when"))
    )
    pair = ("1", "x") if layout == "items-by-raters" else ("x", "1")
    assert (one[pair], other[pair]) == ("Yes", "No")
    assert len(one) == len(other) == 4


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
    with pytest.raises(DataError, match=r"choices of one answer, write them into one row, .* --repeated"):
        load(table, None, LONG, ())
    few = rows_table([["item", "rater", "label"], *rows[::2], *rows[1:3]])
    with pytest.raises(DataError, match="keep one of them"):
        load(few, None, LONG, ())


# Times as programs and people write them, in order; what is not certain is refused.
WHERE = "votes.csv, column 'when'"


def refused(*texts: str) -> str:
    return refusal_of(lambda: ranks(WHERE, texts, texts), WHERE)


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


def test_times_that_are_equal_days_or_of_different_kinds() -> None:
    assert ranks(WHERE, ["1", "1.0", "2"], ()) == {"1": 0, "1.0": 0, "2": 1}
    texts = ["3/4/2024", "2/5/2024"]
    assert ranks(WHERE, texts, [*texts, "13/4/2024"]) == {"3/4/2024": 0, "2/5/2024": 1}
    assert ranks(WHERE, texts, [*texts, "4/13/2024"]) == {"3/4/2024": 1, "2/5/2024": 0}
    assert "whether '3/4/2024' names the day or the month first" in refused("3/4/2024", "2/5/2024")
    both = refused("3/4/2024", "13/5/2024", "5/13/2024")
    assert "'13/5/2024' names the day first and '5/13/2024' the month" in both
    at = "2024-03-05 10:00"
    for pair in (("1709546400", "2024-03-05"), (at, f"{at}Z"), (f"{at} CEST", f"{at} CET")):
        assert "which is earlier cannot be told" in refused(*pair)


@pytest.mark.parametrize(
    "text", ["yesterday", "12:30", "2024-02-30", "1/2/24 10:00 x", "13:00 PM", "2024-13-01", "1/13/24", "1,5"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    assert f"'{text}' is no number or time" in refused(text, "2024-01-01")


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
