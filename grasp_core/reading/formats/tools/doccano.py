"""doccano: labels of whole texts, in a file per annotator.

Formats: https://doccano.github.io/doccano/tutorial/ and, for the contents of an export,
https://github.com/doccano/doccano/tree/master/backend/data_export
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.reading.files import delimited, encodings, json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Entry, Export, Row, entries, joined, scalars
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import unwatched
from grasp_core.reading.table.table import Parsed

_LABELS = ("label", "labels", "cats")
_CONTENTS = ("text", "data", "filename")
_NOT_ABOUT = frozenset({"id", "annotations", "annotation_approver", "comments", "Comments", *_LABELS})
_ENDINGS = {".csv": "CSV", ".json": "JSON", ".jsonl": "JSON Lines"}
_NOBODY = "unknown"
"""The file of texts that nobody has labelled, up to version 1.5."""
_NUMBER = "the text's number"
_OF_SPANS = "the labels are of spans; only labels of whole texts are read"


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A JSON or JSON Lines export in one file; None for anything else."""
    looked_at = records[: rows.LOOKED_AT]
    if (looked_at and all(map(_has_spans, looked_at))) or any(map(_has_places, looked_at)):
        raise DataError(f"{name}: {_OF_SPANS}")
    if looked_at and all(map(_is_labelled, looked_at)) and not any(map(_tells_raters, looked_at)):
        return _of_one(entries(records, name), name, "JSON")
    return None


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """A CSV export in one file; None for any other table."""
    if not {"id", "text", "label", "Comments"} <= set(parsed.columns):
        return None
    return _of_one(entries(_split(parsed), name, lines=parsed.numbers.tolist()), name, parsed.kind)


def read_archive(members: Sequence[str], member: Callable[[str], bytes], name: str) -> Parsed | None:
    """An archive with a file per annotator, named after them; None for any other archive.

    Files belong to annotators if at least two of them have a text in common: parts of one data set have none.
    """
    endings = {PurePosixPath(path).suffix.lower() for path in members}
    if len(members) < 2 or len(endings) != 1 or not endings <= _ENDINGS.keys():
        return None
    ending = endings.pop()
    try:  # a quick look that never fails
        if _member(member(members[0]), name, ending) is None:
            return None
    except DataError:
        return None
    found = Export(name, f"doccano, {_ENDINGS[ending]}, zip")
    found.said.append("each file was taken for the annotator that it is named after")
    texts: Counter[tuple[str, ...]] = Counter()
    for path in members:
        records = _member(member(path), f"{name}, {path}", ending)
        if records is None:
            return None
        rater = PurePosixPath(path).stem
        own = [_row(line, record, rater) for line, record in records]
        texts.update({(row.item, *(row.about.get(key, "") for key in _CONTENTS)) for row in own})
        if rater == _NOBODY:
            found.skipped[Skipped.UNKNOWN_ANNOTATOR] += sum(bool(row.answers["label"]) for row in own)
        else:
            found.rows += own
    several = texts and (max(texts.values()) > 1 or found.skipped)
    return found.table() if several else None


# A file per annotator


def _is_labelled(record: Record) -> bool:
    """Whether it is a text with its labels, and not with spans."""
    given = (record.get(key) for key in _LABELS)
    labelled = any(isinstance(one, list) and all(isinstance(label, str) for label in one) for one in given)
    return "id" in record and any(key in record for key in _CONTENTS) and labelled


def _tells_raters(record: Record) -> bool:
    """Whether a list of raters stands beside the labels, one for each."""
    return any(isinstance(value, list) and names.id_score(key, names.RATER) for key, value in record.items())


def _has_spans(record: Record) -> bool:
    """Whether it is a text whose labels are of spans, or with relations between spans."""
    if "id" not in record or not any(key in record for key in _CONTENTS):
        return False
    if isinstance(record.get("entities"), list) and isinstance(record.get("relations"), list):
        return True
    labels: list[Any] = next((record[key] for key in _LABELS if isinstance(record.get(key), list)), [])
    return bool(labels) and all(isinstance(one, list) and len(one) == 3 for one in labels)


def _has_places(record: Record) -> bool:
    """Whether its annotations are of spans, as up to version 1.2, each with its annotator's number."""
    given = record.get("annotations")
    return isinstance(given, list) and any("start_offset" in one for one in given if isinstance(one, dict))


def _member(content: bytes, name: str, ending: str) -> Iterable[tuple[int, Entry]] | None:
    """The texts of one annotator, who may have none; None where they have no labels."""
    if not content.strip():
        return []
    text, _, _ = encodings.to_utf8(content, name)
    lines = None
    if ending == ".csv":
        parsed = delimited.parse(text, name, unwatched)
        records, lines = _split(parsed), parsed.numbers.tolist()
    else:
        records = json_files.records(text, name)[0] if text.strip() not in (b"[]", b"{}") else []
    labelled = all(map(_is_labelled, records[: rows.LOOKED_AT]))
    return entries(records, name, lines=lines) if labelled else None


def _split(parsed: Parsed) -> list[Record]:
    """The rows of a CSV, whose labels are joined by a mark."""
    return [
        {key: list(filter(None, cell.split("#"))) if key in _LABELS else cell for key, cell in record.items()}
        for record in rows.records_of(parsed)
    ]


def _row(line: int, record: Entry, rater: str) -> Row:
    key = next((key for key in _LABELS if key in record.fields), "label")
    answer = joined(
        rows.want_text(label, record.where, f"an entry of {key!r}") for label in record.values(key)
    )
    return Row(line, record.text("id", _NUMBER), rater, {"label": answer}, _about(record), {})


def _about(record: Entry) -> dict[str, str]:
    return scalars(record.fields, _NOT_ABOUT) | rows.inside(record.fields, "meta")


def _of_one(records: Iterable[tuple[int, Entry]], name: str, kind: str) -> Parsed:
    """One file with the annotator among the texts' own fields; another does not tell who gave which label."""
    found = Export(name, f"doccano, {kind}")
    found.rows += [_row(line, record, "") for line, record in records]
    fields = dict.fromkeys(key for row in found.rows for key in row.about)
    named = max(fields, key=lambda key: names.id_score(key, names.RATER), default="")
    if names.id_score(named, names.RATER):
        found.rows = [replace(row, rater=row.about.get(named, "")) for row in found.rows]
        return found.table()
    raise DataError(
        f"{name} does not say who gave which label, as doccano puts everybody's labels together where they "
        "share them; turn off 'Share annotations across all users' in the project's settings and export "
        "again, which gives a zip archive with a file per annotator"
    )
