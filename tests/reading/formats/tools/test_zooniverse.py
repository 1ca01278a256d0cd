"""Zooniverse's classification exports.

Samples written by hand after https://help.zooniverse.org/next-steps/data-exports/: a list of tasks in
`annotations`, the subject under its id in `subject_data`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.exports import cells, loaded, recipe_of
from tests.reading.making import csv_bytes

HEADER = ["classification_id", "user_name", "user_id", "user_ip", "workflow_id", "workflow_name"]
HEADER += ["workflow_version", "created_at", "gold_standard", "expert", "metadata", "annotations"]
HEADER += ["subject_data", "subject_ids"]
SEEN = {"s1": ("Yes", "No", "Yes"), "s2": ("No", "No", "Yes")}
PEOPLE = ("ann", "ben", "not-logged-in-0a1b2c")


def row(subject: str, user: str, tasks: list[dict[str, Any]], workflow: str = "7") -> list[str]:
    data = {subject: {"retired": None, "file": f"{subject}.jpg", "#place": "Kiel"}}
    about = [workflow, f"flow {workflow}", "3.4", "2024-05-01 10:00:00 UTC", "", ""]
    told = map(json.dumps, ({"session": "x"}, tasks, data))
    return [f"{subject}{user}", user, "12", "ffff", *about, *told, subject]


def single(answer: Any, task: str = "T0") -> dict[str, Any]:
    return {"task": task, "task_label": "Is it there?", "value": answer}


def export(rows: list[list[str]]) -> Table:
    return read_table(csv_bytes([HEADER, *rows]), "galaxy-classifications.csv")


def test_a_row_per_classification() -> None:
    rows = [
        row(subject, user, [single(answer), single(["a", "b"][: 1 + (user == "ann")], "T1")])
        for subject, answers in SEEN.items()
        for user, answer in zip(PEOPLE, answers, strict=True)
    ]
    table = export(rows)
    assert table.kind == "Zooniverse, CSV"
    assert cells(table, "item", "rater", "T0", "T1", "file")[:2] == [
        ("s1", "ann", "Yes", "a + b", "s1.jpg"),
        ("s1", "ben", "No", "a", "s1.jpg"),
    ]
    assert table.row(0) == 2
    assert "people who were not logged in, told apart by 1 address only" in str(recipe_of(table).sentences)
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.label_counts) == (2, 3, (3, 3))


def test_kinds_of_tasks() -> None:
    combined = {"task": "T2", "value": [single("Yes", "T3"), single(None, "T4")]}
    survey = {"task": "T5", "value": [{"choice": "ZEBRA", "answers": {"HOWMANY": "1"}}, {"choice": "LION"}]}
    dropdown = {"task": "T6", "value": [{"value": "de", "option": True}]}
    drawing = {"task": "T7", "value": [{"tool": 0, "x": 1.5, "y": 2, "value": "x"}]}
    table = export([row("s1", user, [combined, survey, dropdown, drawing]) for user in PEOPLE[:2]])
    assert table.columns[:5] == ("item", "rater", "T3", "T5", "T6")
    assert cells(table, "T3", "T5", "T6")[0] == ("Yes", "LION + ZEBRA", "de")
    assert recipe_of(table).sentences[:2] == (
        "2 tasks that were left without an answer were left out",
        "tasks whose answers cannot be read, as drawings, were left out: 'T7'",
    )


def test_tasks_of_several_workflows_are_kept_apart() -> None:
    table = export([row("s1", "ann", [single("Yes")]), row("s1", "ben", [single("Red")], workflow="8")])
    assert cells(table, "rater", "flow 7.T0", "flow 8.T0") == [("ann", "Yes", ""), ("ben", "", "Red")]


def test_damage_names_the_row() -> None:
    damaged = row("s1", "ann", [])
    damaged[HEADER.index("annotations")] = "[{"
    with pytest.raises(DataError, match=r"row 3: 'annotations' should be a list of answers in JSON"):
        export([row("s1", "ben", [single("Yes")]), damaged])
