"""Tables with lists in their cells: a row per item, its raters and their labels beside each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.formats.shapes import lists
from grasp_core.reading.sandbox.read import read_table
from tests.reading.formats.tools.exports import cells, loaded
from tests.reading.making import csv_bytes

RATERS = (["P1", "P2", "P4"], ["P2", "P3"], ["P1", "P3"])
LABELS = (["Yes", "No", "Yes"], ["No", "it's"], ["Yes", "No"])
PAIRS = [
    (str(item), rater, label)
    for item, (raters, labels) in enumerate(zip(RATERS, LABELS, strict=True))
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
    for item, (raters, given_labels) in enumerate(zip(RATERS, labels, strict=True)):
        rows.append([str(item), f"a text, number {item}", form(raters), form(given_labels)])
    return csv_bytes(rows)


@pytest.mark.parametrize("form", FORMS)
def test_each_entry_gets_a_row(form: str) -> None:
    table = read_table(written(FORMS[form]), "lists.csv")
    assert table.kind == "CSV with lists"
    assert cells(table, "id", "annotators", "labels") == PAIRS
    assert [table.row(position) for position in (0, 2, 3, 6)] == [2, 2, 3, 4]
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 4, 7)


def test_numbers_missing_entries_and_several_choices() -> None:
    labels = ([1, None, 2.5], [["a", "b"], []], [3, float("nan")])
    table = read_table(written(repr, labels), "lists.csv")
    assert [row[0] for row in cells(table, "labels")] == ["1", "", "2.5", "a + b", "", "3", ""]


def test_lists_of_unequal_length_name_the_row() -> None:
    with pytest.raises(DataError, match="row 3: 'labels' has 1 entry and 'annotators' has 2"):
        read_table(
            csv_bytes(
                [
                    ["annotators", "labels"],
                    *[["['a']", "[1]"]] * 1,
                    ["['a', 'b']", "[1]"],
                    *[["['a']", "[1]"]] * 30,
                ]
            ),
            "lists.csv",
        )


@pytest.mark.parametrize(
    "row",
    [
        ["Smith, John", "Hello, world"],
        ["['a', 'b'", "['x', 'y'"],
        ["['a' ... 'b']", "['x' 'y']"],
        ["[]", "[]"],
        ["P1", "[1, 2]"],
    ],
)
def test_other_cells_are_left_alone(row: list[str]) -> None:
    assert read_table(csv_bytes([["annotator", "text"], row, row]), "a.csv").recipe is None


def test_argillas_columns_as_csv() -> None:
    """Its own reader knows which responses were submitted."""
    header = ["id", "toxic.responses", "toxic.responses.users", "toxic.responses.status", "kinds.responses"]
    header += ["kinds.responses.users", "kinds.responses.status"]
    row = [
        "r1",
        "['yes', 'no']",
        "['u1', 'u2']",
        "['submitted', 'draft']",
        "[['b', 'a'], []]",
        "['u1', 'u2']",
    ]
    table = read_table(csv_bytes([header, [*row, "['submitted', 'draft']"]]), "records.csv")
    assert table.kind == "Argilla, CSV"
    assert cells(table, "item", "rater", "toxic", "kinds") == [("r1", "u1", "yes", "a + b")]


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(), st.lists(st.text(), max_size=3)), max_size=6))
def test_what_python_prints_is_read(entries: list[Any]) -> None:
    """Letters that Python prints by their numbers are left as it prints them."""
    if all(text.isprintable() or text in "\n\t\r" for entry in entries for text in (entry or "")):
        assert lists.structure(repr(entries)) == entries


@settings(deadline=None)
@given(st.text(alphabet="[]',\" ab\\1.\n", max_size=40))
def test_any_cell_gives_a_list_or_nothing(cell: str) -> None:
    found = lists.structure(f"[{cell}]")
    assert found is None or isinstance(found, list)
