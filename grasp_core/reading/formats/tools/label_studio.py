"""Label Studio: tasks with their annotations (JSON), and a record per annotation (JSON-MIN, CSV, TSV).

Formats: https://labelstud.io/guide/task_format and https://labelstud.io/guide/export; for a
record per annotation, ``convert_to_json_min`` and ``exports/csv2.py`` of the package ``label-studio-sdk``.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import JOIN, Export, JsonRecord, Row, scalar, scalars
from grasp_core.reading.table import names
from grasp_core.reading.table.table import Parsed

_OF_ANNOTATION = ("lead_time", "created_at", "updated_at")
_FLAT = frozenset({"id", "annotator", "annotation_id", "was_cancelled", "agreement", *_OF_ANNOTATION})
STARRED = "starred"  # column with the kind of ground truth of each annotation
_NO, _RATER, _REFERENCE = "no", "rater", "reference"
"""Its values: no ground truth; ground truth of a rater who also gave other answers; of another person."""
_NO_STARS = "this form does not say which answers are ground truth (starred); the JSON export does"
_NO_REGIONS = (
    "this form does not always tell answers about a region from answers about the task; the JSON export does"
)
_GUESSED = (
    "annotations of one task never differ, so which columns are answers was guessed; the JSON export says it"
)
_TASK = "the task's number"
_PLAIN = "plain"  # the kind of an answer whose form shows no kind: a single choice, or a text
_KINDS = frozenset({"choices", "rating", "taxonomy", "number", "selected", "datetime", "text", "ranker"})
_WRITTEN = names.word_set(
    "why reason reasons reasoning rationale justification explanation explain comment comments note notes "
    "feedback remark remarks text"
)
_IDS = ("id", "annotator")
"""The names of ids of items and of raters where a record is an annotation."""
_COMPLETE = 0.9
"""Share of the most answered question's answers from which a question counts as equally complete."""


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Read tasks with annotations (JSON), or a record per annotation (JSON-MIN); None for other files."""
    head = records[: rows.LOOKED_AT]
    if any(map(_is_task, head)):
        found = _Found(name, "Label Studio, JSON")
        for line, task in rows.entries(records, name, "task"):
            _collect(task, line, found)
        return found.finished()
    if not any(record.keys() >= {"id", "annotator", "annotation_id"} for record in head):
        return None
    # Answers are after the task's fields, which end with its id, and before the annotation's fields.
    between: dict[str, None] = {}
    for keys in map(list, records):
        if "id" in keys[1:] and "annotator" in keys:
            between |= dict.fromkeys(keys[keys.index("id") + 1 : keys.index("annotator")])
    asked = [key for key in between if key not in _FLAT]
    return _flat(list(rows.entries(records, name)), _Found(name, "Label Studio, JSON-MIN", _IDS), asked)


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Read CSV and TSV exports, whose lists and objects are written as JSON; None for any other table."""
    if not {"id", "annotator", "annotation_id", "lead_time"} <= set(parsed.columns):
        return None
    found = _Found(name, f"Label Studio, {parsed.kind}", _IDS)
    return _flat(list(rows.rows_of(parsed, name, json_files.cell)), found, [])


@dataclass(slots=True)
class _Found(Export):
    """Annotations, with marks for the starred ones, kinds of answers, and a number of answers on regions."""

    starred: list[bool] = field(default_factory=list)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    regions: int = 0

    def note(self, row: Row, annotation: Mapping[str, Any]) -> None:
        """Add an annotation with its times."""
        row.extra.update(scalars({key: annotation.get(key) for key in _OF_ANNOTATION}))
        self.rows.append(row)
        self.starred.append(_is_true(annotation.get("ground_truth")))

    def finished(self) -> Parsed:
        """Return the table of the annotations."""
        if self.rows and not any(row.answers for row in self.rows):
            raise DataError(
                f"{self.name}: no annotation answers a question about its task as a whole (choices, rating, "
                "number, taxonomy, ranking or text); regions and relations are not read"
            )
        of_form, self.said = self.said, []
        if self.regions:
            self.said.append(rows.left_out(Skipped.REGIONS, self.regions))
        others = {row.rater for row, star in zip(self.rows, self.starred, strict=True) if not star}
        some, stars = any(self.starred), Counter[str]()
        for row, star in zip(self.rows, self.starred, strict=True):
            whose = _NO if not star else _RATER if row.rater in others else _REFERENCE
            stars[whose] += 1
            if some:
                row.extra[STARRED] = whose
        self.say(
            "{n:ground-truth annotation} of raters who answered others too {n:counts/count} "
            f"({STARRED} = {_RATER})",
            stars[_RATER],
        )
        self.say(
            "{n:ground-truth annotation} of annotators who gave nothing else {n:is/are} left out by a filter "
            f"({STARRED} = {_REFERENCE})",
            stars[_REFERENCE],
        )
        self.said += of_form
        return self.table(_in_order(self), [(STARRED, _REFERENCE)] if stars[_REFERENCE] else [])


