"""Everything read is used or left out for a reason, in every layout."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core import cli
from grasp_core.model.data_spec import DataSpec, Filters, MapValues, Question
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.outcome import Account, LeftOut
from grasp_core.model.remarks.cautions import LeftOutReason, Skipped
from grasp_core.model.remarks.remark import Remark, said
from grasp_core.model.result import DataSummary
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.report.account import account_sentence, unused_sentence
from grasp_core.report.public_view import public_summary
from tests.reading.making import LONG, csv_bytes, rows_table, text_table

LABELS = st.sampled_from(("x", "y", "z", "", "NA"))
FILTERS = st.builds(
    Filters,
    drop=st.sampled_from(((), (("status", "bad"),), (("status", "bad"), ("status", "none")))),
    raters=st.sampled_from(((), ("r",), ("nobody",))),
    items=st.sampled_from(((), ("a",))),
    min_per_rater=st.integers(1, 2),
    min_per_item=st.integers(1, 2),
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from("rst"), LABELS, LABELS, st.sampled_from(("ok", "bad")), LABELS
    ),
    min_size=1,
    max_size=16,
)
ANCHOR = [("d", "u", "x", "x", "ok", "x"), ("d", "v", "y", "y", "ok", "x")]
"""Rows that no filter leaves out, so that something is left."""


def account(table: Table, spec: DataSpec, raters: Table | None = None) -> Account:
    found = load(table, raters, spec, ()).summary.account
    assert found is not None
    assert found.read == found.used + sum(one.count for one in found.left_out)
    assert all(one.count > 0 for one in found.left_out)
    assert len({one.reason for one in found.left_out}) == len(found.left_out)
    return found


@settings(deadline=None)
@given(ROWS, FILTERS, st.sampled_from(("first", "last")), st.booleans(), st.sampled_from((("",), ("", "NA"))))
def test_a_long_file(rows, filters, repeated, several, missing) -> None:
    header = ["item", "rater", "q1", "q2", "status", "mark"]
    filters = replace(filters, min_per_item=min(filters.min_per_item, 2), min_per_rater=1)
    spec = DataSpec(
        item="item",
        rater="rater",
        label="q1",
        further=(Question("q2"),) if several else (),
        repeated=repeated,
        missing=missing,
        filters=filters,
    )
    found = account(rows_table([header, *rows, *ANCHOR]), spec)
    assert found.read == (len(rows) + 2) * (1 + several)
    assert found.unit == ("answer" if several else "row")
    answers = {
        (item, rater, question)
        for item, rater, *labels, _, _ in [*rows, *ANCHOR]
        for question, label in enumerate(labels[: 1 + several])
        if label not in missing
    }
    assert found.used == len(answers) if filters == Filters() else found.used <= len(answers)


@settings(deadline=None)
@given(ROWS, st.booleans(), st.sampled_from(((), ("r",))))
def test_a_matrix_counts_its_cells(rows, by_rater, raters_out) -> None:
    own, key = ("rater", "rater") if by_rater else ("item", "item")
    header = [own, "r", "s", "note", "empty"]
    cells = [[f"{n}", row[2], row[3], row[5], ""] for n, row in enumerate([*rows, *ANCHOR])]
    spec = DataSpec(
        layout="raters-by-items" if by_rater else "items-by-raters",
        **{key: own},
        ignore=("note", "empty"),
        filters=Filters(raters=raters_out),
    )
    found = account(rows_table([header, *cells]), spec)
    noted = sum(row[3] != "" for row in cells)
    assert found.unit == "cell"
    assert found.read == 2 * len(cells) + noted
    assert {one.reason: one.count for one in found.left_out}.get(
        LeftOutReason.COLUMN_PUT_ASIDE(column="note"), 0
    ) == noted


def test_every_reason_is_counted_once() -> None:
    table = text_table("""
    item rater label out status mark
    a    r1    Yes   no  ok     1
    a    r1    Yes   no  ok     1
    a    r1    No    no  ok     1
    a    r2    No    no  bad    1
    b    r2    No    no  ok     1
    b    r3    No    yes ok     1
    b    r4    -     no  ok     1
    """)
    spec = replace(
        LONG,
        missing=("", "-"),
        exclude=(("out", "yes"),),
        filters=Filters(drop=(("status", "bad"),)),
        repeated="first",
        recode=(MapValues("mark", (("1", "2"),)),),
    )
    assert account(table, spec) == Account(
        "row",
        7,
        2,
        (
            LeftOut(LeftOutReason.NO_LABEL(), 1),
            LeftOut(LeftOutReason.RATERS_WITH(values=("'out' = 'yes'",)), 1),
            LeftOut(LeftOutReason.WITH_VALUE(column="status", value="bad"), 1),
            LeftOut(LeftOutReason.ANSWERED_AGAIN(which="later"), 2),
        ),
        ("mark",),
    )
    assert [str(one.reason) for one in account(table, spec).left_out] == [
        "no label",
        "raters with 'out' = 'yes'",
        "'status' = 'bad'",
        "later answers of a rater to the same item, by the order of rows",
    ]


def test_axes_and_columns_that_are_used_are_not_named_as_unused() -> None:
    table = text_table("item rater label when ms gold text g h/a r1 x 1 5 x t m 1/b r2 y 1 5 x t w 2")
    filters = Filters(time="ms", min_time=1, gold="gold", min_gold=0)
    spec = replace(LONG, filters=filters, repeated="last", order="when", text="text")
    assert load(table, None, spec, ["g"]).summary.account.unused == ("h",)


def test_it_goes_through_a_file_and_older_files_have_none() -> None:
    summary = load(
        text_table("item rater label h/a r1 x 1/b r2 y 2/b r3 - 2"), None, replace(LONG, missing=("-",)), ()
    ).summary
    plain = to_json(summary)
    assert from_json(plain, DataSummary) == summary
    (gone,) = plain["account"]["left_out"]
    assert gone == {"reason": {"code": "no-label", "numbers": {}, "text": "no label"}, "count": 1}
    older = {**plain, "account": {**plain["account"], "left_out": [{"reason": "no label", "count": 1}]}}
    assert account_sentence(from_json(older, DataSummary).account) == account_sentence(summary.account)
    del plain["account"]
    assert from_json(plain, DataSummary) == replace(summary, account=None)


def test_strangers_see_counts_and_no_names() -> None:
    table = text_table("item rater label h/a r1 x Smith/b r2 y Jones/c r2 y Jones")
    spec = replace(LONG, filters=Filters(drop=(("h", "Smith"),)))
    shown = public_summary(load(table, None, spec, ()).summary)
    assert "Smith" not in str(shown)
    assert shown.account == Account("row", 3, 2, (LeftOut(LeftOutReason.ANY_REASON(), 1),))


def test_sentences() -> None:
    assert account_sentence(Account("row", 1_000, 1_000)) == "1,000 rows read: 1,000 annotations, 0 left out"
    many = Account("answer", 37, 1, tuple(LeftOut(said(f"reason {n}"), n) for n in range(1, 9)), ("h",))
    assert account_sentence(many) == (
        "37 answers read: 1 answer, 36 left out (1 reason 1; 2 reason 2; 3 reason 3; 4 reason 4; 5 reason 5; "
        "6 reason 6; 15 for 2 more reasons)"
    )
    assert unused_sentence(many) == "columns not used: 'h'"
    assert unused_sentence(Account("row", 1, 1)) == ""


@pytest.mark.parametrize("command", ["quality", "run"])
def test_the_commands_say_it(tmp_path, capsys, command: str) -> None:
    path = tmp_path / "votes.csv"
    rows = [["item", "rater", "label", "g", "note"]]
    rows += [
        [item, rater, "xy"[n % 2], rater, str(n)] for n, (item, rater) in enumerate(("ar", "as", "br", "bs"))
    ]
    rows.append(["b", "t", "", "r", "5"])
    path.write_bytes(csv_bytes(rows))
    columns = ["--item", "item", "--rater", "rater", "--label", "label", "--axis", "g"]
    few = ["--permutations", "20", "--min-raters", "1"] if command == "run" else []
    assert cli.main([command, "--annotations", str(path), *columns, *few]) == 0
    said = capsys.readouterr().err
    assert "note: 5 rows read: 4 annotations, 1 left out (1 no label)\n" in said
    assert "note: columns not used: 'note'\n" in said


def test_what_a_reader_left_out_is_accounted_for() -> None:
    def result(user: int, label: str) -> dict[str, object]:
        choice = {"from_name": "q", "to_name": "t", "type": "choices", "value": {"choices": [label]}}
        return {"completed_by": user, "result": [choice], "was_cancelled": label == ""}

    tasks = [
        {"id": n, "data": {"text": "x"}, "annotations": [result(1, "a"), result(2, "b"), result(3, "")]}
        for n in range(3)
    ]
    table = read_table(json.dumps(tasks).encode(), "export.json")
    assert table.recipe is not None
    found = account(table, table.recipe.spec)
    assert (found.read, found.used) == (9, 6)
    assert found.left_out[0] == LeftOut(Skipped.CANCELLED(), 3)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (LeftOutReason.AT_CHANCE(), "400 annotations of raters whose labels agree"),
        (LeftOutReason.RATERS_WITH(values=("a",)), "400 annotations of raters with a"),
        (
            LeftOutReason.IN_QUESTION(reason=LeftOutReason.LISTED_ITEMS(), question="q"),
            "400 annotations of items",
        ),
        (LeftOutReason.NO_LABEL(), "400 no label"),
    ],
)
def test_annotations_of_raters_are_not_said_to_be_so_many_raters(reason: Remark, told: str) -> None:
    assert f"400 left out ({told}" in account_sentence(Account("row", 900, 500, (LeftOut(reason, 400),)))
