"""Prolific's demographic export.

Sample written by hand. Base fields: https://docs.prolific.com/api-reference/studies/export-demographic-data.
The columns' spelling, CONSENT_REVOKED and DATA_EXPIRED are as published analyses of such exports expect them.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.exports import read_or_refused, recipe_of
from tests.reading.making import csv_bytes

HEADER = [
    *("Submission id", "Participant id", "Status", "Started at", "Completed at", "Time taken"),
    *("Total approvals", "Age", "Sex", "Ethnicity simplified", "Nationality"),
]
PEOPLE = [
    ("p1", "APPROVED", "31", "Female", "White", "Kenya"),
    ("p2", "APPROVED", "44", "Female", "Prefer not to say", "Peru"),
    ("p3", "APPROVED", "19", "Male", "White", "Oman"),
    ("p4", "APPROVED", "DATA_EXPIRED", "Male", "Asian", "Chad"),
    ("p5", "APPROVED", "CONSENT_REVOKED", "CONSENT_REVOKED", "CONSENT_REVOKED", "CONSENT_REVOKED"),
    ("p6", "RETURNED", "52", "Male", "Prefer not to say", "Fiji"),
    ("p6", "APPROVED", "52", "Male", "Prefer not to say", "Fiji"),
]
VOTES = "item,rater,label\n" + "".join(
    f"{item},p{rater},{vote}\n"
    for item, votes in (("i1", "YYNNYN"), ("i2", "NYNYYY"))
    for rater, vote in enumerate(votes, start=1)
)


def export(people: list[tuple[str, ...]] = PEOPLE) -> bytes:
    rows = [
        [f"s{at}", person, status, "2024-01-01", "2024-01-02", "60", "12", *rest]
        for at, (person, status, *rest) in enumerate(people)
    ]
    return csv_bytes([HEADER, *rows])


def test_answers_to_which_the_export_was_joined_are_annotations() -> None:
    rows = [
        [f"s{rater}", f"p{rater}", "APPROVED", "a", "b", "60", "12", "31", "FM"[rater % 2], "White", "Peru"]
        for rater in range(6)
    ]
    joined = [
        [*row, f"i{item}", str((rater + item) % 3)] for rater, row in enumerate(rows) for item in range(5)
    ]
    guess = recognise(read_table(csv_bytes([[*HEADER, "stim", "rating"], *joined]), "joined.csv"))
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("stim", "Participant id", "rating")
    assert "Sex" in guess.axes


def read(content: bytes) -> Table:
    return read_table(content, "prolific.csv")


def test_it_is_recognised_and_says_what_means_no_value() -> None:
    table = read(export())
    assert table.kind == "Prolific, CSV"
    recipe = recipe_of(table)
    assert recipe.spec is None
    assert recipe.missing == ("CONSENT_REVOKED", "DATA_EXPIRED")
    assert recipe.axes == (("Sex",), ("Ethnicity simplified",))  # ages and nationalities hardly recur
    with pytest.raises(DataError, match=r"prolific\.csv describes raters \(Prolific\)"):
        recognise(table)


def test_missing_texts_reach_the_data() -> None:
    votes, raters = read_table(VOTES.encode(), "votes.csv"), read(export())
    guess = recognise(votes, raters)
    assert guess.axes == ("Sex", "Ethnicity simplified")
    assert {"", "CONSENT_REVOKED", "DATA_EXPIRED"} <= set(guess.spec.missing)
    dataset = load(votes, raters, guess.spec, guess.axes)
    assert (dataset.summary.items, dataset.summary.raters, dataset.summary.annotations) == (2, 6, 12)
    assert dataset.raters.axes["Sex"].values == ("Female", "Male")
    assert dataset.raters.axes["Ethnicity simplified"].values == ("Asian", "Prefer not to say", "White")
    assert dataset.raters.axes["Sex"].codes.tolist() == [0, 0, 1, 1, -1, 1]


def test_the_older_form() -> None:
    header = "session_id,participant_id,status,started_datetime,completed_date_time,time_taken,age"
    rows = [f"s{at},p{at},APPROVED,a,b,60,{20 + at},3,0,100,{sex}" for at, sex in enumerate("FMFM")]
    old = [f"{header},num_approvals,num_rejections,prolific_score,Sex", *rows, ""]
    table = read("\n".join(old).encode())
    assert table.kind == "Prolific, CSV"
    assert recipe_of(table).axes == (("Sex",),)


def test_a_file_that_only_names_participants_is_another() -> None:
    table = read(b"participant_id,status,item,label\np1,ok,i1,x\n")
    assert table.recipe is None


@given(st.data())
def test_nothing_breaks_it(data: st.DataObject) -> None:
    cell = st.sampled_from(["", "CONSENT_REVOKED", "Female", "31", '"', "a,b", "\n"])
    people = data.draw(st.lists(st.tuples(*[cell] * 6), min_size=1, max_size=5))
    header = data.draw(st.permutations(HEADER))
    body = export(people).split(b"\n", 1)[1]
    read_or_refused(",".join(header).encode() + b"\n" + body, "prolific.csv")
