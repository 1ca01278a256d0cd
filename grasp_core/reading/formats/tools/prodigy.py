"""Exports of Prodigy (``prodigy db-out``), JSON Lines.

Format: https://prodi.gy/docs/api-interfaces; sessions: https://prodi.gy/docs/install#multi-user-sessions
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Export, JsonRecord, joined, scalar, scalars
from grasp_core.reading.table import names
from grasp_core.reading.table.table import Parsed

_ANSWERS = ("accept", "reject", "ignore")
_MARKS = frozenset({"_input_hash", "_task_hash", "_session_id", "_annotator_id", "_view_id"})
_NONE = "(none)"
_MARKING = names.word_set("ner_manual spans_manual image_manual audio_manual relations dep pos_manual")
_UNNAMED = re.compile(r"(?:^|-)\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d$")
"""Form of a session without a name, which is called after its start."""
_NOT_ABOUT = _MARKS | {"answer", "accept", "_timestamp", "_is_binary", "_block", "field_id"}


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Return a row per answered task, labelled by options, fields, or accept; None for files of others."""
    if not any(_said(one) and not _MARKS.isdisjoint(one) for one in records[: rows.LOOKED_AT]):
        return None
    if any(isinstance(record.get("versions"), list) for record in records):
        raise DataError(
            f"{name} holds what `prodigy review` decided about others' answers; "
            "export the data sets that were reviewed instead (prodigy db-out)"
        )
    tasks = [task for _, task in rows.entries(records, name)]
    answers = [_said(record) for record in records]
    if "" in answers:
        raise tasks[answers.index("")].damaged("answer", "accept, reject or ignore")
    raters = [_first(task, "_annotator_id", "_session_id") for task in tasks]
    if not any(raters):
        raise DataError(
            f"{name}: no record says who answered it; annotate in named sessions (?session=name in the "
            "address), so that '_annotator_id' or '_session_id' is exported"
        )
    choice = any("options" in record and "accept" in record for record in records)
    fields = [] if choice else _fields(records, answers)
    by_task = not choice and not fields
    if by_task and all(scalar(record.get("_view_id")) in _MARKING for record in records):
        raise DataError(
            f"{name} holds spans or regions that were marked, not answers about whole items; "
            "ask for a choice or for accept and reject, or read another export"
        )
    # The hash of the input, or of the input with its question if tasks ask different questions.
    hashes = ("_task_hash", "_input_hash") if by_task else ("_input_hash", "_task_hash")
    found = Export(name, "Prodigy, JSON")
    for line, (task, answer, rater) in enumerate(zip(tasks, answers, raters, strict=True), start=1):
        if not (item := _first(task, *hashes)):
            raise task.damaged("_input_hash", "the number that Prodigy gives each input")
        if by_task:
            given = {"answer": answer if answer != "ignore" else ""}
        else:
            asked = {"accept": _chosen} if choice else dict.fromkeys(fields, _filled)
            given = {key: tell(task, key) if answer == "accept" else "" for key, tell in asked.items()}
        about = scalars(task.fields, _NOT_ABOUT.union(fields)) | rows.inside(task.fields, "meta")
        times = {"timestamp": task.fields["_timestamp"]} if "_timestamp" in task.fields else {}
        found.add(line, item, rater or None, given, about, scalars(times))
    none = sum(row.answers.get("accept") == _NONE for row in found.rows)
    without = sum("options" not in record and "accept" not in record for record in records)
    shown = "'reject' means that the label shown does not hold; each input with its label is one item"
    found.say("{n:ignored task} {n:counts/count} as missing", answers.count("ignore"))
    found.say("{n:rejected task} {n:counts/count} as missing", answers.count("reject") * choice)
    found.say(f"'{_NONE}' stands for no option where several may be chosen", none)
    found.say(shown, by_task)
    found.say("{n:task} without options {n:counts/count} as missing", without * choice)
    return found.table(prefer=["accept"] if choice else fields)


def _said(record: Mapping[str, Any]) -> str:
    answer = record.get("answer")
    return answer if isinstance(answer, str) and answer in _ANSWERS else ""


def _first(task: JsonRecord, *keys: str) -> str:
    """Return the first of the fields that has a name."""
    texts = (task.text(key) for key in keys)
    return next((text for text in texts if text and not _UNNAMED.search(text)), "")


def _fields(records: Sequence[Record], answers: Sequence[str]) -> list[str]:
    """Return fields that annotators filled in, such as ratings, if nobody rejected a task."""
    if "reject" in answers:
        return []
    declared = {record["field_id"]: None for record in records if isinstance(record.get("field_id"), str)}
    used = [key for key in declared if any(record.get(key) for record in records)]
    if used:
        return used
    # Fields without lists and objects that differ between records of the same input.
    first: dict[tuple[str, str], str] = {}
    asked: dict[str, None] = {}
    for record in map(scalars, records):
        for key, value in record.items():
            if value != first.setdefault((record.get("_input_hash", ""), key), value):
                asked[key] = None
    return [key for key in asked if names.label_score(key) and key not in _NOT_ABOUT and key != "label"]


def _chosen(task: JsonRecord, key: str) -> str:
    """Return ids of the chosen options; if several may be chosen, none is an answer too."""
    accepted = task.values(key) if task.fields.get(key) is not None else []
    options = [rows.want_text(option, task.where, f"an option of {key!r}") for option in accepted]
    config = task.fields.get("config")
    several = isinstance(config, Mapping) and config.get("choice_style") == "multiple"
    return joined(options) or (_NONE if several else "")


def _filled(task: JsonRecord, key: str) -> str:
    return joined(filter(None, map(scalar, rows.several(task.fields.get(key)))))
