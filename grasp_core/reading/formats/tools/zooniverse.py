"""Classification exports of Zooniverse: CSV whose cells hold answers, and what is known of subjects, as JSON.

Format: https://help.zooniverse.org/next-steps/data-exports/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import agree, number
from grasp_core.reading.files import json_files
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, damaged, want_object
from grasp_core.reading.table.parsed import Parsed

_COLUMNS = frozenset(["classification_id", "user_name", "annotations", "subject_ids"])
_EXTRA = ("classification_id", "created_at", "workflow_id", "workflow_version", "expert")
_ANONYMOUS = "not-logged-in"


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """A row per classification, a column per task; None for any other table."""
    if not set(parsed.columns) >= _COLUMNS:
        return None
    cells = parsed.data.to_pylist()
    workflows = len({cell.get("workflow_id", "") for cell in cells}) > 1
    skipped: Counter[Skipped] = Counter()
    unread: dict[str, None] = {}
    found: list[Row] = []
    for line, cell in zip(parsed.numbers.tolist(), cells, strict=True):
        answers = _answers(cell, f"{name}, row {line}", workflows, skipped, unread)
        if not cell["user_name"]:
            skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
        else:
            extra = {key: cell[key] for key in _EXTRA if key in cell}
            found.append(Row(line, cell["subject_ids"], cell["user_name"], answers, _about(cell), extra))
    found = [
        replace(row, answers={key: one for key, one in row.answers.items() if key not in unread})
        for row in found
    ]
    said = rows.not_read("tasks whose answers cannot be read, as drawings,", unread)
    anonymous = [row.rater for row in found if row.rater.startswith(_ANONYMOUS)]
    if anonymous:
        people = number(len(set(anonymous)), "address", "addresses")
        said.append(
            f"{number(len(anonymous), 'classification')} {agree(len(anonymous), 'is', 'are')} by people who "
            f"were not logged in, told apart by {people} only"
        )
    return rows.parsed(found, name=name, kind=f"Zooniverse, {parsed.kind}", skipped=skipped, sentences=said)


def _answers(
    cell: Mapping[str, str], where: str, workflows: bool, skipped: Counter[Skipped], unread: dict[str, None]
) -> dict[str, str]:
    """Each task's answer; tasks are named with their workflow where there are several."""
    told = json_files.cell(cell["annotations"])
    if not isinstance(told, list):
        raise damaged(where, "'annotations'", cell["annotations"], "a list of answers in JSON")
    answers: dict[str, str] = {}
    for task, value in _tasks(told, where):
        shown = f"{cell.get('workflow_name') or cell.get('workflow_id')}.{task}" if workflows else task
        answer = _answer(value)
        if answer is None:
            unread[shown] = None
        elif not answer:
            skipped[Skipped.UNANSWERED_TASKS] += 1
        else:
            answers[shown] = answer
    return answers


def _tasks(told: list[Any], where: str) -> Iterator[tuple[str, Any]]:
    """Each task and its value, those inside of a task of several as well."""
    for one in told:
        task = want_object(one, where, "an answer")
        value = task.get("value")
        if isinstance(value, list) and value and all(isinstance(v, dict) and "task" in v for v in value):
            yield from _tasks(value, where)
        elif isinstance(task.get("task"), str):
            yield task["task"], value


def _answer(value: Any) -> str | None:
    """A choice, several choices, species of a survey, or a text; None for marks of a drawing."""
    text = rows.scalar(value)
    if text is not None:
        return text
    chosen = [_choice(one) for one in (value if isinstance(value, list) else [value])]
    told = [choice for choice in chosen if choice is not None]
    return rows.joined(told) if len(told) == len(chosen) else None


def _choice(value: Any) -> str | None:
    if not isinstance(value, dict):
        return rows.scalar(value)
    named = next((value[key] for key in ("choice", "label", "value") if value.get(key) is not None), None)
    return None if "tool" in value or named is None else rows.scalar(named)


def _about(cell: Mapping[str, str]) -> dict[str, str]:
    """Fields that the project tells of the subject."""
    told = json_files.cell(cell.get("subject_data", ""))
    inside = next(iter(told.values()), None) if isinstance(told, dict) else None
    fields = rows.scalars(inside) if isinstance(inside, dict) else {}
    return {key: text for key, text in fields.items() if key and key != "retired"}
