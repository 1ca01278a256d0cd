"""Items with several raters in a row: columns, lists or an object for each rater."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.formats.shapes import list_cells, lists
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading.exports import cells, lines, loaded, mangled, spec_of, survives, table_of, textual
from tests.reading.making import csv_bytes, rows_table, text_table

PAIRS = (
    *("{rater}_{question}", "{question}_{rater}", "{rater}.{question}", "{rater} {question}"),
    *("{rater}: {question}", "('{rater}', '{question}')"),
)
RATERS = ("P{:02d}", "rater{}", "annotator_{}", "2967085817827{:02d}")


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
    columns = [pattern.format(rater=rater, question=question) for rater in raters for question in questions]
    rows, true = [["item", *columns, "majority"]], []
    for i in range(8):
        answers = {rater: [rng.choice(("1", "2", "3", "")) for _ in questions] for rater in raters}
        true += [(f"C{i}", rater, *own) for rater, own in answers.items() if any(own)]
        rows.append([f"C{i}", *(one for own in answers.values() for one in own), "1"])
    table = rows_table(rows)
    spec = recognise(table).spec
    assert (spec.layout, spec.item, spec.rater) == ("long", "item", "rater")
    assert spec.label in questions
    assert cells(table, "item", "rater", *questions) == true


def test_columns_beside_a_rater_are_not_left_out_and_labels_beside_none_refused():
    rows = [["item", *(f"P{n}{more}" for n in range(1, 5) for more in ("", "_time", "_conf"))]]
    rows += [[f"i{i}", *(str((i * n) % 5) for n in range(12))] for i in range(9)]
    assert recognise(rows_table(rows)).uncertain
    with pytest.raises(DataError, match=r"row 3: 'label2' is filled and 'annotator2' is empty"):
        text_table("id annotator1 label1 annotator2 label2/1 ann 1 bob 2/2 cid 1 '' 2")
    table = text_table("item P1_off P1_sar P2_off P2_sar/a 1 y 2 n/b 3 y 4 n")
    assert [table.row(position) for position in range(4)] == [2, 2, 3, 3]


BY_RATER = "participant stim1_rating stim1_rt stim2_rating stim2_rt age/a 1 90 2 80 30/b 3 70 4 60 20"
ONE_COLUMN = "item P1_label P2_label P3_label/a 1 2 2/b 3 2 1"
BESIDE = "id text annotator1 label1 time1 annotator2 label2 time2/1 x ann 1 3 bob 2 4/2 y cid 1 5 '' '' ''"
SHORT = "id ann1 ann1_label ann1_conf ann2 ann2_label ann2_conf/1 w7 a 5 w8 b 4/2 w9 a 3 w7 b 1"


@pytest.mark.parametrize(
    ("text", "columns", "raters", "annotations"),
    [
        (BY_RATER, ("item", "participant", "rating"), ("a", "b"), 4),
        (ONE_COLUMN, ("item", "rater", "label"), ("P1", "P2", "P3"), 6),
        (BESIDE, ("id", "annotator", "label"), ("ann", "bob", "cid"), 3),
        (SHORT, ("id", "ann", "ann_label"), ("w7", "w8", "w9"), 4),
    ],
    ids=["a row is a rater", "one column per rater", "raters beside their labels", "short words for raters"],
)
def test_which_columns_hold_what(text, columns, raters, annotations):
    table = text_table(text)
    spec = recognise(table).spec
    assert (spec.item, spec.rater, spec.label) == columns
    assert spec.text == ("text" if text == BESIDE else None)
    data = load(table, None, spec)
    assert set(data.annotations.rater_ids) == set(raters)
    assert (data.summary.items, data.summary.annotations) == (2, annotations)


@pytest.mark.parametrize(
    ("head", "rater", "asked"),
    [
        ("item_id annotator1_id annotator1_rating annotator2_id annotator2_rating", "annotator_id", []),
        ("item_id first_annotator first_label second_annotator second_label", "annotator", []),
        ("item_id gold_annotator gold_label paper_annotator paper_label", "annotator", []),
        ("item_id slot1_id slot1_label slot2_id slot2_label", "id", ["rater"]),
        ("item_id slot1 slot1_rating slot2 slot2_rating", "id", ["rater"]),
        ("item_id gold_id gold paper_id paper", "id", ["rater"]),
        ("doc_id reviewer_a_id reviewer_a_decision reviewer_b_id reviewer_b_decision", "id", ["rater"]),
    ],
)
def test_slots_of_ids_beside_labels_are_pairs_and_ids_no_labels(head, rater, asked):
    rng = random.Random(2)
    rows = [
        [f"t{n}", *(one for own in rng.sample("abcdef", 2) for one in (own, "yn"[n % 3 % 2]))]
        for n in range(24)
    ]
    table = rows_table([head.split(), *rows])
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater) == (head.split()[0], rater)
    assert [one.field for one in guess.uncertain] == asked
    true = [(row[0], row[at], row[at + 1]) for row in rows for at in (1, 3)]
    assert cells(table, guess.spec.item, rater, guess.spec.label) == true


def test_items_in_slots_of_a_row_per_rater_are_pairs_and_other_ids_and_labels_none():
    rng = random.Random(2)
    rows = [
        [f"p{n}", *(one for own in rng.sample("abcdef", 2) for one in (own, rng.choice("12345")))]
        for n in range(24)
    ]
    guess = recognise(rows_table([["participant", "item1", "rating1", "item2", "rating2"], *rows]))
    assert (guess.spec.item, guess.spec.rater, guess.uncertain) == ("item", "participant", ())
    head = ["comment_id", "parent_id", "comment_score", "parent_score", "annotator", "label"]
    rows = [
        [f"t{n % 8}", f"t{n % 8 - 1}", str(n % 7), str(n % 3), f"w{n // 8}", "yn"[n * n % 3 % 2]]
        for n in range(24)
    ]
    assert rows_table([head, *rows]).columns == tuple(head)


def test_what_names_do_not_say_is_not_taken_apart():
    for text in (
        "item alice_off alice_sar bob_off bob_sar/a 1 y 2 n/b 3 y 4 n",  # who is a rater?
        "key P1_off P1_sar P2_off P2_sar Q7/a 1 y 2 n 0/b 3 y 4 n 0",  # is P a rater or a picture?
        "item off_1 sar_1 off_2 sar_2/a 1 y 2 n/b 3 y 4 n",  # numbers are places
        "item label1 label2 label3/a 1 2 1/b 2 2 1/c 1 1 2",
        "item annotator1 annotator2 annotator3 label1 label2 label3/a 1 2 1 3 3 3/b 2 2 1 3 3 3",
    ):
        table = text_table(text)
        assert table.recipe is None
        assert any(reason.confidence == "unsure" for reason in recognise(table).reasons)


RATERS_LISTS = (["P1", "P2", "P4"], ["P2", "P3"], ["P1", "P3"])
LABELS = (["Yes", "No", "Yes"], ["No", "it's"], ["Yes", "No"])
PAIRS_LISTS = [
    (str(item), rater, label)
    for item, (raters, labels) in enumerate(zip(RATERS_LISTS, LABELS, strict=True))
    for rater, label in zip(raters, labels, strict=True)
]


def numpy(entries: list[str]) -> str:
    return "[" + " ".join(map(repr, entries)) + "]"


FORMS: dict[str, Callable[[list[str]], str]] = {
    "JSON": json.dumps,
    "Python": repr,
    "NumPy": numpy,
    "semicolons": ";".join,
    "bars": " | ".join,
    "commas": ",".join,
}


def written(form: Callable[[list[str]], str], labels: Any = LABELS) -> bytes:
    rows = [["id", "text", "annotators", "labels"]]
    for item, (raters, given_labels) in enumerate(zip(RATERS_LISTS, labels, strict=True)):
        rows.append([str(item), f"a text, number {item}", form(raters), form(given_labels)])
    return csv_bytes(rows)


@pytest.mark.parametrize("form", FORMS)
def test_each_entry_gets_a_row(form: str) -> None:
    table = read_table(written(FORMS[form]), "lists.csv")
    assert table.kind == "CSV with lists"
    assert cells(table, "id", "annotators", "labels") == PAIRS_LISTS
    assert [table.row(position) for position in (0, 2, 3, 6)] == [2, 2, 3, 4]
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 4, 7)


def test_entries_may_be_missing_or_several_and_other_cells_are_left_alone() -> None:
    labels = ([1, None, 2.5], [["a", "b"], []], [3, float("nan")])
    table = read_table(written(repr, labels), "lists.csv")
    assert [row[0] for row in cells(table, "labels")] == ["1", "", "2.5", "a + b", "[]", "3", ""]
    rows = [["annotators", "labels"], ["['a']", "[1]"], ["['a', 'b']", "[1]"], *[["['a']", "[1]"]] * 30]
    with pytest.raises(DataError, match="row 3: 'labels' has 1 entry and 'annotators' has 2"):
        rows_table(rows)
    for row in (
        *(["Smith, John", "Hello, world"], ["['a', 'b'", "['x', 'y'"], ["['a' ... 'b']", "['x' 'y']"]),
        *(["[]", "[]"], ["P1", "[1, 2]"]),
    ):
        assert rows_table([["annotator", "text"], row, row]).recipe is None


def test_argillas_columns_as_csv() -> None:
    """Its own reader knows which responses were submitted."""
    cells_of = {
        "id": "r1",
        **{"toxic.responses": "['yes', 'no']", "kinds.responses": "[['b', 'a'], []]"},
        **{f"{name}.responses.users": "['u1', 'u2']" for name in ("toxic", "kinds")},
        **{f"{name}.responses.status": "['submitted', 'draft']" for name in ("toxic", "kinds")},
    }
    table = rows_table([list(cells_of), list(cells_of.values())])
    assert table.kind == "Argilla, CSV"
    assert cells(table, "item", "rater", "toxic", "kinds") == [("r1", "u1", "yes", "a + b")]


@given(st.lists(st.one_of(st.none(), st.text(), st.lists(st.text(), max_size=3)), max_size=6))
def test_what_python_prints_is_read(entries: list[Any]) -> None:
    """Letters that Python prints by their numbers are left as it prints them."""
    if all(text.isprintable() or text in "\n\t\r" for entry in entries for text in (entry or "")):
        assert list_cells.structure(repr(entries)) == entries


@given(st.text(alphabet="[]',\" ab\\1.\n", max_size=40))
def test_any_cell_gives_a_list_or_nothing(cell: str) -> None:
    found = list_cells.structure(f"[{cell}]")
    assert found is None or isinstance(found, list)


GENDERS = {"P01": "Woman", "P02": "Man", "P03": "Woman"}
GIVEN = {"C1": {"P01": 3, "P02": 1}, "C2": {"P02": 3, "P03": 5}, "C3": {"P01": 1, "P03": 5}}
PAIRS_MAPS = [(item, rater, str(label)) for item, labels in GIVEN.items() for rater, label in labels.items()]
OF_OBJECTS = {
    item: {
        "text": f"text {item}",
        "annotators": {rater: {"gender": GENDERS[rater], "label": label} for rater, label in labels.items()},
    }
    for item, labels in GIVEN.items()
}
"""One object of items, with the raters' profiles beside their labels."""


