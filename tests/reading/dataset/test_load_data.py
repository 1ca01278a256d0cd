"""Annotations, axes and summary from tables in every layout, in little memory."""

import hashlib
import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.annotations import Axis
from grasp_core.model.data_spec import Combine, DataSpec, Filters, MapValues
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, Fitted, candidate_axes, fitting, load
from grasp_core.reading.dataset.raters import alike
from grasp_core.reading.table.table import Table
from grasp_core.report.quality import axis_counts, cross_table, label_counts
from pages._ui.data.remembered import signature
from tests.reading.making import LONG, crossed, labels_of, rows_table, text_table
from tests.strategies import Votes, votes


def content(data: Dataset) -> dict[str, object]:
    """Everything but order and files: what must not change with the layout or the order of rows."""
    axes = data.raters.axes
    return {
        "votes": labels_of(data.annotations),
        "categories": data.annotations.categories,
        "axes": {name: dict(zip(data.raters.rater_ids, shown(axes[name]), strict=True)) for name in axes},
        "values": {name: axis.values for name, axis in axes.items()},
        "summary": replace(data.summary, sha256="", files=(), account=None),
    }


def shown(axis: Axis) -> list[str | None]:
    return [None if code < 0 else axis.values[code] for code in axis.codes]


def long_rows(data: Votes) -> list[list[str]]:
    return [["item", "rater", "label", "axis"], *([*vote, data.axis[vote[1]]] for vote in data.votes)]


