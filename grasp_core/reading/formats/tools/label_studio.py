"""Exports of Label Studio as JSON; other forms in :mod:`grasp_core.reading.formats.tools._label_studio_flat`.

Formats: https://labelstud.io/guide/task_format and https://labelstud.io/guide/export
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.model.remarks.cautions import Skipped
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, damaged, want_list, want_object, want_scalar
from grasp_core.reading.formats.tools import _label_studio_flat as label_studio_flat
from grasp_core.reading.formats.tools._label_studio_found import Found, is_true
from grasp_core.reading.formats.tools._label_studio_values import kind_of, texts
from grasp_core.reading.table.parsed import Parsed

_KIND = "Label Studio, JSON"


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Tasks with their annotations (JSON), or a record per annotation (JSON-MIN); None for anything else."""
    if any(_is_task(record) for record in records[: rows.LOOKED_AT]):
        return _read_tasks(records, name)
    return label_studio_flat.read(records, name)


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The CSV and TSV exports; None for any other table."""
    return label_studio_flat.read_table(parsed, name)


def _is_task(record: Record) -> bool:
    given = record.get("annotations", record.get("completions"))
    return (
        isinstance(record.get("data"), dict)
        and isinstance(given, list)
        and all(isinstance(annotation, dict) and "result" in annotation for annotation in given)
    )


def _read_tasks(records: Sequence[Record], name: str) -> Parsed:
    found = Found()
    for line, record in enumerate(records, start=1):
        _collect(record, line, f"{name}, task {line}", found)
    return found.parsed(name, _KIND)


def _collect(record: Record, line: int, where: str, found: Found) -> None:
    """Put a task's annotations into `found`."""
    item = want_scalar(record.get("id"), where, "'id'")
    if not item:
        raise damaged(where, "'id'", None, "the task's number")
    about = rows.scalars(want_object(record.get("data"), where, "'data'"))
    for key, what in (("predictions", Skipped.PREDICTIONS), ("drafts", Skipped.DRAFTS)):
        others = record.get(key)
        found.skipped[what] += len(others) if isinstance(others, list) else 0
    given = want_list(record.get("annotations", record.get("completions")), where, "'annotations'")
    for position, annotation in enumerate(given, start=1):
        place = f"{where}, annotation {position}"
        annotation = want_object(annotation, place, "the annotation")
        if _counts(annotation, found.skipped):
            rater, ids = _annotator(annotation, place)
            found.add(Row(line, item, rater, _results(annotation, place, found), about, ids), annotation)


def _counts(annotation: Mapping[str, Any], skipped: Counter[Skipped]) -> bool:
    """Whether it is a rating by a known person; if not, it is counted."""
    if is_true(annotation.get("was_cancelled")) or is_true(annotation.get("skipped")):
        skipped[Skipped.CANCELLED] += 1
    elif annotation.get("completed_by", "") is None:
        skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
    else:
        return True
    return False


def _annotator(annotation: Mapping[str, Any], where: str) -> tuple[str, dict[str, str]]:
    """The annotator's mail address, as in the CSV export, or else the number."""
    given = annotation.get("completed_by")
    if not isinstance(given, dict):
        rater = want_scalar(given, where, "'completed_by'")
        if not rater:
            raise damaged(where, "'completed_by'", None, "the annotator's number or address")
        return rater, {}
    found = rows.scalars({key: given.get(key) for key in ("email", "id")})
    rater = found.get("email") or found.get("id") or ""
    if not rater:
        raise damaged(where, "'completed_by'", given, "an object with 'id' or 'email'")
    return rater, {"completed_by.id": found.get("id", "")}


def _results(annotation: Mapping[str, Any], where: str, found: Found) -> dict[str, str]:
    """The annotation's answer per question."""
    given: dict[str, list[str]] = defaultdict(list)
    for result in want_list(annotation.get("result"), where, "'result'"):
        result = want_object(result, where, "an entry of 'result'")
        value = result.get("value")
        kind = (
            None if result.get("item_index") is not None else kind_of(value)
        )  # a page of the item is a part
        if kind is None:
            found.regions += 1
            continue
        question = want_scalar(result.get("from_name"), where, "'from_name'")
        if not question:
            raise damaged(where, "'from_name'", None, "the question's name")
        given[question] += texts(value, kind, where)
        found.kinds.setdefault(question, set()).add(kind)
    return {question: rows.joined(answers) for question, answers in given.items()}