def test_objects_by_rater_become_rows() -> None:
    table = table_of(OF_OBJECTS)
    assert cells(table, "key", "annotators.rater", "annotators.label") == PAIRS_MAPS
    assert spec_of(table).label == "annotators.label"
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 3, 6)
    assert data.summary.categories == ("1", "3", "5")
    assert [table.row(position) for position in (0, 2, 5)] == [1, 2, 3]


def test_values_by_rater_become_rows() -> None:
    table = table_of([{"id": item, "meta": {"ratings": labels}} for item, labels in GIVEN.items()])
    assert cells(table, "id", "meta.ratings.rater", "meta.ratings.label") == PAIRS_MAPS
    assert loaded(table).summary.annotations == 6
    several = [{"id": 1, "annotators": {"a": ["x", "y"], "b": ["y"]}}, {"id": 2, "annotators": {"a": ["x"]}}]
    assert cells(table_of(several), "annotators.label") == [("x + y",), ("y",), ("x",)]
    records = [{"id": item, "votes": labels} for item, labels in GIVEN.items()]
    table = read_table(lines([*records, {"id": "C4", "votes": {}}, {"id": "C5", "votes": None}]), "a.jsonl")
    assert cells(table, "id", "votes.rater", "votes.label") == PAIRS_MAPS


