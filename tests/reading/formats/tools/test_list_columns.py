"""Data sets with lists of raters and labels per item, as Hugging Face `datasets` saves them.

Samples written by hand; the key `huggingface` of a Parquet file's metadata and its features:
https://huggingface.co/docs/datasets/about_dataset_features.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.archives import containers
from grasp_core.reading.formats.shapes import lists
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading import exports
from tests.reading.exports import cells, table_of
from tests.reading.making import parquet_bytes, rows_table

LABEL = {"names": ["no", "yes"], "_type": "ClassLabel"}
SEQUENCE = {"labels": {"feature": LABEL, "_type": "Sequence"}}
ROWS = {
    "id": ["a", "b", "c"],
    "text": ["one", "two", "three"],
    "annotators": [["r1", "r2", "r3", "r4"], ["r1", "r2", "r4"], []],
    "labels": [[1, 1, 0, -1], [0, 1, 1], []],
    "tokens": [["on", "e"], ["two"], ["t", "h", "r", "e", "e"]],
}
EXPECTED = [
    *(("a", "r1", "yes"), ("a", "r2", "yes"), ("a", "r3", "no"), ("a", "r4", "")),
    *(("b", "r1", "no"), ("b", "r2", "yes"), ("b", "r4", "yes")),
]


def parquet(columns: dict[str, Any], features: dict[str, Any] | None = None, **options: Any) -> bytes:
    table = pa.table(columns)
    if features is not None:
        said = json.dumps({"info": {"features": features}}).encode()
        table = table.replace_schema_metadata({b"huggingface": said})
    return parquet_bytes(table, **options)


def read(columns: dict[str, Any], features: dict[str, Any] | None = None, **options: Any) -> Table:
    return read_table(parquet(columns, features, **options), "train.parquet")


def test_each_entry_gets_a_row() -> None:
    table = read(ROWS, SEQUENCE)
    assert table.kind == "Parquet with lists"
    assert table.columns == ("id", "text", "annotators", "labels")
    assert cells(table, "id", "annotators", "labels") == EXPECTED
    assert [table.row(at) for at in range(7)] == [1, 1, 1, 1, 2, 2, 2]
    assert [problem.examples for problem in table.problems] == [("tokens",)]
    dataset = exports.loaded(table)
    assert (dataset.summary.items, dataset.summary.raters, dataset.summary.annotations) == (2, 4, 6)
    assert dataset.summary.label_counts == (2, 4)


def test_row_groups_and_files_count_on(tmp_path: Path) -> None:
    lists = [["r1", "r2"][: at % 3] for at in range(50)], [["x", "y"][: at % 3] for at in range(50)]
    for part in "ab":
        many = {"id": [f"{part}{at}" for at in range(50)], "annotators": lists[0], "labels": lists[1]}
        (tmp_path / f"{part}.parquet").write_bytes(parquet(many, row_group_size=7))
    table = read_table(tmp_path)
    assert len(table) == 2 * 49
    assert table.kind == "Parquet, 2 files with lists"
    assert [table.row(at) for at in (0, 1, 2, 49)] == [2, 3, 3, 52]
    assert table.cell("id", 49) == "b1"


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.string()), pa.large_list(pa.string()), pa.list_(pa.string(), 2)], ids=str
)
def test_every_kind_of_list(kind: pa.DataType) -> None:
    labels = pa.array([["x", "y"], None, ["x", "x"]], kind)
    votes = {"id": ["a", "b", "c"], "annotators": [["r1", "r2"], None, ["r1", "r2"]], "labels": labels}
    try:
        content = parquet(votes)
    except pa.ArrowNotImplementedError as error:  # its writer of former versions; others' files have them
        pytest.skip(str(error))
    table = read_table(content, "train.parquet")
    assert cells(table, "id", "labels") == [("a", "x"), ("a", "y"), ("c", "x"), ("c", "x")]


def test_structures() -> None:
    inner = {"feature": {"annotator": {"_type": "Value"}, "stance": LABEL}, "_type": "Sequence"}
    as_lists = [{"annotator": ["r1", "r2"], "stance": [1, 0]}, {"annotator": ["r1"], "stance": [1]}]
    as_objects = [
        [{"annotator": rater, "stance": stance} for rater, stance in zip(*one.values(), strict=True)]
        for one in as_lists
    ]
    for votes, features in ((as_lists, inner), (as_objects, [inner["feature"]]), (as_objects, inner)):
        table = read({"id": ["a", "b"], "votes": votes}, {"votes": features})
        found = cells(table, "id", "votes.annotator", "votes.stance")
        assert found == [("a", "r1", "yes"), ("a", "r2", "no"), ("b", "r1", "yes")]
    table = read({"item": ["a", "b"], "about": [{"gender": "Woman", "more": {"age": 3}}, None]})
    assert table.columns == ("item", "about.gender", "about.more.age")
    assert cells(table, "about.gender", "about.more.age") == [("Woman", "3"), ("", "")]


def test_rows_are_items_where_no_column_is_and_lists_without_raters_left_out() -> None:
    table = read({**ROWS, "id": ["same"] * 3, "text": ["same"] * 3}, SEQUENCE)
    assert exports.spec_of(table).item == "item"
    assert cells(table, "item", "annotators")[3:5] == [("1", "r4"), ("2", "r1")]
    exports.loaded(table)
    table = read({"id": ["a"], "tokens": [["x", "y"]], "tags": [["n", "v"]]})
    assert (table.columns, table.recipe) == (("id",), None)


def test_lists_of_unequal_length_name_the_row() -> None:
    columns = {"id": [str(at) for at in range(1200)], "annotators": [["r1", "r2"]] * 1200}
    columns["labels"] = [["x", "y"]] * 1100 + [["x"]] + [["x", "y"]] * 99
    with pytest.raises(DataError, match=r"train\.parquet, row 1101: 'labels' has 1 entry and 'annot"):
        read(columns)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    with pytest.raises(DataError, match=r"x\.jsonl, row 1101: 'labels' has 1 entry"):
        read_table(exports.lines(rows), "x.jsonl")


def test_exploding_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = {f"f{at}": "x" for at in range(2_000)}
    record = {**wide, "annotators": ["r"] * 20_000, "labels": ["x"] * 20_000}
    with pytest.raises(DataError, match="would become a table of more than"):
        read_table(exports.lines([record]), "x.jsonl")
    monkeypatch.setattr(containers, "MAX_BYTES", 1_000_000)
    with pytest.raises(DataError, match="unpacks to more than"):
        read({"id": ["a"], "annotators": [["r"] * 200_000], "labels": [["x"] * 200_000]})


def records() -> list[dict[str, Any]]:
    """The first two rows, whose lists are of objects; the missing label is no."""
    votes: dict[str, list[dict[str, str]]] = {}
    for item, rater, label in EXPECTED:
        votes.setdefault(item, []).append({"annotator": rater, "label": label or "no"})
    return [{"id": item, "votes": entries, "text": item * 3} for item, entries in votes.items()]


def test_json_with_lists() -> None:
    table = read_table(exports.lines(records()), "train.jsonl")
    assert table.kind == "JSON with lists"
    found = cells(table, "id", "votes.annotator", "votes.label")
    assert found == [(item, rater, label or "no") for item, rater, label in EXPECTED]
    assert [table.row(at) for at in range(7)] == [1, 1, 1, 1, 2, 2, 2]
    summary = exports.loaded(table).summary
    assert (summary.items, summary.raters, summary.annotations) == (2, 4, 7)
    one, other = {"annotators": ["r1", "r2"], "labels": [0, 1]}, {"annotators": ["r1"], "labels": [1]}
    table = read_table(exports.lines([{"id": "a", **one}, {"id": "b", **other}]), "train.jsonl")
    expected = [("a", "r1", "0"), ("a", "r2", "1"), ("b", "r1", "1")]
    assert cells(table, "id", "annotators", "labels") == expected


@given(exports.mangled([*records(), {"id": "c", "annotators": ["r1", "r2"], "labels": ["x", "y"]}]))
def test_nothing_breaks_records(found: list[dict[str, Any]]) -> None:
    exports.survives(lists.read, found, "x.json")


@given(exports.damaged(parquet(ROWS, SEQUENCE)))
def test_nothing_breaks_parquet(content: bytes) -> None:
    exports.read_or_refused(content, "train.parquet")


@pytest.mark.parametrize("written", ["['{}', '{}']", "{};{}"])
def test_a_list_may_be_called_one(written) -> None:
    rows = [[f"q{n}", written.format("yes", "no"), written.format(f"w{n % 3}", "w9")] for n in range(6)]
    guess = recognise(rows_table([["query", "score_list", "worker_list"], *rows]))
    assert (guess.uncertain, guess.spec.rater, guess.spec.label) == ((), "worker_list", "score_list")


def test_objects_of_lists_and_answers_in_texts_are_opened_unless_raters_differ() -> None:
    votes = {"votes": {"annotator": ["r1", "r2"], "label": ["x", "y"], "round": 1}, "tokens": ["t"]}
    table = read_table(exports.lines([{"id": item, **votes} for item in "ab"]), "x.jsonl")
    assert table.columns == ("id", "votes.round", "votes.annotator", "votes.label")
    assert cells(table, "id", "votes.annotator", "votes.label")[1:3] == [("a", "r2", "y"), ("b", "r1", "x")]
    form = {label: {"content": json.dumps({"form": {"label": label}})} for label in ("yes", "no")}
    entries = [{"workerId": who, "annotationData": form["yes" if who == "a" else "no"]} for who in "abc"]
    data = exports.loaded(table_of([{"id": n, "annotations": entries} for n in range(4)], "job.json"))
    assert (data.summary.annotations, data.summary.categories) == (12, ("no", "yes"))
    votes = {"yes": [{"annotator": "a", "why": "x"}], "no": [{"annotator": "b", "why": "y"}]}
    with pytest.raises(DataError, match=r"'yes\.annotator', 'no\.annotator' are lists of different raters"):
        table_of([{"id": n, **votes} for n in range(4)], "keys.json")
