"""Exports of doccano: labels of whole texts, in a file per annotator or with the annotators' numbers.

Formats: https://doccano.github.io/doccano/tutorial/ and, for what an export holds,
https://github.com/doccano/doccano/tree/master/backend/data_export
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.reading.files import delimited, encodings, json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, damaged, want_list, want_object, want_scalar
from grasp_core.reading.formats.tools import doccano_fasttext
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import Parsed

_LABELS = ("label", "labels", "cats")
_CONTENTS = ("text", "data", "filename")
_NOT_ABOUT = frozenset({"id", "annotations", "annotation_approver", "comments", "Comments", *_LABELS})
_ENDINGS = frozenset({".jsonl", ".json", ".csv"})
_NOBODY = "unknown"
"""The file of texts that nobody has labelled, up to version 1.5."""
_FILE_EACH = "each file was taken for the annotator that it is named after"
_BY_ROW = "texts are named by their rows"
_SEPARATOR = "#"
"""Between the labels of one text in the CSV export."""


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A JSON or JSON Lines export in one file; None for anything else."""
    looked_at = records[: rows.LOOKED_AT]
    if any(_has_users(record) for record in looked_at):
        return _read_users(records, name)
    if looked_at and all(_has_spans(record) for record in looked_at):
        raise DataError(f"{name}: the labels are of spans; only labels of whole texts are read")
    if looked_at and all(_is_labelled(record) and not _tells_raters(record) for record in looked_at):
        return _read_one(records, name, "doccano, JSON", range(1, len(records) + 1))
    return None


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """A CSV export in one file; None for any other table."""
    columns = set(parsed.columns)
    with_users = columns >= {"id", "text", "label", "user", "annotation_approver"}
    of_one = columns >= {"id", "text", "label", "Comments"}
    if not with_users and not of_one:
        return None
    if with_users:
        return _read_user_rows(parsed, name)
    return _read_one(_split_labels(parsed), name, f"doccano, {parsed.kind}", parsed.numbers.tolist())


def read_archive(members: Sequence[str], member: Callable[[str], bytes], name: str) -> Parsed | None:
    """An archive with a file per annotator, named after them; None for any other archive.

    Files belong to annotators if at least two of them have a text in common: parts of one data set have none.
    """
    endings = {PurePosixPath(path).suffix.lower() for path in members}
    if len(members) > 1 and endings == {".txt"}:
        return _read_fasttext(members, member, name)
    if len(members) < 2 or len(endings) != 1 or not endings <= _ENDINGS:
        return None
    if not _looks_labelled(member(members[0]), name, csv=".csv" in endings):
        return None
    found: list[Row] = []
    texts: Counter[tuple[str, ...]] = Counter()
    skipped: Counter[Skipped] = Counter()
    for path in members:
        shown = f"{name}, {path}"
        records, lines = _member(member(path), shown, csv=".csv" in endings)
        if not all(_is_labelled(record) for record in records[: rows.LOOKED_AT]):
            return None
        own = list(_rows(records, shown, PurePosixPath(path).stem, lines))
        texts.update({(row.item, *(row.about.get(key, "") for key in _CONTENTS)) for row in own})
        if PurePosixPath(path).stem == _NOBODY:
            skipped[Skipped.UNKNOWN_ANNOTATOR] += sum(bool(row.answers["label"]) for row in own)
        else:
            found += own
    if not texts or (max(texts.values()) < 2 and not skipped):
        return None
    kind = f"doccano, {_format(endings)}, zip"
    return rows.parsed(found, name=name, kind=kind, skipped=skipped, sentences=(_FILE_EACH,))


def _read_fasttext(members: Sequence[str], member: Callable[[str], bytes], name: str) -> Parsed | None:
    files = {PurePosixPath(path).stem: member(path) for path in members}
    if len(files) < len(members) or not any(
        doccano_fasttext.is_fasttext(content) for content in files.values()
    ):
        return None
    found = doccano_fasttext.read(files, name)
    return rows.parsed(found, name=name, kind="doccano, fastText, zip", sentences=(_FILE_EACH, _BY_ROW))


def _format(endings: Iterable[str]) -> str:
    return {".csv": "CSV", ".json": "JSON", ".jsonl": "JSON Lines"}[next(iter(endings))]


# A file per annotator


def _is_labelled(record: Record) -> bool:
    """Whether it is a text with its labels, and not with spans."""
    return "id" in record and any(key in record for key in _CONTENTS) and _label_key(record) is not None


def _has_spans(record: Record) -> bool:
    """Whether it is a text whose labels are of spans, or with relations between spans."""
    if "id" not in record or not any(key in record for key in _CONTENTS):
        return False
    if isinstance(record.get("entities"), list) and isinstance(record.get("relations"), list):
        return True
    labels = next((record[key] for key in _LABELS if isinstance(record.get(key), list)), None)
    return bool(labels) and all(isinstance(label, list) and len(label) == 3 for label in labels or ())


def _tells_raters(record: Record) -> bool:
    """Whether a list of raters stands beside the labels, one for each."""
    return any(isinstance(value, list) and names.id_score(key, names.RATER) for key, value in record.items())


def _label_key(record: Record) -> str | None:
    for key in _LABELS:
        value = record.get(key)
        if isinstance(value, list) and all(isinstance(label, str) for label in value):
            return key
    return None