@pytest.mark.parametrize("field", ["annotations", "judgments", "responses", "worker_answers", "own"])
@pytest.mark.parametrize("form", ["{}", "worker{}", "{}@example.org", "5f0c{}b"])
def test_names_of_fields_and_forms_of_ids(field: str, form: str) -> None:
    ids = {f"x{item}": [form.format(100 + rater) for rater in range(item, 5)] for item in range(4)}
    records = [{"uid": item, field: {rater: {"answer": "yes"} for rater in own}} for item, own in ids.items()]
    assert cells(table_of(records), "uid", f"{field}.rater", f"{field}.answer") == [
        (item, rater, "yes") for item, own in ids.items() for rater in own
    ]


def test_what_may_be_raters_or_labels_is_refused_and_other_objects_left_alone() -> None:
    for records in (
        [{"id": 1, "labels": {"toxic": 1, "insult": 0}}, {"id": 2, "labels": {"insult": 1}}],
        [{"id": 1, "votes": {"1": 3, "2": 1}}, {"id": 2, "votes": {"2": 4}}],
        [{"id": 1, "ratings": {"toxic": {"value": 1}, "insult": {"value": 0}}}] * 2,
    ):
        with pytest.raises(DataError, match=r"may be raters or something else.*call the field 'annotators'"):
            table_of(records)
    for record in (
        {"id": 1, "soft_label": {"0": 0.2, "1": 0.8}},
        {"rater": "P01", "labels": {"C1": 2, "C2": 3}},
        {"gender": "Woman", "labels": {"C1": 2, "C2": 3}},
        {"id": 1, "answers": {"q1": 2, "q2": 3}},
        {"id": 1, "user": {"id": "P1", "url": "http"}},
        {"id": 1, "meta": {"n1": 2, "n2": 3}},
    ):
        assert lists.read(textual([record, {**record, "id": 2}]), "a.json") is None


