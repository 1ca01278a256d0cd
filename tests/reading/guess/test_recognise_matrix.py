"""Matrices: names decide which columns hold labels, and what is not certain is said to be unsure."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table, text_table
from tests.shared_data import SHARED, needs_shared_data

STYLES: dict[str, Callable[[int], str]] = {
    "P01": lambda n: f"P{n + 1:02d}",
    "annotator_3": lambda n: f"annotator_{n}",
    "15 digits": lambda n: str(296708581782793 + 7 * n**3),
    "small numbers": lambda n: str(n + 1),
    "Prolific": lambda n: f"5f3c{n:02x}aa01b2c3d4e5f60718",
    "Mechanical Turk": lambda n: f"A{n:02d}X7QZ81K3PL",
    "e-mail": lambda n: f"{'abcdefghij'[n % 10]}{n}x@example.org",
    "words": lambda n: (
        ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi")[n % 8] + "y" * (n // 8)
    ),
}
FORM = ["Timestamp,Username,Age,Q [1],Q [2],Q [3]"] + [
    f"3/{n}/2024 9:10:22,{'abcdefgh'[n % 8]}@uni.org,{20 + n % 8},{n % 3},{n % 2},1" for n in range(1, 8)
]


def test_when_a_row_was_written_is_no_rater():
    guess = recognise(read_table("\n".join(FORM).encode(), "form.csv"))
    assert (guess.spec.layout, guess.spec.rater) == ("raters-by-items", "Username")


@pytest.mark.parametrize("column", ["Username", "Your name", "Email Address"])
def test_whoever_answered_twice_is_one_rater(column):
    again = "3/9/2024 9:10:22,b@uni.org,21,2,2,2"
    table = read_table("\n".join([*FORM, again]).replace("Username", column).encode(), "form.csv")
    guess = recognise(table)
    assert guess.spec.rater == column
    with pytest.raises(DataError, match=r"'b@uni.org' gives item 'Q \[1\]' the labels '1' in row 2 "):
        load(table, None, guess.spec, guess.axes)


def test_raters_keep_what_describes_them_where_the_layout_was_asked_for():
    rows = [f"S{n},{('control', 'treated')[n % 2]},{n % 2},{n % 3 % 2},1,0,{n % 5},0.5" for n in range(12)]
    table = read_table("\n".join(["Student,Group,1,2,3,4,Total,Mean", *rows]).encode(), "test.csv")
    assert "layout" in {reason.field for reason in recognise(table).uncertain}
    guess = recognise(table, named=Named(layout="raters-by-items"))
    assert (guess.spec.rater, guess.spec.profile, guess.axes) == ("Student", ("Group",), ("Group",))
    assert {"rater", "profile", "ignore"} <= {reason.field for reason in guess.reasons}
    assert "item" not in {reason.field for reason in guess.reasons}
    assert load(table, None, guess.spec, guess.axes).summary.annotations == 48


ASIDE = {
    "text": lambda item, _labels: f"the text, of {item}",
    "majority": lambda _item, labels: Counter(labels).most_common(1)[0][0] if labels else "",
    "mean": lambda _item, labels: f"{sum(map(int, labels)) / len(labels):.3f}" if labels else "",
    "gold": lambda _item, labels: max(labels, default=""),
    "n_votes": lambda _item, labels: str(len(labels)),
}
"""Columns of other things, from the item and its labels."""


def unsure(guess: Guess) -> bool:
    return any(reason.confidence == "unsure" for reason in guess.reasons)


def read(table: Table, raters: Table | None) -> Dataset | None:
    """The data set as it would run; None where the guess is not certain, or the file is refused."""
    try:
        guess = recognise(table, raters)
        return None if unsure(guess) else load(table, raters, guess.spec, guess.axes)
    except DataError:
        return None


@st.composite
def matrices(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]] | None, Counter[str]]:
    """Rows of a matrix of items by raters, the raters file or None, and the true counts."""
    style = draw(st.sampled_from(sorted(STYLES)))
    raters = [STYLES[style](n) for n in range(draw(st.integers(2, 16)))]
    rng = random.Random(draw(st.integers(0, 10**6)))
    density = draw(st.sampled_from((0.05, 0.2, 0.6, 1.0)))
    labels = [str(label) for label in range(1, draw(st.integers(2, 9)) + 1)]
    extra = draw(st.lists(st.sampled_from(sorted(ASIDE)), unique=True))
    rows = [["item", *raters, *extra]]
    true: Counter[str] = Counter()
    for n in range(draw(st.integers(3, 30))):
        cells = [rng.choice(labels) if rng.random() < density else "" for _ in raters]
        given_labels = [cell for cell in cells if cell]
        true.update(given_labels)
        rows.append([f"C{n:03d}", *cells, *(ASIDE[name](f"C{n:03d}", given_labels) for name in extra)])
    people = [["rater", "gender"], *([rater, rng.choice(("Woman", "Man"))] for rater in raters)]
    return rows, people if draw(st.booleans()) else None, true


@given(matrices())
def test_counts_are_the_true_ones_or_the_guess_is_unsure(matrix):
    rows, people, true = matrix
    raters = None if people is None else rows_table(people, "raters.csv")
    found = read(rows_table(rows), raters)
    if found is not None:
        counted = dict(zip(found.summary.categories, found.summary.label_counts, strict=True))
        assert {label: count for label, count in counted.items() if count} == dict(true)


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"words"}))
@pytest.mark.parametrize("density", [0.1, 1.0])
def test_a_run_of_like_names_needs_no_raters_file(style, density):
    rng = random.Random(7)
    rows = [["item", *map(STYLES[style], range(9)), *ASIDE]]
    true: Counter[str] = Counter()
    for n in range(30):
        cells = [rng.choice("12345") if rng.random() < density else "" for _ in range(9)]
        true.update(filter(None, cells))
        made = [make(f"C{n}", list(filter(None, cells))) for make in ASIDE.values()]
        rows.append([f"C{n}", *cells, *made])
    found = read(rows_table(rows), None)
    assert found is not None
    assert dict(zip(found.summary.categories, found.summary.label_counts, strict=True)) == dict(true)


@pytest.mark.parametrize("named", [True, False])
def test_rare_labels_of_a_sparse_matrix_stay(named):
    rows = [["item", *(f"P{n:02d}" for n in range(12))]]
    rows += [[f"C{n}", *("12"[n % 2] if n % 12 == k else "" for k in range(12))] for n in range(24)]
    rows[7][3] = "4"  # a label that occurs once
    people = [["id", "sex"], *([name, "f"] for name in rows[0][1:])]
    raters = rows_table(people, "raters.csv") if named else None
    found = read(rows_table(rows), raters)
    assert found is not None
    assert dict(zip(found.summary.categories, found.summary.label_counts, strict=True))["4"] == 1
    assert found.summary.annotations == 25
    assert found.summary.raters == 12


def test_what_is_put_aside_is_said_with_its_cells():
    table = text_table("item P1 P2 P3 majority mean/a 1 2 1 1 1.3/b 2 2 2 2 2.0/c 3 1 1 1 1.7")
    guess = recognise(table)
    assert guess.spec.ignore == ("majority", "mean")
    account = load(table, None, guess.spec).summary.account
    assert account is not None
    told = {(str(one.reason), one.count) for one in account.left_out}
    assert told == {("column 'majority' put aside", 3), ("column 'mean' put aside", 3)}


def test_a_raters_file_that_names_most_columns_takes_those_named_alike():
    table = text_table("item P1 P2 P3 P4 majority/a 1 2 1 1 1/b 2 2 2 1 2/c 3 1 1 3 1")
    raters = text_table("id sex/P1 m/P2 f/P3 f", "raters.csv")
    found = read(table, raters)
    assert found is not None
    assert found.summary.annotations == 12


def test_a_raters_file_that_leaves_out_a_name_leaves_it_open():
    table = text_table("item ann bob cid dan majority/a 1 2 1 1 1/b 2 2 2 1 2/c 3 1 1 3 1")
    assert unsure(recognise(table, text_table("id sex/ann m/bob f/cid f", "raters.csv")))
    assert not unsure(recognise(table, text_table("id sex/ann m/bob f/cid f/dan m", "raters.csv")))


@pytest.mark.parametrize(
    "text",
    [
        "item alice bob carol/a 1 2 1/b 2 2 1/c 1 1 2",  # no names say who is a rater
        "item label1 label2 P1 P2/a 1 2 1 1/b 2 2 1 2/c 1 1 2 2",  # two runs
        "item P1 P2 P3 age1 age2/a 1 2 1 33 20/b 2 2 1 41 33/c 1 1 2 20 20",
        "item Q1 Q2 Q3 Q4/a 1 2 yes no/b 2 2 no no/c 1 1 yes yes",  # two kinds of labels
        "item question1 question2 question3/a 1 2 1/b 2 2 1/c 1 1 2",  # rows and columns are items
        "item prob1 prob2 prob3/a 1 2 1/b 2 2 1/c 1 1 2",
        "item votes1 votes2 votes3/a 1 2 1/b 2 2 1/c 1 1 2",
        "country y2019 y2020 y2021/a 1 2 1/b 2 2 1/c 1 1 2",
        "P1 P2 P3 P4/1 2 1 2/2 1 1 2/1 1 2 2/2 2 1 1",
    ],
)
def test_what_names_do_not_settle_is_unsure(text):
    assert unsure(recognise(text_table(text)))


def test_points_of_a_scale_may_be_what_was_counted():
    cells = ([f"i{n}", n % 3, n % 7, n % 9, n % 5, 2] for n in range(40))
    rows = [["image", "1", "2", "3", "4", "5"], *cells]
    assert asked_of(recognise(rows_table([[str(cell) for cell in row] for row in rows]))) == {"layout"}


def test_columns_of_one_name_are_all_labels():
    rows = [f"{n},{'ab'[n % 2]},{'ab'[n % 3 % 2]},{'ab'[n % 5 % 2]}" for n in range(30)]
    table = read_table("\n".join(["id,label,label,label", *rows]).encode(), "three.csv")
    assert asked_of(recognise(table)) == {"layout"}
    guess = recognise(table, named=Named(layout="items-by-raters"))
    assert load(table, None, guess.spec, ()).summary.raters == 3


def asked_of(guess: Guess) -> set[str]:
    return {reason.field for reason in guess.uncertain}


def test_each_row_is_a_rater():
    rows = [["rater_sex", "rater_age", *(f"X{n:03d}" for n in range(9))]]
    rows += [["fm"[n % 2], str(20 + n % 5), *(str(1 + (n * k) % 7) for k in range(9))] for n in range(40)]
    table = rows_table(rows)
    guess = recognise(table)
    assert (guess.spec.layout, guess.spec.rater) == ("raters-by-items", None)
    assert guess.spec.profile == ("rater_sex", "rater_age")
    assert not unsure(guess)
    found = load(table, None, guess.spec, ("rater_sex",))
    assert (found.summary.raters, found.summary.items, found.summary.annotations) == (40, 9, 360)
    assert found.annotations.rater_ids[0] == "row 2"
    assert len(found.raters.axes["rater_sex"].values) == 2


def test_a_raters_file_cannot_describe_rows_without_ids():
    table = text_table("sex X1 X2 X3/f 1 2 1/f 1 2 2/m 2 2 1")
    with pytest.raises(DataError, match=r"no column of votes\.csv holds rater ids"):
        load(table, text_table("id age/a 3/b 4", "raters.csv"), recognise(table).spec)


def test_each_row_is_an_item_where_a_raters_file_names_the_columns():
    table = text_table("ann bob cid/1 2 1/1 2 2/2 2 1")
    guess = recognise(table, text_table("id sex/ann f/bob m/cid m", "raters.csv"))
    assert (guess.spec.layout, guess.spec.item) == ("items-by-raters", None)
    found = load(table, None, guess.spec)
    assert found.annotations.item_ids == ("row 2", "row 3", "row 4")


@needs_shared_data
def test_real_matrices():
    exports = SHARED / "data" / "exports" / "survey"
    people = read_table(exports / "raters.csv")
    for raters in (None, people):
        sparse = read(read_table(exports / "items_by_raters_sparse.csv"), raters)
        extra = read(read_table(exports / "items_by_raters_extra.csv"), raters)
        assert sparse is not None
        assert extra is not None
        assert (sparse.summary.items, sparse.summary.raters) == (33, 24)
        assert sparse.summary.label_counts == (38, 23, 16, 6, 7)
        assert (extra.summary.items, extra.summary.raters) == (40, 24)
        assert extra.summary.label_counts == (213, 188, 134, 112, 78)
    faces = read(read_table(SHARED / "data" / "london_faces" / "ratings_wide.csv"), None)
    assert faces is not None
    assert (faces.summary.raters, faces.summary.items, faces.summary.annotations) == (2513, 102, 256_326)


@pytest.mark.parametrize(("about", "asked"), [("gender", True), ("topic", False)])
def test_records_may_be_respondents(about: str, asked: bool) -> None:
    """As REDCap writes a survey: ``record_id``, what is known of the person, then the answers."""
    rows = [[str(n + 1), "ab"[n % 2], *(str(1 + n * k % 4) for k in range(2, 10))] for n in range(12)]
    table = rows_table([["record_id", about, *(f"rate_{k}" for k in range(1, 9))], *rows])
    fields = [reason.field for reason in recognise(table).uncertain]
    assert fields == (["layout"] if asked else [])


@pytest.mark.parametrize(("key", "about", "asked"), [("face", "face_gender", True), ("who", "gender", False)])
def test_a_gender_of_what_the_rows_show_makes_them_no_raters(key: str, about: str, asked: bool) -> None:
    rows = [[f"f{n}", "fm"[n % 2], *(str(1 + n * k % 5) for k in range(2, 10))] for n in range(12)]
    guess = recognise(rows_table([[key, about, *(f"P{k:02d}" for k in range(1, 9))], *rows]))
    assert [reason.field for reason in guess.uncertain] == (["layout"] if asked else [])