@given(votes(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_order_only(data, random):
    rows = long_rows(data)
    shuffled = rows[1:]
    random.shuffle(shuffled)
    one = load(rows_table(rows), None, LONG)
    other = load(rows_table([rows[0], *shuffled]), None, LONG)
    assert content(one) == content(other)
    told = [{p.message for p in data.problems if "row" not in p.message} for data in (one, other)]
    assert told[0] == told[1]


SMALL = """
item rater label gender
b    r2    Yes   Woman
a    r1    No    Man
b    r1    10    Man
a    r3    9     Woman
c    r3    Yes   Woman
"""


def test_orders_of_labels_are_those_declared_or_found():
    data = load(text_table(SMALL), None, LONG)
    formed = data.annotations
    assert formed.item_ids == ("b", "a", "c")
    assert formed.rater_ids == data.raters.rater_ids == ("r2", "r1", "r3")
    assert formed.categories == ("9", "10", "No", "Yes")
    assert data.raters.axes["gender"].values == ("Man", "Woman")
    assert data.raters.axes["gender"].codes.tolist() == [1, 0, 1]
    assert not data.raters.axes["gender"].codes.flags.writeable
    spec = replace(LONG, categories=("Yes", "Maybe", "No", "9", "10"))
    data = load(text_table(SMALL), None, spec)
    assert data.annotations.categories == spec.categories
    assert data.summary.label_counts == (2, 0, 1, 1, 1)


def test_categories_and_axis_values_that_sort_alike_have_one_order():
    header = ["item", "rater", "label", "g"]
    rows = [["a", str(n), text, text] for n, text in enumerate("bBaA")]
    for order in (rows, rows[::-1]):
        data = load(rows_table([header, *order]), None, LONG, ["g"])
        assert data.annotations.categories == data.raters.axes["g"].values == ("A", "a", "B", "b")


def test_summary():
    votes_table = text_table(SMALL)
    data = load(votes_table, None, LONG).summary
    assert (data.items, data.raters, data.annotations) == (3, 3, 5)
    assert data.raters_per_item == (1, 2.0, 2)
    assert data.sha256 == votes_table.sha256
    raters = text_table("rater age/r1 1/r2 2", "raters.csv")
    both = load(votes_table, raters, LONG).summary
    assert [file.name for file in both.files] == ["votes.csv", "raters.csv"]
    joined = f"{votes_table.sha256}\n{raters.sha256}".encode("ascii")
    assert both.sha256 == hashlib.sha256(joined).hexdigest()


def test_excluded_raters_leave_first():
    # r9's rows would stop the run: an undeclared label, a contradiction, two genders.
    text = SMALL.replace("gender", "gender removed").replace("man\n", "man no\n").replace("Man\n", "Man no\n")
    text += "b r9 Never Woman yes/b r9 Yes Man yes/d r9 Yes Man yes"
    spec = replace(LONG, exclude=(("removed", "yes"),), categories=("Yes", "No", "9", "10"))
    data = load(text_table(text), None, spec, ["gender"])
    assert data.annotations.rater_ids == ("r2", "r1", "r3")
    assert data.annotations.item_ids == ("b", "a", "c")
    (left_out,) = data.problems
    assert left_out.message == "left out: 3 annotations, 1 rater, 1 item (raters with 'removed' = 'yes')"
    raters = text_table("rater bot/r1 no/r2 yes/r3 no", "raters.csv")
    data = load(text_table(SMALL), raters, replace(LONG, exclude=(("bot", "yes"),)))
    assert data.annotations.rater_ids == ("r1", "r3")


def test_missing_tokens_apply_to_labels_and_axes_but_not_to_ids():
    text = "item rater label g/NA NA Yes x/NA b NA y/c NA No x/c b Yes NA"
    data = load(text_table(text), None, replace(LONG, missing=("", "NA")), ["g"])
    assert data.annotations.item_ids == ("NA", "c")
    assert data.annotations.rater_ids == ("NA", "b")
    assert data.annotations.categories == ("No", "Yes")
    assert data.annotations.n_annotations == 3
    # b's g is y in one row and unknown in another: the known one counts.
    assert data.raters.axes["g"].codes.tolist() == [0, 1]


def test_the_raters_file_decides_under_whatever_name_its_ids_are():
    raters = text_table("rater gender/r1 Woman/r2 Woman", "raters.csv")
    data = load(text_table(SMALL), raters, LONG, ["gender"])
    # r2 agrees, r1 does not, r3 is only in the annotations file.
    assert shown(data.raters.axes["gender"]) == ["Woman", "Woman", "Woman"]
    disagree = next(problem for problem in data.problems if "disagree" in problem.message)
    assert (disagree.count, disagree.examples) == (1, ("r1",))
    assert "raters.csv decides" in disagree.message
    matrix = text_table("item r1 r2 r3/a Yes No Yes/b No Yes Yes")
    raters = text_table("n worker g/1 r2 x/2 r1 y/3 r3 x", "raters.csv")
    for rater in (None, "worker", "unheard-of"):
        data = load(matrix, raters, DataSpec(layout="items-by-raters", item="item", rater=rater), ["g"])
        assert data.raters.axes["g"].codes.tolist() == [1, 0, 0]


def test_candidate_axes_vary_among_raters_alone_and_have_few_values():
    text = """
    item rater label phase gender id  batch
    a    r1    Yes   1     Man    1   x
    b    r1    No    1     Man    2   y
    a    r2    Yes   1     Woman  3   x
    b    r2    No    1     Woman  4   y
    """
    # phase has one value, batch varies within raters, id tells rows apart.
    assert candidate_axes(text_table(text), None, LONG) == ("gender",)
    raters = text_table("rater age name/r1 20 A/r2 30 B", "raters.csv")
    assert candidate_axes(text_table(text), raters, LONG) == ("age", "name", "gender")
    excluding = replace(LONG, exclude=(("age", "20"),))
    assert candidate_axes(text_table(text), raters, excluding) == ("name", "gender")
    table = crossed("item,rater,label,age", lambda i, j: (i, j, "Yes", j % 40), items=2, raters=60)
    assert candidate_axes(table, None, LONG) == ()
    assert "age" in load(table, None, LONG, ["age"]).raters.axes
    late = crossed(
        "item,rater,label,g,h",
        lambda i, j: (i, j, "x", j % 2, 0 if (i, j) == (1249, 3) else j % 2),
        items=1250,
    )
    assert candidate_axes(late, None, LONG) == ("g",)


# As much of an earlier reading as fits.
VOTES = text_table("item rater label gender/i1 r1 Yes Woman/i1 r2 No Man/i2 r1 No Woman/i2 r2 Yes Man")
RATERS = text_table("rater age/r1 18/r2 40", "raters.csv")


def test_readings_fit_by_their_columns_and_labels_are_found_anew() -> None:
    other = text_table("gender label rater item/Man Maybe x y", "another.csv")
    assert signature(VOTES, None) == signature(other, None)
    assert signature(VOTES, RATERS) == signature(other, text_table("age rater/1 x", "r.csv"))
    signatures = [signature(VOTES, *more) for more in ((None,), (RATERS,), (None, RATERS))]
    signatures.append(signature(RATERS, VOTES))
    for text in ("item rater label Gender/i r l g", "item rater label gender age/i r l g a"):
        signatures.append(signature(text_table(text), None))
    assert len(set(signatures)) == len(signatures)
    declared = replace(LONG, categories=("Yes", "Maybe"))
    fitted = fitting(VOTES, None, declared, ("gender",))
    assert fitted.spec == LONG
    assert fitted.dropped == ("the order of the labels, for 'No' was not among them",)
    recoded = replace(declared, recode=(MapValues(None, (("No", "Maybe"),)),))
    for spec in (replace(declared, missing=("", "No")), recoded):
        assert fitting(VOTES, None, spec, ()) == Fitted(spec, (), ())


def test_what_fits_stays_as_it_is_and_a_reading_of_other_columns_does_not_fit() -> None:
    spec = replace(
        LONG,
        categories=("Yes", "Unsure", "No"),
        exclude=(("gender", "Nobody"),),
        recode=(MapValues(None, (("Nein", "No"),)),),
        filters=Filters(min_per_rater=2),
    )
    assert fitting(VOTES, RATERS, spec, ("gender", "age")) == Fitted(spec, ("gender", "age"), ())
    assert fitting(VOTES, RATERS, LONG, ("gender", "age")).axes == ("gender", "age")
    assert fitting(VOTES, None, LONG, ("gender", "age")).axes == ("gender",)  # the only one that exists
    for spec in (
        replace(LONG, label="answer"),
        replace(LONG, exclude=(("removed", "True"),)),
        replace(LONG, filters=Filters(drop=(("status", "x"),))),
        replace(LONG, filters=Filters(time="seconds", min_time=1)),
        replace(LONG, recode=(MapValues("region", (("a", "b"),)),)),
        replace(LONG, label="any", recode=(Combine(("q1", "q2"), ("Yes", "No"), "any"),)),
        DataSpec("raters-by-items", rater="person"),
    ):
        with pytest.raises(DataError):
            fitting(VOTES, RATERS, spec, ())


# The Data page's tables.
def test_tables_of_the_data_page():
    votes = "item rater label g h/a r1 Yes x 1/a r2 No y 1/b r1 Yes x 1/b r2 No y 1/b r3 No x 2/c r4 No NA 2"
    data = load(text_table(votes), None, replace(LONG, missing=("NA",)), ["g", "h"])
    assert label_counts(data).to_numpy().tolist() == [["No", 4, 4 / 6], ["Yes", 2, 2 / 6]]
    table = axis_counts(data, "g")
    assert table.columns.tolist() == ["g", "raters", "annotations", "share"]
    assert table.to_numpy().tolist() == [["x", 2, 3, 0.5], ["y", 1, 2, 0.25], ["(unknown)", 1, 1, 0.25]]
    table = cross_table(data, "g", "h")
    assert table.index.tolist() == ["x", "y", "(unknown)", "Total"]
    assert table.columns.tolist() == ["1", "2", "Total"]
    assert table.to_numpy().tolist() == [[1, 1, 2], [1, 0, 1], [0, 1, 1], [2, 2, 4]]


# Raters files whose ids are not those of the annotations: not matched, but told how they would be.
def tables(own: list[str], theirs: list[str], key: str = "rater") -> tuple[Table, Table]:
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


def test_ids_that_would_match_are_told_unless_they_may_be_two() -> None:
    with pytest.raises(DataError, match=r"use the same rater ids in both files$"):
        load(*tables(["ann", "bob"], ["x", "y"]), LONG, ["age"])
    assert alike(["p1"], ["P1", "p1 "]) is not None  # by spaces alone it is one
    assert alike(["p1"], ["P1", "P1 "]) == alike(["p1"], ["P1"])
    assert alike(["x1"], ["y1", "z1"]) is None
    assert alike([], ["a"]) is None
    data = load(*tables(["p1", "p2", "p3"], ["p1", "P2", "other"]), LONG, ["age"])
    assert data.raters.axes["age"].codes.tolist() == [0, -1, -1]
    (note,) = [problem for problem in data.problems if "would match" in problem.message]
    assert "1 id would match a rater but for upper and lower case" in note.message
    assert note.examples == ("P2",)


def test_conflicting_values_and_numbers_written_in_two_ways_are_told() -> None:
    rows = [[item, f"r{n}", "xy"[n % 2], "wm"[n % 2], item] for n in range(10) for item in "ab"]
    header = ["item", "rater", "label", "gender", "batch"]
    assert "no axis" not in str(load(rows_table([header, *rows]), None, LONG).problems)
    rows[1][3] = "m"
    data = load(rows_table([header, *rows]), None, LONG)
    assert "gender" not in data.raters.axes
    (note,) = [problem for problem in data.problems if "no axis" in problem.message]
    assert "rows 2 and 3, column 'gender': rater 'r0' has 'w' and 'm'" in note.message
    assert "batch" not in str(data.problems)
    problems = load(text_table("item rater label/a 1 1.0/a 2 1/b 1.0 2"), None, LONG).problems
    messages = " | ".join(problem.message for problem in problems)
    assert "'1.0' (1 cell) and '1' (1 cell) differ only by how a number is written" in messages
    assert "column 'rater': 1 id is there" in messages
    assert "or by decimals" in messages


# Memory
ITEMS, RATERS_MEMORY = 5_000, 400
MOST_BYTES = 14


@pytest.fixture(scope="module")
def table() -> Table:
    """Two million annotations in no order, each rater of one gender."""
    rng = np.random.default_rng(1)
    cell = rng.permutation(ITEMS * RATERS_MEMORY)
    codes = {
        "item": (cell // RATERS_MEMORY, [f"i{i}" for i in range(ITEMS)]),
        "rater": (cell % RATERS_MEMORY, [f"r{j}" for j in range(RATERS_MEMORY)]),
        "label": (rng.integers(0, 3, cell.size), ["No", "Yes", "Unsure"]),
        "gender": (cell % 2, ["Woman", "Man"]),
    }
    coded = pa.DictionaryArray.from_arrays
    arrays = {name: coded(own.astype(np.int32), values) for name, (own, values) in codes.items()}
    return Table(pa.table(arrays), "Parquet", 1, name="votes.parquet", sha256="0" * 64, bytes=0)


@pytest.mark.parametrize(
    "more", [{}, {"missing": ("Unsure",)}, {"repeated": "first"}, {"exclude": (("gender", "Man"),)}]
)
def test_reading_takes_few_bytes_an_annotation(table, more):
    tracemalloc.start()
    try:
        data = load(table, None, replace(LONG, **more), ["gender"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert data.summary.annotations > 900_000
    assert peak / (ITEMS * RATERS_MEMORY) < MOST_BYTES
