"""Label Studio: tasks with their annotations (JSON), and a record per annotation (JSON-MIN, CSV, TSV).

Formats: https://labelstud.io/guide/task_format and https://labelstud.io/guide/export; for a
record per annotation, ``convert_to_json_min`` and ``exports/csv2.py`` of the package ``label-studio-sdk``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import agree, number
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import (
    JOIN,
    Row,
    damaged,
    scalar,
    want_list,
    want_object,
    want_scalar,
)
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import Parsed

_OF_ANNOTATION = ("lead_time", "created_at", "updated_at")
_FLAT = frozenset({"id", "annotator", "annotation_id", "was_cancelled", "agreement", *_OF_ANNOTATION})
STARRED = "starred"
"""Column that says of each annotation whether it is ground truth, and whose."""
_NO, _RATER, _REFERENCE = "no", "rater", "reference"
"""Its values: no ground truth; that of someone who also gave other answers; of someone who did not."""
_NO_STARS = "this form does not say which answers are ground truth (starred); the JSON export does"
_NO_REGIONS = (
    "this form does not always tell answers about a region from answers about the task; the JSON export does"
)
_GUESSED = (
    "annotations of one task never differ, so which columns are answers was guessed; the JSON export says it"
)


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Tasks with their annotations (JSON), or a record per annotation (JSON-MIN); None for anything else."""
    head = records[: rows.LOOKED_AT]
    if any(map(_is_task, head)):
        found = _Found()
        for line, record in enumerate(records, start=1):
            _collect(record, line, f"{name}, task {line}", found)
        return found.parsed(name, "Label Studio, JSON")
    if not any(record.keys() >= {"id", "annotator", "annotation_id"} for record in head):
        return None
    # Fields after the task's, which end with its id, and before the annotation's are the answers.
    between: dict[str, None] = {}
    for keys in map(list, records):
        if "id" in keys[1:] and "annotator" in keys:
            between |= dict.fromkeys(keys[keys.index("id") + 1 : keys.index("annotator")])
    asked = [key for key in between if key not in _FLAT]
    return _flat(records, range(1, len(records) + 1), name, "Label Studio, JSON-MIN", "record", asked)


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The CSV and TSV exports, whose lists and objects are written as JSON; None for any other table."""
    if not {"id", "annotator", "annotation_id", "lead_time"} <= set(parsed.columns):
        return None
    records = rows.opened(parsed, json_files.cell)
    return _flat(records, parsed.numbers.tolist(), name, f"Label Studio, {parsed.kind}", "row", [])


@dataclass(slots=True)
class _Found:
    """Annotations and notes collected from an export.

    `starred`: of each row, whether it is ground truth.
    `kinds`: of each question's answers.
    `regions`: answers about parts of an item, which are no annotations of it.
    """

    rows: list[Row] = field(default_factory=list)
    starred: list[bool] = field(default_factory=list)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    skipped: Counter[Skipped] = field(default_factory=Counter)
    regions: int = 0

    def add(self, row: Row, annotation: Mapping[str, Any]) -> None:
        """Put an annotation with its times into the rows."""
        times = rows.scalars({key: annotation.get(key) for key in _OF_ANNOTATION})
        self.rows.append(replace(row, extra={**row.extra, **times}))
        self.starred.append(_is_true(annotation.get("ground_truth")))

    def parsed(self, name: str, kind: str, sentences: Iterable[str] = ()) -> Parsed:
        """The table of the annotations."""
        if self.rows and not any(row.answers for row in self.rows):
            raise DataError(
                f"{name}: no annotation answers a question about its task as a whole (choices, rating, "
                "number, taxonomy, ranking or text); regions and relations are not read"
            )
        others = {row.rater for row, star in zip(self.rows, self.starred, strict=True) if not star}
        stars = [
            (_RATER if row.rater in others else _REFERENCE) if star else _NO
            for row, star in zip(self.rows, self.starred, strict=True)
        ]
        said = rows.left_out({Skipped.REGIONS: self.regions})
        if count := stars.count(_RATER):
            said.append(
                f"{number(count, 'ground-truth annotation')} of raters who answered others too "
                f"{agree(count, 'counts', 'count')} ({STARRED} = {_RATER})"
            )
        if count := stars.count(_REFERENCE):
            said.append(
                f"{number(count, 'ground-truth annotation')} of annotators who gave nothing else "
                f"{agree(count, 'is', 'are')} left out by a filter ({STARRED} = {_REFERENCE})"
            )
        marked = [
            replace(row, extra={**row.extra, STARRED: star} if any(self.starred) else row.extra)
            for row, star in zip(self.rows, stars, strict=True)
        ]
        return rows.parsed(
            marked,
            name=name,
            kind=kind,
            skipped=self.skipped,
            sentences=[*said, *sentences],
            prefer=_in_order(self.rows, self.kinds),
            drop=[(STARRED, _REFERENCE)] if _REFERENCE in stars else [],
        )


def _is_true(value: Any) -> bool:
    """Whether a mark is set, in JSON or in a cell."""
    return value is True or (isinstance(value, str) and value.casefold() in ("true", "1"))


# Tasks with their annotations


def _is_task(record: Record) -> bool:
    given = record.get("annotations", record.get("completions"))
    return (
        isinstance(record.get("data"), dict)
        and isinstance(given, list)
        and all(isinstance(annotation, dict) and "result" in annotation for annotation in given)
    )


def _collect(record: Record, line: int, where: str, found: _Found) -> None:
    """Put a task's annotations into `found`."""
    item = want_scalar(record.get("id"), where, "'id'", needed="the task's number")
    about = rows.scalars(want_object(record.get("data"), where, "'data'"))
    for key, what in (("predictions", Skipped.PREDICTIONS), ("drafts", Skipped.DRAFTS)):
        others = record.get(key)
        found.skipped[what] += len(others) if isinstance(others, list) else 0
    given = want_list(record.get("annotations", record.get("completions")), where, "'annotations'")
    for position, annotation in enumerate(given, start=1):
        place = f"{where}, annotation {position}"
        annotation = want_object(annotation, place, "the annotation")
        if _is_true(annotation.get("was_cancelled")) or _is_true(annotation.get("skipped")):
            found.skipped[Skipped.CANCELLED] += 1
        elif annotation.get("completed_by", "") is None:
            found.skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
        else:
            rater, ids = _annotator(annotation, place)
            found.add(Row(line, item, rater, _results(annotation, place, found), about, ids), annotation)