def test_lists_of_raters_go_before_objects_that_may_be_anything() -> None:
    records = [
        {"id": item, "annotators": [*own], "labels": [*own.values()], "scores": {f"s{item}a": 1, "b": 2}}
        for item, own in GIVEN.items()
    ]
    assert cells(table_of(records), "id", "annotators", "labels") == PAIRS_MAPS


@pytest.mark.parametrize("field", ["by", "name", "id", "completed_by"])
def test_lists_of_annotations_that_a_field_signs(field: str) -> None:
    records = [
        {"id": item, "annotations": [{field: rater, "label": label} for rater, label in labels.items()]}
        for item, labels in GIVEN.items()
    ]
    table = table_of(records)
    assert cells(table, "id", f"annotations.{field}", "annotations.label") == PAIRS_MAPS
    assert loaded(table).summary.annotations == 6


def test_lists_of_labels_or_questions_and_ids_of_annotations_have_no_raters() -> None:
    for field in ("labels", "answers"):
        named = {item: [{"name": name, "value": 1} for name in labels] for item, labels in GIVEN.items()}
        assert table_of([{"id": item, field: values} for item, values in named.items()]).recipe is None
    own = {item: [{"id": 10 * item + at, "label": "x"} for at in range(2)] for item in range(3)}
    assert table_of([{"id": item, "annotations": entries} for item, entries in own.items()]).recipe is None


def test_an_object_of_lists_is_told_by_what_their_entries_lack() -> None:
    whole = [*PAIRS_MAPS, ("C4", "P01", "2")]
    by_item: dict[str, list[dict[str, str]]] = {}
    by_rater: dict[str, list[dict[str, str]]] = {"P09": []}
    for item, rater, label in whole:
        by_item.setdefault(item, []).append({"rater": rater, "label": label})
        by_rater.setdefault(rater, []).append({"item": item, "label": label})
    assert cells(table_of(by_item), "item", "rater", "label") == whole
    assert sorted(cells(table_of(by_rater), "item", "rater", "label")) == whole
    records = [{"item": item, "rater": rater, "label": label} for item, rater, label in PAIRS_MAPS]
    splits = table_of({"train": records[:4], "test": records[4:]})
    assert cells(splits, "item", "rater", "label") == PAIRS_MAPS
    assert splits.distinct("split") == ("train", "test")
    pictures = {"images": [{"id": 1, "file": "a"}], "annotations": [{"id": 1, "image": 1, "x": 2}] * 2}
    assert table_of(pictures).columns == ("images", "annotations")


@given(mangled([{"key": item, **record} for item, record in OF_OBJECTS.items()]))
def test_nothing_breaks_it(records: list[dict[str, Any]]) -> None:
    survives(lists.read, records, "x.json")


BY_WORKER = st.dictionaries(st.integers(0, 999).map("w{}".format), st.integers(1, 5).map(str), min_size=1)


@given(st.dictionaries(st.text(min_size=1), BY_WORKER, min_size=1))
def test_every_label_gets_a_row(given_labels: dict[str, dict[str, str]]) -> None:
    if len({rater for labels in given_labels.values() for rater in labels}) < 2:
        return
    table = table_of([{"uid": item, "annotators": labels} for item, labels in given_labels.items()])
    assert cells(table, "uid", "annotators.rater", "annotators.label") == [
        (item, *pair) for item, labels in given_labels.items() for pair in labels.items()
    ]
