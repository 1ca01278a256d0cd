"""Everything read is used or left out for a reason, in every layout; items as the files describe them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.data_spec import Bins, DataSpec, Filters, MapValues, Question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.outcome import Account, LeftOut
from grasp_core.model.remarks.cautions import LeftOutReason, Skipped
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DataSummary
from grasp_core.reading.dataset._items import LONGEST, MAX_SLICES
from grasp_core.reading.dataset.filters import GroupShare
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.table.table import Table
from grasp_core.report.account import account_sentence, unused_sentence
from grasp_core.report.public_view import public_summary
from tests.commands import ran
from tests.reading.exports import spec_of, table_of
from tests.reading.making import LONG, crossed, labels_of, refusal_of, rows_table, text_table

LABELS = st.sampled_from(("x", "y", "z", "", "NA"))
FILTERS = st.builds(
    Filters,
    drop=st.sampled_from(((), (("status", "bad"),), (("status", "bad"), ("status", "none")))),
    raters=st.sampled_from(((), ("r",), ("nobody",))),
    items=st.sampled_from(((), ("a",))),
    min_per_rater=st.integers(1, 2),
    min_per_item=st.integers(1, 2),
)
CELLS = (
    st.sampled_from("abc"),
    st.sampled_from("rst"),
    LABELS,
    LABELS,
    st.sampled_from(("ok", "bad")),
    LABELS,
)
ROWS = st.lists(st.tuples(*CELLS), min_size=1, max_size=16)
ANCHOR = [("d", "u", "x", "x", "ok", "x"), ("d", "v", "y", "y", "ok", "x")]
"""Rows that no filter leaves out, so that something is left."""


def account(table: Table, spec: DataSpec, raters: Table | None = None) -> Account:
    found = load(table, raters, spec, ()).summary.account
    assert found.read == found.used + sum(one.count for one in found.left_out)
    assert all(one.count > 0 for one in found.left_out)
    assert len({one.reason for one in found.left_out}) == len(found.left_out)
    return found


@given(ROWS, FILTERS, st.sampled_from(("first", "last")), st.booleans(), st.sampled_from((("",), ("", "NA"))))
def test_a_long_file(rows, filters, repeated, several, missing) -> None:
    header = ["item", "rater", "q1", "q2", "status", "mark"]
    filters = replace(filters, min_per_item=min(filters.min_per_item, 2), min_per_rater=1)
    how = {"repeated": repeated, "missing": missing, "filters": filters}
    further = (Question("q2"),) if several else ()
    spec = DataSpec(item="item", rater="rater", label="q1", further=further, **how)
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


@given(ROWS, st.booleans(), st.sampled_from(((), ("r",))))
def test_a_matrix_counts_its_cells(rows, by_rater, raters_out) -> None:
    key, layout = ("rater", "raters-by-items") if by_rater else ("item", "items-by-raters")
    cells = [[f"{n}", row[2], row[3], row[5], ""] for n, row in enumerate([*rows, *ANCHOR])]
    spec = DataSpec(layout, **{key: key}, ignore=("note", "empty"), filters=Filters(raters=raters_out))
    found = account(rows_table([[key, "r", "s", "note", "empty"], *cells]), spec)
    noted = sum(row[3] != "" for row in cells)
    assert found.unit == "cell"
    assert found.read == 2 * len(cells) + noted
    aside = LeftOutReason.COLUMN_PUT_ASIDE(column="note")
    assert {one.reason: one.count for one in found.left_out}.get(aside, 0) == noted


def test_every_reason_is_counted_once() -> None:
    table = text_table(
        "item rater label out status mark/a r1 Yes no ok 1/a r1 Yes no ok 1/a r1 No no ok 1/a r2 No no bad 1/"
        "b r2 No no ok 1/b r3 No yes ok 1/b r4 - no ok 1"
    )
    spec = replace(
        LONG,
        missing=("", "-"),
        exclude=(("out", "yes"),),
        filters=Filters(drop=(("status", "bad"),)),
        repeated="first",
        recode=(MapValues("mark", (("1", "2"),)),),
    )
    later = "later answers of a rater to the same item, by the order of rows"
    left_out = {
        LeftOutReason.NO_LABEL(): ("no label", 1),
        LeftOutReason.RATERS_WITH(values=("'out' = 'yes'",)): ("raters with 'out' = 'yes'", 1),
        LeftOutReason.WITH_VALUE(column="status", value="bad"): ("'status' = 'bad'", 1),
        LeftOutReason.ANSWERED_AGAIN(which="later"): (later, 2),
    }
    counts = tuple(LeftOut(reason, count) for reason, (_, count) in left_out.items())
    assert account(table, spec) == Account("row", 7, 2, counts, ("mark",))
    assert [str(reason) for reason in left_out] == [said for said, _ in left_out.values()]


def test_used_columns_are_not_named_as_unused_and_strangers_see_no_names() -> None:
    table = text_table("item rater label when ms gold text g h/a r1 x 1 5 x t m 1/b r2 y 1 5 x t w 2")
    filters = Filters(time="ms", min_time=1, gold="gold", min_gold=0)
    spec = replace(LONG, filters=filters, repeated="last", order="when", text="text")
    assert load(table, None, spec, ["g"]).summary.account.unused == ("h",)
    table = text_table("item rater label h/a r1 x Smith/b r2 y Jones/c r2 y Jones")
    spec = replace(LONG, filters=Filters(drop=(("h", "Smith"),)))
    shown = public_summary(load(table, None, spec, ()).summary)
    assert "Smith" not in str(shown)
    assert shown.account == Account("row", 3, 2, (LeftOut(LeftOutReason.ANY_REASON(), 1),))


def test_it_goes_through_a_file_and_older_files_have_none() -> None:
    table = text_table("item rater label h/a r1 x 1/b r2 y 2/b r3 - 2")
    summary = load(table, None, replace(LONG, missing=("-",)), ()).summary
    plain = to_json(summary)
    assert from_json(plain, DataSummary) == summary
    (gone,) = plain["account"]["left_out"]
    assert gone == {"reason": {"code": "no-label", "numbers": {}, "text": "no label"}, "count": 1}
    older = {**plain, "account": {**plain["account"], "left_out": [{"reason": "no label", "count": 1}]}}
    assert account_sentence(from_json(older, DataSummary).account) == account_sentence(summary.account)
    del plain["account"]
    assert from_json(plain, DataSummary) == replace(summary, account=None)


def test_sentences() -> None:
    assert account_sentence(Account("row", 1_000, 1_000)) == "1,000 rows read: 1,000 annotations, 0 left out"
    many = Account("answer", 37, 1, tuple(LeftOut(said(f"reason {n}"), n) for n in range(1, 9)), ("h",))
    told = account_sentence(many)
    assert told.startswith("37 answers read: 1 answer, 36 left out (1 reason 1; 2 reason 2; ")
    assert told.endswith("; 6 reason 6; 15 for 2 more reasons)")
    assert unused_sentence(many) == "columns not used: 'h'"
    assert unused_sentence(Account("row", 1, 1)) == ""


@pytest.mark.parametrize("command", ["quality", "run"])
def test_the_commands_say_it(tmp_path, capsys, command: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,rater,label,g,note\na,r,x,r,0\na,s,y,s,1\nb,r,x,r,2\nb,s,y,s,3\nb,t,,r,5\n")
    columns = ["--item", "item", "--rater", "rater", "--label", "label", "--axis", "g"]
    few = ["--permutations", "20", "--min-raters", "1"] if command == "run" else []
    said = ran(capsys, command, "--annotations", str(path), *columns, *few).err
    assert "note: 5 rows read: 4 annotations, 1 left out (1 no label)\n" in said
    assert "note: columns not used: 'note'\n" in said


def test_what_a_reader_left_out_is_accounted_for() -> None:
    def result(user: int, label: str) -> dict[str, object]:
        choice = {"from_name": "q", "to_name": "t", "type": "choices", "value": {"choices": [label]}}
        return {"completed_by": user, "result": [choice], "was_cancelled": label == ""}

    answers = [result(1, "a"), result(2, "b"), result(3, "")]
    table = table_of([{"id": n, "data": {"text": "x"}, "annotations": answers} for n in range(3)])
    found = account(table, spec_of(table))
    assert (found.read, found.used) == (9, 6)
    assert found.left_out[0] == LeftOut(Skipped.CANCELLED(), 3)


def test_annotations_of_raters_are_not_said_to_be_so_many_raters() -> None:
    listed = LeftOutReason.LISTED_ITEMS()
    for reason, told in (
        (LeftOutReason.AT_CHANCE(), "400 annotations of raters whose labels agree"),
        (LeftOutReason.RATERS_WITH(values=("a",)), "400 annotations of raters with a"),
        (LeftOutReason.IN_QUESTION(reason=listed, question="q"), "400 annotations of items"),
        (LeftOutReason.NO_LABEL(), "400 no label"),
    ):
        assert f"400 left out ({told}" in account_sentence(Account("row", 900, 500, (LeftOut(reason, 400),)))


# Filters
FILTERED = (
    "item rater label gender ms status gold/a r1 Yes w 900 ok Yes/a r2 No m 100 ok Yes/a r3 Yes m 950 ok Yes/"
    "b r1 No w 800 ok No/b r2 Yes m '' bad No/b r3 No m 5000 ok No/c r1 No w 700 ok ''/c r2 '' m 700 ok ''"
)


def filtered(spec: DataSpec = LONG, **filters: object) -> Dataset:
    return load(text_table(FILTERED), None, replace(spec, filters=Filters(**filters)), ["gender"])


def left(data: Dataset) -> list[str]:
    return [f"{item} {rater}" for item, rater in labels_of(data.annotations)]


ALL = ["a r1", "a r2", "a r3", "b r1", "b r2", "b r3", "c r1"]


def gone(**filters: object) -> list[str]:
    kept = left(filtered(**filters))
    assert kept == [pair for pair in ALL if pair in kept]
    return [pair for pair in ALL if pair not in kept]


def test_what_is_left_out():
    assert gone() == []
    assert gone(drop=(("status", "bad"),)) == ["b r2"]
    assert gone(raters=("r1",)) == ["a r1", "b r1", "c r1"]
    assert gone(items=("a", "c")) == ["a r1", "a r2", "a r3", "c r1"]
    assert gone(time="ms", min_time=800) == ["a r2", "b r2", "c r1"]
    assert gone(time="ms", max_time=950) == ["b r2", "b r3"]
    assert gone(gold="gold", min_gold=0.5) == ["a r2", "b r2"]
    assert gone(gold="gold", min_gold=0.0) == []
    assert gone(min_per_rater=3) == ["a r2", "a r3", "b r2", "b r3"]
    assert gone(min_per_item=2) == ["c r1"]
    # r3 goes first, with one annotation in time; item b then has one left and goes, too.
    few = {"time": "ms", "max_time": 999, "min_per_rater": 2, "min_per_item": 1}
    assert gone(**few) == ["a r2", "a r3", "b r2", "b r3"]


def test_the_account_by_group():
    data = filtered(raters=("r2",), min_per_item=2)
    first, second = data.removals
    assert str(first.filter) == "raters on the exclusion list"
    assert (first.annotations, first.raters, first.items) == (2, 1, 0)
    assert first.groups["gender"] == (
        GroupShare("w", annotations=3, removed_annotations=0, raters=1, removed_raters=0),
        GroupShare("m", annotations=4, removed_annotations=2, raters=2, removed_raters=1),
    )
    assert (second.annotations, second.raters, second.items) == (1, 0, 1)
    notes = [problem.message for problem in data.problems]
    assert "left out: 2 annotations, 1 rater (raters on the exclusion list)" in notes


def test_exclusions_unknown_groups_and_what_is_named_in_vain_are_in_the_account():
    data = load(text_table(FILTERED), None, replace(LONG, exclude=(("gender", "w"),)))
    assert [str(removal.filter) for removal in data.removals] == ["raters with 'gender' = 'w'"]
    assert data.removals[0].raters == 1
    unknown = text_table(FILTERED.replace(" w ", " '' "))
    data = load(unknown, None, replace(LONG, filters=Filters(raters=("r1",))), ["gender"])
    assert [share.value for share in data.removals[0].groups["gender"]] == [None, "m"]
    data = filtered(raters=("r9", "r8"), items=("z",), drop=(("status", "never"),))
    notes = " ".join(problem.message for problem in data.problems)
    assert "2 raters of the list to leave out are not in votes.csv" in notes
    assert "1 item of the list to leave out is not in votes.csv" in notes
    assert "no annotation has 'status' = 'never'" in notes


def test_gold_of_a_matrix_has_a_column_of_its_own_and_is_recoded_with_the_raters():
    spec = DataSpec(layout="items-by-raters", item="item", filters=Filters(gold="gold", min_gold=0.8))
    data = load(text_table("item r1 r2 gold/a Yes No Yes/b No Yes No"), None, spec)
    assert data.annotations.rater_ids == ("r1",)
    spec = replace(spec, filters=Filters(drop=(("split", "train"),)))
    data = load(text_table("item r1 r2 split/a Yes No test/b No Yes train"), None, spec)
    assert left(data) == ["a r1", "a r2"]
    assert data.annotations.categories == ("No", "Yes")
    steps = (MapValues(None, (("Yes", "bad"), ("No", "good"))),)
    recoded = replace(LONG, recode=steps)
    gold = {"gold": "gold", "min_gold": 0.5}
    assert left(filtered(recoded, **gold)) == left(filtered(**gold)) != ALL


def test_filters_that_cannot_be_applied():
    for sentence, filters in {
        "no column 'statsu'; did you mean 'status'": {"drop": (("statsu", "bad"),)},
        "no column 'duration'": {"time": "duration", "min_time": 1},
        "no column 'expert'": {"gold": "expert", "min_gold": 1},
        "it holds 'ok', 'bad', none of which is a label": {"gold": "status", "min_gold": 0.5},
        "no annotation left": {"min_per_rater": 99},
    }.items():
        with pytest.raises(DataError, match=sentence):
            filtered(**filters)


# Items as the files describe them: attributes from either file, and what is wrong with them.
BESIDE = replace(LONG, items_id="id")
ITEMS = ("p", "q", "r", "s")


def votes(*more: tuple[str, list[str]]) -> Table:
    """Two raters of each item; columns of `more` have a value per item."""
    header = ",".join(["item,rater,label,side", *(name for name, _ in more)])
    given = [values for _, values in more]
    return crossed(
        header, lambda n, m: (ITEMS[n], m + 1, "xy"[(n + m) % 2], "lr"[m], *(own[n] for own in given)), 4, 2
    )


def about(column: Sequence[str], ids: Sequence[str] = ITEMS, name: str = "topic") -> Table:
    return rows_table([["id", name], *zip(ids, column, strict=True)], "items.csv")


def values(data: Dataset, name: str) -> dict[str, str | None]:
    axis = data.attributes[name]
    assert len(axis.codes) == data.annotations.n_items
    return {
        item: None if code < 0 else axis.values[code]
        for item, code in zip(data.annotations.item_ids, axis.codes, strict=True)
    }


def refused(annotations: Table, items: Table | None, *names: str, spec=BESIDE) -> str:
    return refusal_of(lambda: load(annotations, None, spec, [], items=items, slices=names))


def test_columns_of_either_file_describe_items_or_only_what_is_named() -> None:
    data = load(votes(("source", ["b", "b", "a", ""])), None, BESIDE, items=about(["t", "u", "t", "u"]))
    assert values(data, "topic") == {"p": "t", "q": "u", "r": "t", "s": "u"}
    assert values(data, "source") == {"p": "b", "q": "b", "r": "a", "s": None}
    assert set(data.attributes) == {"topic", "source"}  # neither ids, labels nor what varies within an item
    assert [file.name for file in data.summary.files] == ["votes.csv", "items.csv"]
    files = votes(("source", ["b", "b", "a", "a"])), None, BESIDE, ["side"]
    items = about(["t", "u", "t", "u"])
    assert not load(*files, items=items).attributes
    assert set(load(*files, items=items, slices=["topic"]).attributes) == {"topic"}


def test_the_items_file_decides_in_any_order_and_a_difference_is_told() -> None:
    data = load(votes(), None, BESIDE, items=about(["z", "y", "z", "y"], ("s", "r", "q", "p")))
    assert values(data, "topic") == {"p": "y", "q": "z", "r": "y", "s": "z"}
    spec = replace(BESIDE, filters=replace(BESIDE.filters, items=("q",)))
    data = load(votes(), None, spec, ["side"], items=about(["t", "x", "u", "t"]), slices=["topic"])
    assert values(data, "topic") == {"p": "t", "r": "u", "s": "t"}
    assert data.attributes["topic"].values == ("t", "u")
    own = votes(("topic", ["t", "u", "t", "u"]))
    data = load(own, None, BESIDE, ["side"], items=about(["t", "u", "u", ""]), slices=["topic"])
    assert values(data, "topic") == {"p": "t", "q": "u", "r": "u", "s": "u"}
    (note,) = [problem for problem in data.problems if "disagree" in problem.message]
    assert note.message == "items.csv and votes.csv disagree on 'topic' for 1 item; items.csv decides"
    assert note.examples == ("r",)


def test_rows_and_items_that_are_left_out_describe_no_item() -> None:
    rows = [["item", "rater", "label", "skip", "source"], ["p", "3", "x", "yes", "b"]]
    rows += [[item, rater, "xy"[n % 2], "no", "ab"[n % 2]] for n, item in enumerate(ITEMS) for rater in "12"]
    table = rows_table(rows)
    assert "item 'p' has 'b' and 'a'" in refused(table, None, "source", spec=LONG)
    spec = replace(LONG, filters=Filters(drop=(("skip", "yes"),)))
    found = load(table, None, spec, [], slices=["source"])
    assert values(found, "source") == {"p": "a", "q": "b", "r": "a", "s": "b"}
    assert "source" in load(table, None, spec).attributes
    assert "source" not in load(table, None, LONG).attributes
    left_out = replace(LONG, filters=Filters(items=("p",)))
    assert load(table, None, left_out, [], slices=["source"]).attributes["source"].values == ("a", "b")


def test_matrices_take_attributes_from_the_items_file_and_from_columns_left_aside() -> None:
    table = text_table("item A B topic/p x y t/q x y u/r x y t/s x y u")
    by_item = replace(LONG, layout="items-by-raters", rater=None, label=None, ignore=("topic",))
    assert values(load(table, None, by_item), "topic") == dict(zip(ITEMS, "tutu", strict=True))
    kinds, told = about("aabb", name="kind"), dict(zip(ITEMS, "aabb", strict=True))
    assert values(load(table, None, replace(by_item, items_id="id"), items=kinds), "kind") == told
    turned = text_table("rater p q r s/A x x y y/B x y x y")
    by_rater = replace(BESIDE, layout="raters-by-items", item=None, label=None)
    assert values(load(turned, None, by_rater, items=kinds), "kind") == told


def test_attributes_are_recoded_in_both_files() -> None:
    steps = (MapValues("topic", (("", "none"),)), Bins("length", (10.0,), ("short", "long")))
    rows = [["id", "topic", "length"], *zip(ITEMS, ["t", "", "t", "t"], ["9", "12", "100", "3"], strict=True)]
    spec = replace(BESIDE, recode=steps)
    data = load(votes(), None, spec, [], items=rows_table(rows, "items.csv"), slices=["topic", "length"])
    assert values(data, "topic")["q"] == "none"  # declared, so it is a slice of its own
    assert data.attributes["length"].values == ("short", "long")  # ranges in their order
    assert values(data, "length") == {"p": "short", "q": "long", "r": "long", "s": "short"}


def test_ids_that_do_not_match() -> None:
    for ids, told in (
        ("wxyz", "use the same item ids in both files, or name another column of ids"),
        ("PQRS", "all would match but for upper and lower case, as 'p' there and 'P' here"),
    ):
        message = refused(votes(), about("tttt", ids))
        none = "none of the items of votes.csv ('p', 'q', 'r' and 1 more) is in column 'id'"
        assert message.startswith(none)
        assert told in message


def test_ids_some_of_which_match() -> None:
    items = about(["t", "u", "t"], ("p", "q", "R "))
    data = load(votes(), None, BESIDE, [], items=items, slices=["topic"])
    assert values(data, "topic") == {"p": "t", "q": "u", "r": None, "s": None}
    notes = {problem.message: problem.examples for problem in data.problems}
    said = "2 items with annotations are not in column 'id' of items.csv, so what only that file says of them"
    assert notes[f"{said} is unknown"] == ("r", "s")
    assert notes["1 item in items.csv has no annotations and does not count"] == ("R ",)
    assert any("1 id would match an item but for spaces, case" in message for message in notes)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (about("tutu", "pqpq"), "rows 2 and 4, column 'id': item 'p' is there more"),
        (about("tutu", "pqr "), "row 5, column 'id': the item id is blank"),
        (about("tu", "pq"), "has a column 'kind'"),
        (about(["t", "t", "t", ""]), "'topic' has only 't' among the items that count"),
        (about([""] * 4), "'topic' has no value among the items that count"),
        (about(["t", "u", "t", "x" * (LONGEST + 1)]), f"row 5, column 'topic': a text of {LONGEST + 1}"),
        (about(["t" * 1_000_000, "u", "t", "v"]), "a text of 1,000,000 characters names no slice"),
    ],
)
def test_what_is_wrong_with_an_items_file(items: Table, said: str) -> None:
    assert said in refused(votes(), items, "kind" if "kind" in said else "topic")


def test_a_catalogue_counts_for_the_items_that_were_rated_and_has_few_values() -> None:
    further = [f"topic {'of great length ' * 20}{n}" for n in range(200)]
    items = about([*"tutu", *further], (*ITEMS, *(f"further {n}" for n in range(200))))
    data = load(votes(), None, BESIDE, items=items, slices=["topic"])
    assert values(data, "topic") == {"p": "t", "q": "u", "r": "t", "s": "u"}
    assert set(load(votes(), None, BESIDE, items=items).attributes) == {"topic"}
    rated = crossed("item,rater,label", lambda n, m: (f"i{n}", m, "x"), items=10_000, raters=2)
    ids = [f"i{n}" for n in range(10_000)]
    items = about([f"topic {item}" for item in ids], ids)
    with pytest.raises(DataError, match=f"10,000 different values were found, at most {MAX_SLICES}"):
        load(rated, None, BESIDE, [], items=items, slices=["topic"])
    assert not load(rated, None, BESIDE, items=items).attributes


def test_columns_that_make_no_slices_and_files_that_do_not_go_together() -> None:
    for name, sentence in (
        ("label", "column 'label' holds labels, of which no slices are made"),
        ("item", "column 'item' holds ids, of which no slices are made"),
        ("words", "column 'words' holds the items' texts, of which no slices are made"),
        ("side", "rows 2 and 3, column 'side': item 'p' has 'l' and 'r' (and 3 more items likewise)"),
    ):
        own = votes(("words", ["a", "b", "c", "d"]))
        assert sentence in refused(own, None, name, spec=replace(LONG, text="words"))
    topics = about("tutu")
    assert "no items file was given" in refused(votes(), None)
    with pytest.raises(SpecError, match="an items file needs `items_id`"):
        load(votes(), None, LONG, items=topics)
    with pytest.raises(SpecError, match="`items_member` is of an items file"):
        replace(LONG, items_member="Sheet1")
    unnamed = replace(BESIDE, layout="items-by-raters", item=None, rater=None, label=None)
    with pytest.raises(DataError, match=r"no column of votes.csv holds item ids, so items.csv cannot"):
        load(text_table("A B/x y/x x"), None, unnamed, items=topics)
    with pytest.raises(DataError, match=r"items.csv has no column 'idd'; did you mean"):
        load(votes(), None, replace(BESIDE, items_id="idd"), items=topics)
