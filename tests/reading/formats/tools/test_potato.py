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
from grasp_core.reading.table.table import Table
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
    return [
        {
            **({"user": who, "instance_id": item} if user is None else {"id": item}),
            "displayed_text": f"text {item}",
            "label_annotations": {"tone": {vote: {"pos": "1", "neg": "2"}[vote]}},
            "span_annotations": {},
            "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 5s "},
        }
        for item, who, vote in pairs()
        if user in (None, who)
    ]


def state(user: str) -> dict[str, Any]:
    return {
        "user_id": user,
        "instance_id_ordering": ["i1", "i2"],
        "history": [{"lists": "of objects must not be taken for the records"}],
        "instance_id_to_label_to_value": {
            item: [[{"schema": "tone", "name": vote}, True]] for item, who, vote in pairs() if who == user
        },
        "instance_id_to_span_to_value": {},
    }


def expected(table: Table) -> None:
    assert cells(table, "item", "rater", "tone") == pairs()
    dataset = loaded(table)
    assert (dataset.summary.items, dataset.summary.raters, dataset.summary.annotations) == (2, 4, 8)
    assert dataset.summary.categories == ("neg", "pos")
    assert dataset.summary.label_counts == (4, 4)


def test_json_lines_of_the_export() -> None:
    table = read_table(lines(exported()), "annotations.jsonl")
    assert table.kind == "Potato, JSON"
    expected(table)
    assert table.cell("likert", 0) == "3"
    assert table.cell("why", 0) == "because ann"
    assert table.row(7) == 8


def test_json_lines_of_version_1() -> None:
    table = read_table(lines(version_1()), "annotated_instances.jsonl")
    expected(table)
    assert cells(table, "text", "seconds")[0] == ("text i1", "65")


def archive() -> bytes:
    states = {f"{user}/user_state.json": json.dumps(state(user)).encode() for user in reversed(USERS)}
    members = states | {"exports/readme.txt": b"hello"}
    return zipped({f"annotation_output/{name}": content for name, content in members.items()})


def test_the_folders_of_all_annotators() -> None:
    table = read_table(archive(), "potato.zip")
    assert table.kind == "Potato, zip"
    assert sorted(cells(table, "item", "rater", "tone")) == sorted(pairs())


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv"])
def test_folders_of_version_1_take_their_names_as_annotators(ending: str) -> None:
    header = ["instance_id", "displayed_text", "tone:::neg", "tone:::pos"]
    files = {}
    for user in USERS:
        given = [(item, vote) for item, who, vote in pairs() if who == user]
        rows = [[item, "t", *(["2", ""] if vote == "neg" else ["", "1"])] for item, vote in given]
        packed = csv_bytes([header, *rows], "," if ending == "csv" else "\t")
        content = lines(version_1(user)) if ending == "jsonl" else packed
        files[f"task/{user}/annotated_instances.{ending}"] = content
    table = read_table(zipped(files), "potato.zip")
    assert sorted(cells(table, "item", "rater", "tone")) == sorted(pairs())


def test_a_lone_file_of_version_1_does_not_say_whose_it_is() -> None:
    with pytest.raises(DataError, match=r"one\.jsonl, record 1: it does not say which annotator"):
        read_table(lines(version_1("ann")), "one.jsonl")


def test_csv_of_version_1() -> None:
    rows = [
        [user, item, f"text {item}", "1" if vote == "pos" else "", "2" if vote == "neg" else ""]
        for item, user, vote in pairs()
    ]
    table = read_table(
        csv_bytes([["user", "instance_id", "displayed_text", "tone:::pos", "tone:::neg"], *rows]), "all.csv"
    )
    assert table.kind == "Potato, CSV"
    expected(table)
    assert table.row(0) == 2
    assert table.cell("text", 0) == "text i1"


def test_csv_of_the_export() -> None:
    header = ["instance_id", "user_id", "tone.pos", "tone.neg", "rate.Urgency", "rate.Tone", "ner._spans"]
    rows = [
        [item, user, *(["True", ""] if vote == "pos" else ["", "True"]), "Low", "High", "[]"]
        for item, user, vote in pairs()
    ]
    table = read_table(csv_bytes([header, *rows]), "annotations.csv")
    expected(table)
    assert cells(table, "rate.Urgency", "rate.Tone")[0] == ("Low", "High")
    assert not [column for column in table.columns if "spans" in column]


def test_lists_and_objects_in_cells() -> None:
    """Multiselects are lists in Parquet, and JSON where `datasets` wrote the table."""
    kinds = [["slur", "threat"], None, ["slur"], []]
    expected_kinds = [("slur + threat",), ("",), ("slur",), ("",)]
    rows = [
        {"instance_id": f"i{n // 2}", "user_id": ("ann", "bob")[n % 2], "tone": "pos", "kinds": chosen}
        for n, chosen in enumerate(kinds)
    ]
    table = read_table(parquet(rows), "annotations.parquet")
    assert table.kind == "Potato, Parquet"
    assert cells(table, "kinds") == expected_kinds
    texts = [["instance_id", "user_id", "tone", "kinds"]]
    texts += [
        [item, user, '{"pos": "pos"}', json.dumps(dict.fromkeys(chosen or [], "true"))]
        for item, user, _, chosen in (row.values() for row in rows)
    ]
    found = cells(read_table(csv_bytes(texts), "a.csv"), "tone", "kinds")
    assert found == [("pos", *kind) for kind in expected_kinds]


def test_what_was_joined_to_a_table_is_not_a_question() -> None:
    """Demographics that raters decide, texts and gold labels that items decide."""
    rows = [["instance_id", "user_id", "gender", "passage", "gold", "age", "mood"]]
    texts = ("a longer text of the first item", "another longer text, of the second")
    for item, text in enumerate(texts):
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
    def record(**labels: Any) -> dict[str, Any]:
        return {"instance_id": "i", "user_id": "u", "labels": labels, "spans": {}}

    table = table_of(
        [
            record(
                box={"a": True, "b": False, "c": True},
                wrapped={"labels": {"yes": True}},
                listed=["q", "p"],
                plain="word",
                slider={"slider": 57},
                tenth={"ten": "0"},
                share={"A": 40, "B": 60},
            ),
            record(slider={"slider": 3}, zero={"on": "1", "off": "0"}, share={"A": 10, "B": 90}),
        ]
    )
    first = {column: table.cell(column, 0) for column in table.columns}
    assert first == {
        "item": "i",
        "rater": "u",
        "box": "a + c",
        "wrapped": "yes",
        "listed": "p + q",
        "plain": "word",
        "slider": "57",
        "tenth": "ten",
        "share.A": "40",
        "share.B": "60",
        "zero": "",
    }
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