def _annotator(annotation: Mapping[str, Any], where: str) -> tuple[str, dict[str, str]]:
    """The annotator's mail address, as in the CSV export, or else the number."""
    given = annotation.get("completed_by")
    if not isinstance(given, dict):
        return want_scalar(given, where, "'completed_by'", needed="the annotator's number or address"), {}
    found = rows.scalars({key: given.get(key) for key in ("email", "id")})
    rater = found.get("email") or found.get("id") or ""
    if not rater:
        raise damaged(where, "'completed_by'", given, "an object with 'id' or 'email'")
    return rater, {"completed_by.id": found.get("id", "")}


def _results(annotation: Mapping[str, Any], where: str, found: _Found) -> dict[str, str]:
    """The annotation's answer per question."""
    given: dict[str, list[str]] = defaultdict(list)
    for result in want_list(annotation.get("result"), where, "'result'"):
        result = want_object(result, where, "an entry of 'result'")
        value = result.get("value")
        kind = _kind_of(value)
        if kind is None or result.get("item_index") is not None:  # a page of the item is a part
            found.regions += 1
            continue
        question = want_scalar(result.get("from_name"), where, "'from_name'", needed="the question's name")
        given[question] += _chosen(value, kind, where)
        found.kinds.setdefault(question, set()).add(kind)
    return {question: rows.joined(answers) for question, answers in given.items()}


# A record per annotation


def _flat(
    records: Sequence[Record], lines: Iterable[int], name: str, kind: str, unit: str, between: Sequence[str]
) -> Parsed:
    """Fields of the records are answers, or tell of the task.

    JSON-MIN has the answers between the task's fields and the annotation's. The columns of a CSV are in
    alphabetical order: answers are those in which annotations of one task differ, and those that look like
    nothing else.
    """
    values: dict[str, list[Any]] = {}
    for key, value in ((key, value) for record in records for key, value in record.items()):
        if key not in _FLAT:
            values.setdefault(key, []).append(value)
    plain = [key for key, given in values.items() if not any(isinstance(one, list | dict) for one in given)]
    kinds = {
        key: {_kind_of(entry) for one in given for entry in (one if isinstance(one, list) else [one])}
        for key, given in values.items()
    }
    varying = _varying(records)
    # Parts of a task may look like written answers.
    asked = between or [key for key in values if key in varying or kinds[key] - {"text", None}]
    of_regions = {key for key in asked if any(map(_regions, values[key]))}
    guessed = not between and not varying
    questions = [key for key in asked if key in plain or (kinds[key] - {None} and key not in of_regions)]
    if guessed:
        questions += _recurring({key: values[key] for key in plain})
    found = _Found(kinds={question: set() for question in questions})
    for line, record in zip(lines, records, strict=True):
        where = f"{name}, {unit} {line}"
        for key in ("id", "annotator"):
            if key not in record:
                raise damaged(where, f"{key!r}", None, "a number or an address")
        item = want_scalar(record["id"], where, "'id'", needed="the task's number")
        rater = want_scalar(record["annotator"], where, "'annotator'")
        if _is_true(record.get("was_cancelled")):
            found.skipped[Skipped.CANCELLED] += 1
        elif not rater:
            unanswered = not scalar(record.get("annotation_id"))
            found.skipped[Skipped.UNANNOTATED_TASKS if unanswered else Skipped.UNKNOWN_ANNOTATOR] += 1
        else:
            given = {key: value for key, value in record.items() if value}
            answers = {
                key: _answer(key, value, where, found) for key, value in given.items() if key in found.kinds
            }
            about = {
                key: scalar(value) or ""
                for key, value in given.items()
                if key in plain and key not in found.kinds
            }
            found.add(Row(line, item, rater, answers, about), record)
        found.regions += sum(_regions(value) for key, value in record.items() if key in of_regions)
    told = ((True, _NO_STARS), (bool(of_regions), _NO_REGIONS), (guessed, _GUESSED))
    return found.parsed(name, kind, [sentence for so, sentence in told if so])


