"""Several columns for each rater: taken apart where names say who is the rater, and not otherwise."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading.making import rows_table, text_table
from tests.shared_data import SHARED, needs_shared_data

PAIRS = (
    "{rater}_{question}",
    "{question}_{rater}",
    "{rater}.{question}",
    "{rater} {question}",
    "{rater}: {question}",
    "('{rater}', '{question}')",
)
RATERS = ("P{:02d}", "rater{}", "annotator_{}", "2967085817827{:02d}")


@settings(deadline=None)  # the first file read may wait for a process
@given(
    st.sampled_from(PAIRS),
    st.sampled_from(RATERS),
    st.integers(2, 6),
    st.sampled_from((("offensive", "sarcastic"), ("label", "time"), ("toxic label", "is hate", "why"))),
    st.integers(0, 999),
)
def test_pairs_become_a_row_per_annotation(pattern, style, n, questions, seed):
    rng = random.Random(seed)
    raters = [style.format(j) for j in range(1, n + 1)]
    header = ["item", *(pattern.format(rater=r, question=q) for r in raters for q in questions), "majority"]
    rows, true = [header], []
    for i in range(8):
        cells = []
        for rater in raters:
            answers = [rng.choice(("1", "2", "3", "")) for _ in questions]
            cells += answers
            if any(answers):
                true.append((f"C{i}", rater, *answers))
        rows.append([f"C{i}", *cells, "1"])
    table = rows_table(rows)
    spec = recognise(table).spec
    assert (spec.layout, spec.item, spec.rater) == ("long", "item", "rater")
    assert spec.label in questions
    names = ("item", "rater", *questions)
    assert [tuple(table.cell(name, row) for name in names) for row in range(len(table))] == true


def test_rows_are_those_of_the_file():
    table = text_table("item P1_off P1_sar P2_off P2_sar/a 1 y 2 n/b 3 y 4 n")
    assert [table.row(position) for position in range(4)] == [2, 2, 3, 3]


def test_where_a_row_is_a_rater_the_columns_are_items():
    table = text_table(
        "participant stim1_rating stim1_rt stim2_rating stim2_rt age/a 1 90 2 80 30/b 3 70 4 60 20"
    )
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("item", "participant", "rating")
    assert load(table, None, guess.spec).summary.items == 2


def test_one_label_column_per_rater():
    table = text_table("item P1_label P2_label P3_label/a 1 2 2/b 3 2 1")
    assert table.distinct("rater") == ("P1", "P2", "P3")


def test_raters_named_beside_their_labels():
    text = "id,text,annotator1,label1,time1,annotator2,label2,time2\n1,x,ann,1,3,bob,2,4\n2,y,cid,1,5,,,\n"
    table = read_table(text.encode(), "votes.csv")
    spec = recognise(table).spec
    assert (spec.item, spec.rater, spec.label, spec.text) == ("id", "annotator", "label", "text")
    votes = load(table, None, spec)
    assert votes.annotations.rater_ids == ("ann", "bob", "cid")
    assert votes.summary.annotations == 3


def test_short_words_for_raters_name_them_beside_their_labels():
    text = "id,ann1,ann1_label,ann1_conf,ann2,ann2_label,ann2_conf\n1,w7,a,5,w8,b,4\n2,w9,a,3,w7,b,1\n"
    table = read_table(text.encode(), "slots.csv")
    spec = recognise(table).spec
    assert (spec.item, spec.rater, spec.label) == ("id", "ann", "ann_label")
    assert set(table.distinct("ann")) == {"w7", "w8", "w9"}


def test_a_column_called_as_a_rater_beside_what_it_took_is_not_left_out():
    rows = [["item", *(f"P{n}{more}" for n in range(1, 5) for more in ("", "_time", "_conf"))]]
    rows += [[f"i{i}", *(str((i * n) % 5) for n in range(12))] for i in range(9)]
    assert recognise(rows_table(rows)).uncertain


def test_a_label_beside_no_rater_is_refused():
    text = "id,annotator1,label1,annotator2,label2\n1,ann,1,bob,2\n2,cid,1,,2\n"
    with pytest.raises(DataError, match=r"row 3: 'label2' is filled and 'annotator2' is empty"):
        read_table(text.encode(), "votes.csv")


@pytest.mark.parametrize(
    "text",
    [
        "item alice_off alice_sar bob_off bob_sar/a 1 y 2 n/b 3 y 4 n",  # who is a rater?
        "key P1_off P1_sar P2_off P2_sar Q7/a 1 y 2 n 0/b 3 y 4 n 0",  # is P a rater or a picture?
        "item off_1 sar_1 off_2 sar_2/a 1 y 2 n/b 3 y 4 n",  # numbers are places
        "item label1 label2 label3/a 1 2 1/b 2 2 1/c 1 1 2",
        "item annotator1 annotator2 annotator3 label1 label2 label3/a 1 2 1 3 3 3/b 2 2 1 3 3 3",
    ],
)
def test_what_names_do_not_say_is_not_taken_apart(text):
    table = text_table(text)
    assert table.recipe is None
    assert any(reason.confidence == "unsure" for reason in recognise(table).reasons)


@needs_shared_data
def test_a_real_table():
    table = read_table(SHARED / "data" / "exports" / "survey" / "two_columns_per_annotator.csv")
    truth = read_table(SHARED / "data" / "exports" / "survey" / "truth_long.csv")
    names = ("item", "rater", "offensive", "sarcastic")
    five = {f"P{n:02d}" for n in range(1, 6)}
    votes = Counter(zip(*(table.data.column(name).to_pylist() for name in names), strict=True))
    true = Counter(
        vote
        for vote in zip(*(truth.data.column(n).to_pylist() for n in names), strict=True)
        if vote[1] in five
    )
    assert votes == true
