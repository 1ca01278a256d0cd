"""Exports of Label Studio with a record per annotation: JSON-MIN, CSV and TSV.

Format: ``convert_to_json_min`` and ``exports/csv2.py`` of the package ``label-studio-sdk``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grasp_core.model.remarks.cautions import Skipped
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, damaged, scalar, want_scalar
from grasp_core.reading.formats.tools._label_studio_found import OF_ANNOTATION, Found, is_true
from grasp_core.reading.formats.tools._label_studio_values import PLAIN, kind_of, texts
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import Parsed

_FLAT = frozenset({"id", "annotator", "annotation_id", "was_cancelled", "agreement", *OF_ANNOTATION})
_NO_STARS = "this form does not say which answers are ground truth (starred); the JSON export does"
_NO_REGIONS = (
    "this form does not always tell answers about a region from answers about the task; the JSON export does"
)
_GUESSED = (
    "annotations of one task never differ, so which columns are answers was guessed; the JSON export says it"
)


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """JSON-MIN; None for other records."""
    if not any(record.keys() >= {"id", "annotator", "annotation_id"} for record in records[: rows.LOOKED_AT]):
        return None
    between = dict.fromkeys(key for record in records for key in _between(list(record)) if key not in _FLAT)
    return _read(records, range(1, len(records) + 1), name, "Label Studio, JSON-MIN", "record", list(between))


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The CSV and TSV exports; None for any other table."""
    if not {"id", "annotator", "annotation_id", "lead_time"} <= set(parsed.columns):
        return None
    records = [{key: _unpacked(cell) for key, cell in row.items()} for row in parsed.data.to_pylist()]
    return _read(records, parsed.numbers.tolist(), name, f"Label Studio, {parsed.kind}", "row", [])


def _between(keys: Sequence[str]) -> Sequence[str]:
    """Fields after the task's, which end with its id, and before the annotation's: the answers."""
    if "id" not in keys[1:] or "annotator" not in keys:
        return ()
    return keys[keys.index("id") + 1 : keys.index("annotator")]


def _unpacked(cell: str) -> Any:
    """A cell's lists and objects, which the CSV export writes as JSON."""
    found = json_files.cell(cell)
    return cell if found is None else found


def _read(
    records: Sequence[Record], lines: Iterable[int], name: str, kind: str, unit: str, between: Sequence[str]
) -> Parsed:
    fields = _Fields(records, between)
    found = Found(kinds={question: set() for question in fields.questions})
    for line, record in zip(lines, records, strict=True):
        where = f"{name}, {unit} {line}"
        item, rater = _ids(record, where)
        if is_true(record.get("was_cancelled")):
            found.skipped[Skipped.CANCELLED] += 1
        elif not rater:
            unanswered = not scalar(record.get("annotation_id"))
            found.skipped[Skipped.UNANNOTATED_TASKS if unanswered else Skipped.UNKNOWN_ANNOTATOR] += 1
        else:
            given = {key: value for key, value in record.items() if value}
            answers = {
                key: _answer(key, value, where, found)
                for key, value in given.items()
                if key in fields.questions
            }
            about = {key: scalar(value) or "" for key, value in given.items() if key in fields.about}
            found.add(Row(line, item, rater, answers, about), record)
        found.regions += sum(_regions(value) for key, value in record.items() if key in fields.regions)
    return found.parsed(name, kind, fields.sentences())


def _ids(record: Record, where: str) -> tuple[str, str]:
    for key in ("id", "annotator"):
        if key not in record:
            raise damaged(where, f"{key!r}", None, "a number or an address")
    item = want_scalar(record["id"], where, "'id'")
    if not item:
        raise damaged(where, "'id'", None, "the task's number")
    return item, want_scalar(record["annotator"], where, "'annotator'")


def _answer(question: str, value: Any, where: str, found: Found) -> str:
    given: list[str] = []
    for entry in value if isinstance(value, list) else [value]:
        kind = kind_of(entry)
        if kind is not None:
            given += texts(entry, kind, where)
            found.kinds[question].add(kind)
        elif text := scalar(entry):
            given.append(text)
            found.kinds[question].add(PLAIN)
    return rows.joined(given)


def _is_answer(value: Any) -> bool:
    return any(kind_of(entry) is not None for entry in (value if isinstance(value, list) else [value]))


def _regions(value: Any) -> int:
    """Answers about regions in a field: entries of a list that are no answer with its kind."""
    return sum(kind_of(entry) is None for entry in value) if isinstance(value, list) else 0


class _Fields:
    """Fields of the records: answers, and those that tell of the task.

    JSON-MIN has the answers between the task's fields and the annotation's. The columns of a CSV are in
    alphabetical order: answers are those in which annotations of one task differ, and those that look like
    nothing else.
    """

    def __init__(self, records: Sequence[Record], between: Sequence[str]) -> None:
        values: dict[str, list[Any]] = {}
        for key, value in ((key, value) for record in records for key, value in record.items()):
            if key not in _FLAT:
                values.setdefault(key, []).append(value)
        plain = {
            key for key, given in values.items() if not any(isinstance(one, list | dict) for one in given)
        }
        shaped = {key for key, given in values.items() if any(_is_answer(one) for one in given)}
        varying = _varying(records)
        asked = between or [
            key for key in values if key in varying or (key in shaped and not _is_text(values[key]))
        ]
        self.regions = {key for key in asked if any(_regions(one) for one in values[key])}
        able = plain | (shaped - self.regions)
        self._guessed = not between and not varying
        more = _recurring({key: values[key] for key in values if key in plain}) if self._guessed else []
        self.questions = dict.fromkeys([*(key for key in asked if key in able), *more])
        self.about = plain - self.questions.keys()

    def sentences(self) -> list[str]:
        """Sentences on what the form leaves open."""
        told = ((True, _NO_STARS), (bool(self.regions), _NO_REGIONS), (self._guessed, _GUESSED))
        return [sentence for so, sentence in told if so]


def _varying(records: Sequence[Record]) -> set[str]:
    """Fields in which annotations of one task differ, so that they are no part of the task."""
    of_task = Counter(scalar(record.get("id")) for record in records)
    cells = Counter(
        (scalar(record.get("id")), key, repr(value))
        for record in records
        for key, value in record.items()
        if value and key not in _FLAT
    )
    return {key for (task, key, _), count in cells.items() if count < of_task[task]}


def _is_text(values: Sequence[Any]) -> bool:
    """Whether a field holds at most written answers, which parts of a task may look like."""
    entries = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return {kind_of(entry) for entry in entries} <= {"text", None}


def _recurring(fields: Mapping[str, Sequence[Any]]) -> list[str]:
    """Fields that may be answers where annotations never differ: named so, or of few values."""
    named = [key for key in fields if names.label_score(key)]
    return named or [
        key
        for key, values in fields.items()
        if 2 <= len({scalar(value) for value in values} - {"", None}) <= len(values) / 4
    ]
