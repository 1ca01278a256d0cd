"""Potato's states and exports.

Samples written by hand after https://github.com/davidjurgens/potato, docs/data-export/export_formats.md
(states, CSV, JSON Lines, Parquet) and, for the forms of version 1 with `schema:::label`, docs/data_format.md.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.formats.tools import potato
from grasp_core.reading.sandbox.read import read_table
from tests.reading.exports import (
    cells,
    lines,
    loaded,
    mangled,
    parquet,
    read_or_refused,
    spec_of,
    survives,
    table_of,
    textual,
)
from tests.reading.making import csv_bytes
from tests.zips import zipped

USERS = ("ann", "bob", "cem", "dot")
VOTES = {"i1": ("pos", "pos", "neg", "neg"), "i2": ("neg", "pos", "neg", "pos")}


def pairs() -> list[tuple[str, str, str]]:
    return [
        (item, user, vote) for item, votes in VOTES.items() for user, vote in zip(USERS, votes, strict=True)
    ]


def labels(user: str, vote: str) -> dict[str, Any]:
    why = {"text_box": f"because {user}"}
    return {"tone": {vote: "true"}, "likert": {"scale_3": "3"}, "why": why}


def exported() -> list[dict[str, Any]]:
    """annotations.jsonl of the export command."""
    return [
        {"instance_id": item, "user_id": user, "labels": labels(user, vote), "spans": {}, "links": {}}
        for item, user, vote in pairs()
    ]


def version_1(user: str | None = None) -> list[dict[str, Any]]:
    """annotated_instances.jsonl, of all annotators or of one."""
    about = {"span_annotations": {}, "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 5s "}}
    records = []
    for item, who, vote in pairs():
        ids = {"user": who, "instance_id": item} if user is None else {"id": item}
        tone = {"tone": {vote: {"pos": "1", "neg": "2"}[vote]}}
        if user in (None, who):
            records.append({**ids, "displayed_text": f"text {item}", "label_annotations": tone, **about})
    return records


def state(user: str) -> dict[str, Any]:
    own = {item: [[{"schema": "tone", "name": vote}, True]] for item, who, vote in pairs() if who == user}
    return {
        "user_id": user,
        "instance_id_ordering": ["i1", "i2"],
        "history": [{"lists": "of objects must not be taken for the records"}],
        "instance_id_to_label_to_value": own,
        "instance_id_to_span_to_value": {},
    }


def states() -> bytes:
    """The folders of all annotators, and one more file."""
    members = {f"{user}/user_state.json": json.dumps(state(user)).encode() for user in reversed(USERS)}
    members |= {"exports/readme.txt": b"hello"}
    return zipped({f"annotation_output/{name}": content for name, content in members.items()})


def csv_of(
    header: str, pos: list[str], neg: list[str], who: str | None = None, delimiter: str = ","
) -> bytes:
    """Votes as cells of the columns of both tones, of all annotators or of one."""
    rows = [
        [item, *([user] if who is None else []), f"text {item}", *(pos if vote == "pos" else neg)]
        for item, user, vote in pairs()
        if who in (None, user)
    ]
    return csv_bytes([header.split(","), *rows], delimiter)


def folders(ending: str) -> bytes:
    """As version 1 has them: called as the annotators."""
    header, delimiter = "instance_id,displayed_text,tone:::neg,tone:::pos", "," if ending == "csv" else "\t"
    files = {
        user: lines(version_1(user))
        if ending == "jsonl"
        else csv_of(header, ["", "1"], ["2", ""], user, delimiter)
        for user in USERS
    }
    return zipped({f"task/{user}/annotated_instances.{ending}": own for user, own in files.items()})


OLD_CSV = csv_of("instance_id,user,displayed_text,tone:::pos,tone:::neg", ["1", ""], ["", "2"])
RATES = ["Low", "High", "[]"]
NEW_CSV = csv_of(
    "instance_id,user_id,displayed_text,tone.pos,tone.neg,rate.Urgency,rate.Tone,ner._spans",
    *(["True", "", *RATES], ["", "True", *RATES]),
)


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (lines(exported()), "annotations.jsonl", "Potato, JSON"),
        (lines(version_1()), "annotated_instances.jsonl", "Potato, JSON"),
        (states(), "potato.zip", "Potato, zip"),
        *((folders(ending), f"{ending}.zip", "Potato, zip") for ending in ("jsonl", "csv", "tsv")),
        *((OLD_CSV, "all.csv", "Potato, CSV"), (NEW_CSV, "annotations.csv", "Potato, CSV")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_form_gives_the_votes(content: bytes, name: str, kind: str) -> None:
    table = read_table(content, name)
    assert table.kind == kind
    assert sorted(cells(table, "item", "rater", "tone")) == sorted(pairs())
    summary = loaded(table).summary
    assert (summary.items, summary.raters, summary.annotations) == (2, 4, 8)
    assert (summary.categories, summary.label_counts) == (("neg", "pos"), (4, 4))


def test_what_the_forms_hold_beside_the_votes() -> None:
    table = read_table(lines(exported()), "annotations.jsonl")
    assert cells(table, "likert", "why")[0] == ("3", "because ann")
    assert table.row(7) == 8
    table = read_table(lines(version_1()), "annotated_instances.jsonl")
    assert cells(table, "text", "seconds")[0] == ("text i1", "65")
    table = read_table(OLD_CSV, "all.csv")
    assert (table.row(0), table.cell("text", 0)) == (2, "text i1")
    table = read_table(NEW_CSV, "annotations.csv")
    assert cells(table, "rate.Urgency", "rate.Tone")[0] == ("Low", "High")
    assert not [column for column in table.columns if "spans" in column]


def test_a_lone_file_of_version_1_does_not_say_whose_it_is() -> None:
    with pytest.raises(DataError, match=r"one\.jsonl, record 1: it does not say which annotator"):
        read_table(lines(version_1("ann")), "one.jsonl")


def test_lists_and_objects_in_cells() -> None:
    """Multiselects are lists in Parquet, and JSON where `datasets` wrote the table."""
    kinds = [["slur", "threat"], None, ["slur"], []]
    expected_kinds = ["slur + threat", "", "slur", ""]
    ids = [{"instance_id": f"i{n // 2}", "user_id": ("ann", "bob")[n % 2]} for n in range(4)]
    lists = [{**one, "tone": "pos", "kinds": chosen} for one, chosen in zip(ids, kinds, strict=True)]
    table = read_table(parquet(lists), "annotations.parquet")
    assert table.kind == "Potato, Parquet"
    assert [kind for (kind,) in cells(table, "kinds")] == expected_kinds
    as_json = (json.dumps(dict.fromkeys(chosen or [], "true")) for chosen in kinds)
    texts = [[*one.values(), '{"pos": "pos"}', text] for one, text in zip(ids, as_json, strict=True)]
    table = read_table(csv_bytes([["instance_id", "user_id", "tone", "kinds"], *texts]), "a.csv")
    assert cells(table, "tone", "kinds") == [("pos", kind) for kind in expected_kinds]


def test_what_was_joined_to_a_table_is_not_a_question() -> None:
    """Demographics that raters decide, texts and gold labels that items decide."""
    rows = [["instance_id", "user_id", "gender", "passage", "gold", "age", "mood"]]
    for item, text in enumerate(("a longer text of the first item", "another longer text, of the second")):
        rows.append([f"i{item}", "u0", "Man", text, str(item), "25", "low"])
        rows.append([f"i{item}", "u1", "Woman", text, str(item), "31", "up"])
    table = read_table(csv_bytes(rows), "joined.csv")
    assert spec_of(table).label == "mood"
    assert table.columns[:3] == ("item", "rater", "mood")
    assert {"gender", "passage", "gold", "age"} < set(table.columns)


def test_a_raters_gender_is_no_question_and_an_items_is_one() -> None:
    header, *rows = [["instance_id", "user_id", "gender"], ["i1", "u1", "Man"], ["i1", "u2", "Woman"]]
    with pytest.raises(DataError, match="without answers"):
        read_table(csv_bytes([header, *rows, ["i2", "u1", "Man"]]), "a.csv")
    table = read_table(csv_bytes([header, *rows, ["i2", "u1", "Woman"]]), "a.csv")
    assert table.columns == ("item", "rater", "gender")


def test_free_texts_alone_are_refused() -> None:
    rows = [["instance_id", "user_id", "rewritten"]]
    rows += [[f"i{at}", f"u{at % 3}", f"Dear all, this is my answer number {at}"] for at in range(12)]
    with pytest.raises(DataError, match="its question 'rewritten' has free texts as answers"):
        read_table(csv_bytes(rows), "a.csv")


def test_forms_that_an_answer_can_have() -> None:
    given_answers = {
        "box": ({"a": True, "b": False, "c": True}, "a + c"),
        "wrapped": ({"labels": {"yes": True}}, "yes"),
        "listed": (["q", "p"], "p + q"),
        "plain": ("word", "word"),
        "slider": ({"slider": 57}, "57"),
        "tenth": ({"ten": "0"}, "ten"),
    }
    first = {name: answer for name, (answer, _) in given_answers.items()} | {"share": {"A": 40, "B": 60}}
    second = {"slider": {"slider": 3}, "zero": {"on": "1", "off": "0"}, "share": {"A": 10, "B": 90}}
    ids = {"instance_id": "i", "user_id": "u", "spans": {}}
    table = table_of([{**ids, "labels": first}, {**ids, "labels": second}])
    read = {name: text for name, (_, text) in given_answers.items()}
    read |= {"item": "i", "rater": "u", "share.A": "40", "share.B": "60", "zero": ""}
    assert {column: table.cell(column, 0) for column in table.columns} == read
    assert table.cell("zero", 1) == "on"


def test_damaged_states_name_the_item() -> None:
    broken = state("ann")
    broken["instance_id_to_label_to_value"]["i2"] = [["tone", True]]
    broken.pop("history")
    with pytest.raises(DataError, match=r"s\.json, record 1, item 'i2': a label should be an object"):
        table_of(broken, "s.json")


def test_exports_without_answers_are_refused() -> None:
    with pytest.raises(DataError, match="without answers"):
        table_of([{"instance_id": "i", "user_id": "u", "labels": {}, "spans": {"ner": []}}])


def test_other_files_are_left_alone() -> None:
    assert table_of([{"id": "i", "labels": {"a": 1}}]).recipe is None
    assert read_table(b"user,item,label\nu,i,x\n", "a.csv").recipe is None
    assert read_table(zipped({"a/annotated_instances.jsonl": b'{"x": 1}\n'}), "a.zip").recipe is None


@given(mangled([*exported()[:3], *version_1()[:3]]))
def test_nothing_breaks_it(records: list[dict[str, Any]]) -> None:
    survives(potato.read, records, "x.jsonl")


@given(mangled([textual(state("ann"))]))
def test_nothing_breaks_archives(records: list[dict[str, Any]]) -> None:
    content = json.dumps(records[0] if records else {}).encode()
    read_or_refused(zipped({"out/ann/user_state.json": content, "out/bob/user_state.json": content}), "x.zip")