def _looks_labelled(content: bytes, name: str, *, csv: bool) -> bool:
    """Whether the first file of an archive may be doccano's; a quick look that never fails."""
    try:
        records, _ = _member(content, name, csv=csv)
    except DataError:
        return False
    return all(_is_labelled(record) for record in records[: rows.LOOKED_AT])


def _member(content: bytes, name: str, *, csv: bool) -> tuple[list[Record], Sequence[int]]:
    """The records of one annotator's file, and the number of each; an annotator may have none."""
    if not content.strip():
        return [], ()
    text, _, _ = encodings.to_utf8(content, name)
    if not csv:
        records = json_files.records(text, name)[0] if text.strip() not in (b"[]", b"{}") else []
        return records, range(1, len(records) + 1)
    parsed = delimited.parse(text, name, lambda _done, _total: None)
    return _split_labels(parsed), parsed.numbers.tolist()


def _split_labels(parsed: Parsed) -> list[Record]:
    records: list[Record] = parsed.data.to_pylist()
    return [
        {key: _split(cell) if key in _LABELS else cell for key, cell in record.items()} for record in records
    ]


def _split(cell: str) -> list[str]:
    return [label for label in cell.split(_SEPARATOR) if label]


def _rows(records: Sequence[Record], name: str, rater: str, lines: Iterable[int]) -> Iterator[Row]:
    for line, record in zip(lines, records, strict=True):
        where = f"{name}, record {line}"
        key = next((key for key in _LABELS if key in record), "label")
        labels = want_list(record.get(key), where, f"{key!r}")
        answer = rows.joined(want_scalar(label, where, f"an entry of {key!r}") for label in labels)
        yield Row(line, _item(record, where), rater, {"label": answer}, _about(record))


def _item(record: Record, where: str) -> str:
    item = want_scalar(record.get("id"), where, "'id'")
    if not item:
        raise damaged(where, "'id'", None, "the text's number")
    return item


def _about(record: Record) -> dict[str, str]:
    meta = record.get("meta")
    nested = (
        {f"meta.{key}": text for key, text in rows.scalars(meta).items()} if isinstance(meta, dict) else {}
    )
    return {**rows.scalars(record, leave=_NOT_ABOUT), **nested}


def _read_one(records: Sequence[Record], name: str, kind: str, lines: Iterable[int]) -> Parsed:
    """One file with the annotator among the texts' own fields; another does not tell who gave which label."""
    found = list(_rows(records, name, "", lines))
    fields = dict.fromkeys(key for row in found for key in row.about)
    named = max(fields, key=lambda key: names.id_score(key, names.RATER), default=None)
    if named is not None and names.id_score(named, names.RATER):
        own = [dataclasses.replace(row, rater=row.about.get(named, "")) for row in found]
        return rows.parsed(own, name=name, kind=kind)
    raise DataError(
        f"{name} does not say who gave which label, as doccano puts everybody's labels together where they "
        "share them; turn off 'Share annotations across all users' in the project's settings and export "
        "again, which gives a zip archive with a file per annotator"
    )


# Up to version 1.2: the annotators' numbers beside the labels


def _has_users(record: Record) -> bool:
    given = record.get("annotations")
    return (
        isinstance(given, list)
        and bool(given)
        and all(isinstance(entry, dict) and entry.keys() >= {"label", "user"} for entry in given)
    )


def _read_users(records: Sequence[Record], name: str) -> Parsed:
    found: list[Row] = []
    skipped: Counter[Skipped] = Counter()
    for line, record in enumerate(records, start=1):
        where = f"{name}, record {line}"
        labels: dict[str, list[str]] = {}
        for entry in want_list(record.get("annotations"), where, "'annotations'"):
            entry = want_object(entry, where, "an annotation")
            if "start_offset" in entry:
                raise DataError(f"{where}: the labels are of spans; only labels of whole texts are read")
            user, label = (want_scalar(entry.get(key), where, f"{key!r}") for key in ("user", "label"))
            if not user:
                skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
            else:
                labels.setdefault(user, []).append(label)
        item, about = _item(record, where), _about(record)
        found += [Row(line, item, user, {"label": rows.joined(own)}, about) for user, own in labels.items()]
    return rows.parsed(found, name=name, kind="doccano, JSON", skipped=skipped)


def _read_user_rows(parsed: Parsed, name: str) -> Parsed:
    """A row per label: those of one annotator and text are taken together."""
    labels: dict[tuple[str, str], list[str]] = {}
    firsts: dict[tuple[str, str], tuple[int, Record]] = {}
    skipped: Counter[Skipped] = Counter()
    for line, record in zip(parsed.numbers.tolist(), parsed.data.to_pylist(), strict=True):
        key = _item(record, f"{name}, row {line}"), record["user"]
        if not record["user"]:
            skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
            continue
        firsts.setdefault(key, (line, record))
        labels.setdefault(key, []).append(record["label"])
    found = []
    for (item, user), own in labels.items():
        line, record = firsts[item, user]
        about = rows.scalars(record, leave=_NOT_ABOUT | {"user"})
        found.append(Row(line, item, user, {"label": rows.joined(own)}, about))
    return rows.parsed(found, name=name, kind=f"doccano, {parsed.kind}", skipped=skipped)