def _answer(question: str, value: Any, where: str, found: _Found) -> str:
    given: list[str] = []
    for entry in value if isinstance(value, list) else [value]:
        kind = _kind_of(entry)
        if kind is not None:
            given += _chosen(entry, kind, where)
            found.kinds[question].add(kind)
        elif text := scalar(entry):
            given.append(text)
            found.kinds[question].add(_PLAIN)
    return rows.joined(given)


def _regions(value: Any) -> int:
    """Answers about regions in a field: entries of a list that are no answer with its kind."""
    return sum(_kind_of(entry) is None for entry in value) if isinstance(value, list) else 0


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


def _recurring(fields: Mapping[str, Sequence[Any]]) -> list[str]:
    """Fields that may be answers where annotations never differ: named so, or of few values."""
    named = [key for key in fields if names.label_score(key)]
    return named or [
        key
        for key, values in fields.items()
        if 2 <= len({scalar(value) for value in values} - {"", None}) <= len(values) / 4
    ]


# Answers

_PLAIN = "plain"
"""The kind of an answer that its form tells no kind of: a single choice, or a text."""
_KINDS = frozenset({"choices", "rating", "taxonomy", "number", "selected", "datetime", "text", "ranker"})
_WRITTEN = (
    "why reason reasons reasoning rationale justification explanation explain comment comments note notes "
    "feedback remark remarks text"
)
_COMPLETE = 0.9
"""Share of the most answered question's answers from which a question is as complete as it."""


def _kind_of(value: Any) -> str | None:
    """Which kind of answer it is; None where it is about a region of the item."""
    keys = set(value) - {"original_width", "original_height"} if isinstance(value, dict) else set()
    return next(iter(keys)) if len(keys) == 1 and keys <= _KINDS else None


def _chosen(value: Any, kind: str, where: str) -> list[str]:
    """The texts of an answer, one for each thing chosen; of a ranking the order, or that in each bucket."""
    given = value[kind]
    if kind == "ranker" and isinstance(given, dict):
        orders = {
            name: " > ".join(
                want_scalar(one, where, "a rank") for one in want_list(order, where, "a ranking")
            )
            for name, order in given.items()
        }
        shown = [f"{key}: {text}" if len(orders) > 1 else text for key, text in orders.items()]
        return [" | ".join(shown)] if any(orders.values()) else []
    paths = [
        " / ".join(
            want_scalar(step, where, f"an answer of {kind!r}")
            for step in (entry if isinstance(entry, list) else [entry])
        )
        for entry in (given if isinstance(given, list) else [given])
    ]
    kept = [text for text in paths if text]
    return ["\n".join(kept)] if kind == "text" and kept else kept


def _in_order(found: Sequence[Row], kinds: Mapping[str, set[str]]) -> list[str]:
    """Questions in the order in which they are proposed as the label, the same in every form of an export.

    What was written comes last. Otherwise, questions on which annotations of a task differ come first; of
    those, the ones about as complete as the most answered; of those, single choices, then ratings, multiple
    choices and others; then the more complete, and then by name.
    """
    answers = [(row.item, *pair) for row in found for pair in row.answers.items() if pair[1]]
    counts = Counter(question for _, question, _ in answers)
    several = {question for _, question, answer in answers if JOIN in answer}
    of_item = Counter(row.item for row in found)
    # No answer differs from an answer.
    disputed = {question for (item, question, _), count in Counter(answers).items() if count < of_item[item]}
    written_names = set(_WRITTEN.split())
    written = {
        question
        for question, given in kinds.items()
        if "text" in given or (given == {_PLAIN} and not written_names.isdisjoint(names.words(question)))
    }
    most = max((counts[question] for question in kinds if question not in written), default=0)

    def place(question: str) -> tuple[bool, bool, bool, int, int, str]:
        agreed, incomplete = question not in disputed, counts[question] < _COMPLETE * most
        rank = 1 if kinds[question] == {"rating"} else 3
        if kinds[question] <= {"choices", "selected", _PLAIN}:
            rank = 2 if question in several else 0
        return question in written, agreed, incomplete, rank, -counts[question], question

    return sorted(kinds, key=place)
