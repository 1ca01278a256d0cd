"""Exports of Prodigy (``prodigy db-out``), JSON Lines.

Format: https://prodi.gy/docs/api-interfaces; sessions: https://prodi.gy/docs/install#multi-user-sessions
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import agree, number
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, damaged, want_list, want_scalar
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import Parsed

_KIND = "Prodigy, JSON"
_ANSWERS = ("accept", "reject", "ignore")
_MARKS = frozenset({"_input_hash", "_task_hash", "_session_id", "_annotator_id", "_view_id"})
_NONE = "(none)"
_MARKING = frozenset(
    {"ner_manual", "spans_manual", "image_manual", "audio_manual", "relations", "dep", "pos_manual"}
)
_UNNAMED = re.compile(r"(?:^|-)\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d$")
_NOT_ABOUT = _MARKS | {"answer", "accept", "_timestamp", "_is_binary", "_block", "field_id"}


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A row per answered task; None for anything that is not Prodigy's.

    Choice tasks have the chosen options as label, tasks with a field to fill in that field, any other the
    answer itself: accept or reject.
    """
    if not any(_is_task(record) for record in records[: rows.LOOKED_AT]):
        return None
    if any(isinstance(record.get("versions"), list) for record in records):
        raise DataError(
            f"{name} holds what `prodigy review` decided about others' answers; "
            "export the data sets that were reviewed instead (prodigy db-out)"
        )
    places = [f"{name}, record {line}" for line in range(1, len(records) + 1)]
    answers = [_answer(record, where) for record, where in zip(records, places, strict=True)]
    raters = [_rater(record, where) for record, where in zip(records, places, strict=True)]
    if not any(raters):
        raise DataError(
            f"{name}: no record says who answered it; annotate in named sessions (?session=name in the "
            "address), so that '_annotator_id' or '_session_id' is exported"
        )
    choice = any("options" in record and "accept" in record for record in records)
    fields = [] if choice else _fields(records, answers)
    by_task = not choice and not fields
    if by_task and all(rows.scalar(record.get("_view_id")) in _MARKING for record in records):
        raise DataError(
            f"{name} holds spans or regions that were marked, not answers about whole items; "
            "ask for a choice or for accept and reject, or read another export"
        )
    found: list[Row] = []
    for line, (record, answer, rater, where) in enumerate(
        zip(records, answers, raters, places, strict=True), start=1
    ):
        item = _item(record, by_task=by_task, where=where)
        accepted = answer == "accept"
        if choice:
            given = {"accept": _chosen(record, where) if accepted else ""}
        elif fields:
            given = {key: _filled(record.get(key)) if accepted else "" for key in fields}
        else:
            given = {"answer": "" if answer == "ignore" else answer}
        if rater:
            about = rows.with_inner(record, "meta", leave={*_NOT_ABOUT, *fields})
            times = rows.scalars({"timestamp": record["_timestamp"]} if "_timestamp" in record else {})
            found.append(Row(line, item, rater, given, about, times))
    unknown = Counter({Skipped.UNKNOWN_ANNOTATOR: raters.count("")})
    missing = {"ignored task": answers.count("ignore"), "rejected task": answers.count("reject") * choice}
    sentences = [
        f"{number(count, noun)} {agree(count, 'counts', 'count')} as missing"
        for noun, count in missing.items()
        if count
    ]
    if any(row.answers.get("accept") == _NONE for row in found):
        sentences.append(f"'{_NONE}' stands for no option where several may be chosen")
    if by_task:
        sentences.append(
            "'reject' means that the label shown does not hold; each input with its label is one item"
        )
    unasked = sum("options" not in record and "accept" not in record for record in records) if choice else 0
    if unasked:
        sentences.append(
            f"{number(unasked, 'task')} without options {agree(unasked, 'counts', 'count')} as missing"
        )
    prefer = ["accept"] if choice else fields
    return rows.parsed(found, name=name, kind=_KIND, skipped=unknown, sentences=sentences, prefer=prefer)


def _is_task(record: Record) -> bool:
    answer = record.get("answer")
    return isinstance(answer, str) and answer in _ANSWERS and not _MARKS.isdisjoint(record)


def _answer(record: Record, where: str) -> str:
    answer = record.get("answer")
    if not isinstance(answer, str) or answer not in _ANSWERS:
        raise damaged(where, "'answer'", answer, "accept, reject or ignore")
    return answer


def _rater(record: Record, where: str) -> str:
    """The person who answered; nobody knows of a session without a name, which is called after its start."""
    for key in ("_annotator_id", "_session_id"):
        rater = want_scalar(record.get(key), where, f"{key!r}")
        if rater and not _UNNAMED.search(rater):
            return rater
    return ""


def _item(record: Record, *, by_task: bool, where: str) -> str:
    """The hash of the input, or of the input with its question where tasks ask different ones."""
    keys = ("_task_hash", "_input_hash") if by_task else ("_input_hash", "_task_hash")
    for key in keys:
        if item := want_scalar(record.get(key), where, f"{key!r}"):
            return item
    raise damaged(where, "'_input_hash'", None, "the number that Prodigy gives each input")


def _fields(records: Sequence[Record], answers: Sequence[str]) -> list[str]:
    """Fields that annotators filled in, such as ratings, where nobody rejected a task."""
    if "reject" in answers:
        return []
    declared = {record["field_id"]: None for record in records if isinstance(record.get("field_id"), str)}
    used = [key for key in declared if any(record.get(key) for record in records)]
    if used:
        return used
    # Fields without lists and objects that differ between records of the same input.
    first: dict[tuple[str, str], str] = {}
    asked: dict[str, None] = {}
    for record in map(rows.scalars, records):
        for key, value in record.items():
            if value != first.setdefault((record.get("_input_hash", ""), key), value):
                asked[key] = None
    return [key for key in asked if names.label_score(key) and key not in _NOT_ABOUT and key != "label"]


def _chosen(record: Record, where: str) -> str:
    """Ids of the chosen options; of several that may be chosen, none is an answer too."""
    accepted = record.get("accept")
    listed = want_list([] if accepted is None else accepted, where, "'accept'")
    options = [want_scalar(option, where, "an option of 'accept'") for option in listed]
    config = record.get("config")
    several = isinstance(config, Mapping) and config.get("choice_style") == "multiple"
    return rows.joined(options) or (_NONE if several else "")


def _filled(value: Any) -> str:
    if isinstance(value, list):
        return rows.joined(text for entry in value if (text := rows.scalar(entry)))
    return rows.scalar(value) or ""
