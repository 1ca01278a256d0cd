"""Classification exports of Zooniverse: CSV with answers, and facts about subjects, as JSON in cells.

Format: https://help.zooniverse.org/next-steps/data-exports/
"""

from collections.abc import Iterator, Mapping
from typing import Any

from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import number
from grasp_core.reading.files import json_files
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Export, JsonRecord, scalar, scalars
from grasp_core.reading.table.table import Parsed

_COLUMNS = frozenset(["classification_id", "user_name", "annotations", "subject_ids"])
_EXTRA = ("classification_id", "created_at", "workflow_id", "workflow_version", "expert")
_ANONYMOUS = "not-logged-in"


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Return a row per classification, and a column per task; None for any other table."""
    if not set(parsed.columns) >= _COLUMNS:
        return None
    found = Export(
        name,
        f"Zooniverse, {parsed.kind}",
        ids=("subject_ids", "user_name"),
        unreadable="tasks whose answers cannot be read, as drawings,",
    )
    several = "workflow_id" in parsed.columns and len(parsed.distinct("workflow_id")) > 1
    for line, row in rows.rows_of(parsed, name):
        cells = row.fields
        prefix = f"{cells.get('workflow_name') or cells['workflow_id']}." if several else ""
        answers = {}
        for task, value in _tasks(row):
            answer = _answer(value)
            if answer is None:
                found.unread[prefix + task] = None
            elif not answer:
                found.skipped[Skipped.UNANSWERED_TASKS] += 1
            else:
                answers[prefix + task] = answer
        extra = {key: cells[key] for key in _EXTRA if key in cells}
        found.add(line, cells["subject_ids"], cells["user_name"] or None, answers, _about(cells), extra)
    anonymous = [row.rater for row in found.rows if row.rater.startswith(_ANONYMOUS)]
    found.say(
        "{n:classification} {n:is/are} by people who were not logged in, told apart by {people} only",
        len(anonymous),
        people=number(len(set(anonymous)), "address", "addresses"),
    )
    return found.table()


def _tasks(row: JsonRecord) -> Iterator[tuple[str, Any]]:
    """Yield each task and its value, also tasks inside a combined task."""
    told = json_files.cell(row.fields["annotations"])
    if not isinstance(told, list):
        raise row.damaged("annotations", "a list of answers in JSON")
    remaining = told[::-1]
    while remaining:
        task = rows.want_object(remaining.pop(), row.where, "an answer")
        value = task.get("value")
        if isinstance(value, list) and value and all(isinstance(v, dict) and "task" in v for v in value):
            remaining += value[::-1]
        elif isinstance(task.get("task"), str):
            yield task["task"], value


def _answer(value: Any) -> str | None:
    """Return a choice, several choices, species of a survey, or a text; None for marks of a drawing."""
    if (text := scalar(value)) is not None:
        return text
    chosen = [_choice(one) for one in rows.several(value)]
    told = [choice for choice in chosen if choice is not None]
    return rows.joined(told) if len(told) == len(chosen) else None


def _choice(value: Any) -> str | None:
    if not isinstance(value, dict):
        return scalar(value)
    named = next((value[key] for key in ("choice", "label", "value") if value.get(key) is not None), None)
    return None if "tool" in value or named is None else scalar(named)


def _about(cells: Mapping[str, Any]) -> dict[str, str]:
    """Return the project's fields about the subject."""
    told = json_files.cell(cells.get("subject_data", ""))
    fields = scalars(next(iter(told.values()), None) if isinstance(told, dict) else None)
    return {key: text for key, text in fields.items() if key and key != "retired"}