def _is_true(value: Any) -> bool:
    """Return whether a mark is set, in JSON or in a cell."""
    return value is True or (isinstance(value, str) and value.casefold() in ("true", "1"))


# Tasks with their annotations


def _is_task(record: Record) -> bool:
    given = record.get("annotations", record.get("completions"))
    return (
        isinstance(record.get("data"), dict)
        and isinstance(given, list)
        and all(isinstance(annotation, dict) and "result" in annotation for annotation in given)
    )


def _collect(task: JsonRecord, line: int, found: _Found) -> None:
    """Put a task's annotations into `found`."""
    item, about = task.text("id", _TASK), scalars(task.inner("data"))
    for key, what in (("predictions", Skipped.PREDICTIONS), ("drafts", Skipped.DRAFTS)):
        others = task.fields.get(key)
        found.skipped[what] += len(others) if isinstance(others, list) else 0
    given = task.fields.get("annotations", task.fields.get("completions"))
    for position, one in enumerate(rows.want_list(given, task.where, "'annotations'"), start=1):
        where = f"{task.where}, annotation {position}"
        annotation = rows.entry(one, where, "the annotation")
        of = annotation.fields
        if _is_true(of.get("was_cancelled")) or _is_true(of.get("skipped")):
            found.skipped[Skipped.CANCELLED] += 1
        elif of.get("completed_by", "") is None:
            found.skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
        else:
            rater, ids = _annotator(annotation)
            answers = _answers(_results(annotation, found), where, found)
            found.note(Row(line, item, rater, answers, about, ids), of)


def _annotator(annotation: JsonRecord) -> tuple[str, dict[str, str]]:
    """Return the annotator's mail address, as in the CSV export, or else the number; and further ids."""
    given = annotation.fields.get("completed_by")
    if not isinstance(given, dict):
        return annotation.text("completed_by", "the annotator's number or address"), {}
    found = scalars({key: given.get(key) for key in ("email", "id")})
    rater = found.get("email") or found.get("id") or ""
    if not rater:
        raise annotation.damaged("completed_by", "an object with 'id' or 'email'")
    return rater, {"completed_by.id": found.get("id", "")}


def _results(annotation: JsonRecord, found: _Found) -> Iterator[tuple[str, Any]]:
    """Yield questions about the task with the annotation's answers."""
    for one in annotation.values("result"):
        result = rows.entry(one, annotation.where, "an entry of 'result'")
        value = result.fields.get("value")
        if _kind_of(value) is None or result.fields.get("item_index") is not None:  # an answer about one page
            found.regions += 1
        else:
            yield result.text("from_name", "the question's name"), value


# A record per annotation


def _flat(records: Sequence[tuple[int, JsonRecord]], found: _Found, between: Sequence[str]) -> Parsed:
    """Read records whose fields are answers, or describe the task.

    JSON-MIN has the answers between the task's fields and the annotation's. The columns of a CSV are in
    alphabetical order: answers are columns in which annotations of one task differ, or columns that cannot be
    anything else.
    """
    values: dict[str, list[Any]] = {}
    for key, value in (pair for _, record in records for pair in record.fields.items()):
        if key not in _FLAT:
            values.setdefault(key, []).append(value)
    plain = [key for key, given in values.items() if not any(isinstance(one, list | dict) for one in given)]
    kinds = {
        key: {_kind_of(entry) for one in given for entry in rows.several(one)}
        for key, given in values.items()
    }
    varying = _varying([record.fields for _, record in records])
    # Parts of a task may look like written answers.
    asked = between or [key for key in values if key in varying or kinds[key] - {"text", None}]
    of_regions = {key for key in asked if any(map(_regions, values[key]))}
    questions = [key for key in asked if key in plain or (kinds[key] - {None} and key not in of_regions)]
    guessed = not between and not varying
    if guessed:  # by names, or by recurring values
        questions += [key for key in plain if names.label_score(key)] or [
            key
            for key in plain
            if 2 <= len({scalar(value) for value in values[key]} - {"", None}) <= len(values[key]) / 4
        ]
    found.kinds = {question: set() for question in questions}
    for line, record in records:
        for key in ("id", "annotator"):
            if key not in record.fields:
                raise record.damaged(key, "a number or an address")
        item, rater = record.text("id", _TASK), record.text("annotator")
        if _is_true(record.fields.get("was_cancelled")):
            found.skipped[Skipped.CANCELLED] += 1
        elif not rater:
            unanswered = not scalar(record.fields.get("annotation_id"))
            found.skipped[Skipped.UNANNOTATED_TASKS if unanswered else Skipped.UNKNOWN_ANNOTATOR] += 1
        else:
            given = {key: value for key, value in record.fields.items() if value}
            asked_of = {key: rows.several(value) for key, value in given.items() if key in found.kinds}
            each = ((key, one) for key, own in asked_of.items() for one in own)
            answers = _answers(each, record.where, found)
            of_task = [key for key in given if key in plain and key not in found.kinds]
            about = {key: scalar(given[key]) or "" for key in of_task}
            found.note(Row(line, item, rater, answers, about, {}), record.fields)
        found.regions += sum(_regions(value) for key, value in record.fields.items() if key in of_regions)
    found.say(_NO_STARS, True)
    found.say(_NO_REGIONS, bool(of_regions))
    found.say(_GUESSED, guessed)
    return found.finished()


def _regions(value: Any) -> int:
    """Count answers about regions in a field: entries of a list that are no answer with its kind."""
    return sum(_kind_of(entry) is None for entry in value) if isinstance(value, list) else 0


def _varying(records: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return fields in which annotations of one task differ, so that they are no part of the task."""
    of_task = Counter(scalar(record.get("id")) for record in records)
    cells = Counter(
        (scalar(record.get("id")), key, repr(value))
        for record in records
        for key, value in record.items()
        if value and key not in _FLAT
    )
    return {key for (task, key, _), count in cells.items() if count < of_task[task]}


# Answers


def _kind_of(value: Any) -> str | None:
    """Return the kind of an answer; None if it is about a region of the item."""
    keys = set(value) - {"original_width", "original_height"} if isinstance(value, dict) else set()
    return next(iter(keys)) if len(keys) == 1 and keys <= _KINDS else None


def _answers(given: Iterable[tuple[str, Any]], where: str, found: _Found) -> dict[str, str]:
    """Return the answer to each question, and note its kinds in `found`."""
    texts: dict[str, list[str]] = defaultdict(list)
    for question, value in given:
        kind = _kind_of(value)
        if kind is not None:
            texts[question] += _chosen(value, kind, where)
        elif text := scalar(value):
            texts[question].append(text)
            kind = _PLAIN
        found.kinds.setdefault(question, set()).update([kind] if kind else [])
    return {question: rows.joined(several) for question, several in texts.items()}


def _chosen(value: Any, kind: str, where: str) -> list[str]:
    """Return the texts of an answer, one per choice; for a ranking the order, or the order in each bucket."""
    given = value[kind]
    if kind == "ranker" and isinstance(given, dict):
        orders = {
            name: " > ".join(
                rows.want_text(one, where, "a rank") for one in rows.want_list(order, where, "a ranking")
            )
            for name, order in given.items()
        }
        shown = [f"{key}: {text}" if len(orders) > 1 else text for key, text in orders.items()]
        return [" | ".join(shown)] if any(orders.values()) else []
    paths = [rows.several(entry) for entry in rows.several(given)]
    what = f"an answer of {kind!r}"
    texts = [" / ".join(rows.want_text(step, where, what) for step in path) for path in paths]
    kept = [text for text in texts if text]
    return ["\n".join(kept)] if kind == "text" and kept else kept


def _in_order(found: _Found) -> list[str]:
    """Sort questions as proposals for the label, in the same order for every form of an export.

    Written answers come last. Otherwise, questions with differing annotations of a task come first. Among
    these, questions about as complete as the most answered come first; then single choices, ratings, multiple
    choices and others; then more complete questions, and then names decide.
    """
    answers = [(row.item, *pair) for row in found.rows for pair in row.answers.items() if pair[1]]
    counts = Counter(question for _, question, _ in answers)
    several = {question for _, question, answer in answers if JOIN in answer}
    of_item = Counter(row.item for row in found.rows)
    # A missing answer differs from an answer.
    disputed = {question for (item, question, _), count in Counter(answers).items() if count < of_item[item]}
    written = {
        question
        for question, given in found.kinds.items()
        if "text" in given or (given == {_PLAIN} and names.mentions(question, _WRITTEN))
    }
    most = max((counts[question] for question in found.kinds if question not in written), default=0)

    def place(question: str) -> tuple[bool, bool, bool, int, int, str]:
        agreed, incomplete = question not in disputed, counts[question] < _COMPLETE * most
        rank = 1 if found.kinds[question] == {"rating"} else 3
        if found.kinds[question] <= {"choices", "selected", _PLAIN}:
            rank = 2 if question in several else 0
        return question in written, agreed, incomplete, rank, -counts[question], question

    return sorted(found.kinds, key=place)
