"""doccano: labels of whole texts, in a file per annotator, or with the annotators' numbers.

Formats: https://doccano.github.io/doccano/tutorial/ and, for the contents of an export,
https://github.com/doccano/doccano/tree/master/backend/data_export
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import quoted
from grasp_core.reading.archives.containers import Archive
from grasp_core.reading.files import delimited, encodings, json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Export, JsonRecord, Row, entries, joined, scalars
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import unwatched
from grasp_core.reading.table.table import Parsed

_LABELS = ("label", "labels", "cats")
_CONTENTS = ("text", "data", "filename")
_NOT_ABOUT = frozenset({"id", "annotations", "annotation_approver", "comments", "Comments", *_LABELS})
_ENDINGS = {".csv": "CSV", ".json": "JSON", ".jsonl": "JSON Lines"}
_NOBODY = "unknown"  # name of the file of texts that nobody has labelled, up to version 1.5
_FILE_EACH = "each file was taken for the annotator that it is named after"
_NUMBER = "the text's number"
_OF_SPANS = "the labels are of spans; only labels of whole texts are read"


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Read a JSON or JSON Lines export in one file; None for other files."""
    looked_at = records[: rows.LOOKED_AT]
    if any(map(_has_users, looked_at)):
        return _by_user(entries(records, name), Export(name, "doccano, JSON"), in_rows=False)
    if looked_at and all(map(_has_spans, looked_at)):
        raise DataError(f"{name}: {_OF_SPANS}")
    if looked_at and all(map(_is_labelled, looked_at)) and not any(map(_tells_raters, looked_at)):
        return _of_one(entries(records, name), name, "JSON")
    return None


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Read a CSV export in one file; None for any other table."""
    columns = set(parsed.columns)
    if columns >= {"id", "text", "label", "user", "annotation_approver"}:
        found = Export(name, f"doccano, {parsed.kind}", ids=("id", "user"))
        return _by_user(rows.rows_of(parsed, name), found, in_rows=True)
    if columns >= {"id", "text", "label", "Comments"}:
        return _of_one(entries(_split(parsed), name, lines=parsed.numbers.tolist()), name, parsed.kind)
    return None


def read_archive(archive: Archive) -> Parsed | None:
    """Read a file per annotator, if two share a text, unlike parts of data; None for other archives."""
    members, name = archive.names, archive.name
    endings = {PurePosixPath(path).suffix.lower() for path in members}
    if len(members) < 2 or len(endings) != 1 or not endings <= {".txt", *_ENDINGS}:
        return None
    if endings == {".txt"}:
        return _of_fasttext(archive)
    ending = endings.pop()
    try:  # a quick check that never fails
        if _member(archive.member(members[0]), name, ending) is None:
            return None
    except DataError:
        return None
    found = Export(name, f"doccano, {_ENDINGS[ending]}, zip", said=[_FILE_EACH])
    texts: Counter[tuple[str, ...]] = Counter()
    for path in members:
        records = _member(archive.member(path), f"{name}, {path}", ending)
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
    """Return whether a record is a text with its labels, and not with spans."""
    given = (record.get(key) for key in _LABELS)
    labelled = any(isinstance(one, list) and all(isinstance(label, str) for label in one) for one in given)
    return "id" in record and any(key in record for key in _CONTENTS) and labelled


def _tells_raters(record: Record) -> bool:
    """Return whether a list of raters is beside the labels."""
    return any(isinstance(value, list) and names.id_score(key, names.RATER) for key, value in record.items())


def _has_spans(record: Record) -> bool:
    """Return whether a record is a text whose labels are of spans, or with relations between spans."""
    if "id" not in record or not any(key in record for key in _CONTENTS):
        return False
    if isinstance(record.get("entities"), list) and isinstance(record.get("relations"), list):
        return True
    labels = next((record[key] for key in _LABELS if isinstance(record.get(key), list)), None)
    return bool(labels) and all(isinstance(one, list) and len(one) == 3 for one in labels or ())


def _member(content: bytes, name: str, ending: str) -> Iterable[tuple[int, JsonRecord]] | None:
    """Return the texts of one annotator, who may have none; None if they have no labels."""
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
    """Return the rows of a CSV, with labels split at the mark that joins them."""
    return [
        {key: list(filter(None, cell.split("#"))) if key in _LABELS else cell for key, cell in record.items()}
        for record in rows.records_of(parsed)
    ]


def _row(line: int, record: JsonRecord, rater: str) -> Row:
    key = next((key for key in _LABELS if key in record.fields), "label")
    answer = joined(
        rows.want_text(label, record.where, f"an entry of {key!r}") for label in record.values(key)
    )
    return Row(line, record.text("id", _NUMBER), rater, {"label": answer}, _about(record), {})


def _about(record: JsonRecord) -> dict[str, str]:
    return scalars(record.fields, _NOT_ABOUT) | rows.inside(record.fields, "meta")


def _of_one(records: Iterable[tuple[int, JsonRecord]], name: str, kind: str) -> Parsed:
    """Read one file with annotators among the texts' fields; refuse a file that does not name them."""
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


# Up to version 1.2: the annotators' numbers beside the labels


def _has_users(record: Record) -> bool:
    given = record.get("annotations")
    found = given if isinstance(given, list) else []
    return bool(found) and all(isinstance(one, dict) and {"label", "user"} <= one.keys() for one in found)


def _by_user(records: Iterable[tuple[int, JsonRecord]], export: Export, *, in_rows: bool) -> Parsed:
    """Return a row per text and annotator with all labels; `in_rows`: each label has its own row."""
    together: dict[tuple[Hashable, str], tuple[int, str, dict[str, str], list[str]]] = {}
    for line, record in records:
        item = record.text("id", _NUMBER)
        about = scalars(record.fields, _NOT_ABOUT | {"user"}) if in_rows else _about(record)
        for given in [record.fields] if in_rows else record.values("annotations"):
            label = rows.entry(given, record.where, "an annotation")
            if "start_offset" in label.fields and not in_rows:
                raise DataError(f"{record.where}: {_OF_SPANS}")
            user, text = label.text("user"), label.text("label")
            if user:
                key = (item if in_rows else line, user)
                together.setdefault(key, (line, item, about, []))[-1].append(text)
            else:
                export.skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
    for (_, user), (line, item, about, own) in together.items():
        export.add(line, item, user, {"label": own}, about)
    return export.table()


# fastText: a row ``__label__a __label__b text`` per text, in a file per annotator
#
# The rows name neither texts nor annotators. Files of all annotators have the same texts in the same order,
# which shows where a label of several words ends and the text begins.

_MARK = "__label__"
_COMMENTS = re.compile(r"\s__comment__.*\Z", re.DOTALL)
_FIRST = re.compile(rb'"?( |' + _MARK.encode() + b")")
"""Start of a first row; texts without labels begin with a blank, and a table's header with neither."""
_MARKED = re.compile(rb'(\A|\n)"?' + _MARK.encode())
_START = 1 << 16
_MOST_LABELS = 256
_WORDS = 20  # most words of a label
_INSTEAD = "export as JSONL"


def _of_fasttext(archive: Archive) -> Parsed | None:
    name, files = archive.name, {PurePosixPath(path).stem: archive.member(path) for path in archive.names}
    if len(files) < len(archive.names) or not any(map(_is_fasttext, files.values())):
        return None
    found = {
        rater: own for rater, content in files.items() if (own := _rows(content, f"{name}, {rater}.txt"))
    }
    counts = {rater: len(own) for rater, own in found.items()}
    if len(set(counts.values())) > 1:
        most, fewest = (choose(counts, key=lambda rater: counts[rater]) for choose in (max, min))
        shown = f"{counts[most]:,} of {quoted(most)}, {counts[fewest]:,} of {quoted(fewest)}"
        raise DataError(
            f"{name}: its fastText files have unequally many texts ({shown}), so the same cannot be told; "
            f"{_INSTEAD}"
        )
    texts = _texts(list(zip(*found.values(), strict=True)), name)
    export = Export(name, "doccano, fastText, zip", said=[_FILE_EACH, "texts are named by their rows"])
    for rater, own in found.items():
        for line, (row, text) in enumerate(zip(own, texts, strict=True), start=1):
            label = joined([*row.labels, row.last(text)]) if row.marked else ""
            export.add(line, str(line), rater, {"label": label}, {"text": text})
    return export.table()


def _is_fasttext(content: bytes) -> bool:
    """Return whether the first rows begin like fastText's, at least one of them with a label."""
    return _FIRST.match(content) is not None and _MARKED.search(content[:_START]) is not None


def refuse_fasttext(content: bytes, name: str) -> None:
    """Refuse a single fastText file."""
    if _is_fasttext(content):
        raise DataError(
            f"{name} is fastText, which holds labels and texts but not who gave which label; export a file "
            "per annotator (in doccano: turn off 'Share annotations across all users') and pack them into "
            f"one zip, or {_INSTEAD}"
        )


class _Marked(NamedTuple):
    """One row: all labels but the last, and the text after the last mark, which is a label and the text."""

    labels: Sequence[str]
    rest: str
    marked: bool

    def last(self, text: str) -> str:
        """Return the label right before the text."""
        return self.rest.removesuffix(text).removesuffix(" ")

    def fits(self, text: str) -> bool:
        """Return whether the row is a label and the text."""
        if not self.marked:
            return self.rest == text
        return self.rest.endswith(f" {text}") and len(self.rest) > len(text) + 1


def _rows(content: bytes, where: str) -> list[_Marked]:
    text, _, _ = encodings.to_utf8(content, where)
    try:
        lines = [row for row in csv.reader(io.StringIO(text.decode(), newline=""), strict=True) if row]
    except csv.Error as error:
        raise DataError(f"{where}: this is not fastText as doccano writes it ({error}); {_INSTEAD}") from None
    found = []
    for row in lines:
        line = _COMMENTS.sub("", ",".join(row)).removesuffix(" ")
        marked = line.startswith(_MARK)
        *first, rest = line.removeprefix(_MARK).split(f" {_MARK}") if marked else [line.removeprefix(" ")]
        found.append(_Marked(first, rest, marked))
    return found


def _texts(together: Sequence[tuple[_Marked, ...]], name: str) -> list[str]:
    """Return the text of each row: the end that all annotators' rows share, and that leaves each a label."""
    texts = [_common(row) for row in together]
    known = {label for row in together for one in row for label in one.labels}
    for row, text in zip(together, texts, strict=True):
        if text is not None:
            known |= {one.last(text) for one in row if one.marked}
    if len(known) > _MOST_LABELS:
        raise DataError(
            f"{name}: more than {_MOST_LABELS} labels were found, so labels cannot be told from texts; "
            f"{_INSTEAD}"
        )
    told = []
    for line, (row, text) in enumerate(zip(together, texts, strict=True), start=1):
        if text is None:  # all annotators gave the same label, which other rows may show
            able = [label for label in known if all(one.rest.startswith(f"{label} ") for one in row)]
            if not able:
                raise DataError(
                    f"{name}, row {line}: where the label ends and the text begins cannot be told from "
                    f"{quoted(row[0].rest)}; {_INSTEAD}"
                )
            text = row[0].rest[len(max(able, key=len)) + 1 :]
        told.append(text)
    firsts = {text.split(" ", 1)[0] for text in told}
    if len(firsts) == 1 < len(set(told)) and all(one.marked for row in together for one in row):
        raise DataError(
            f"{name}: all texts seem to begin with {quoted(firsts.pop())}, which may belong to the labels "
            f"before them, as fastText does not tell; {_INSTEAD}"
        )
    return told


def _common(row: Sequence[_Marked]) -> str | None:
    """Return the text if annotators' labels differ or one gave none; None if all are the same."""
    for one in row:
        if not one.marked:
            return one.rest if all(other.fits(one.rest) for other in row) else None
    if len({one.rest for one in row}) == 1:
        return None
    parts = min((one.rest for one in row), key=len).split(" ", _WORDS)
    able = (" ".join(parts[words:]) for words in range(1, len(parts)))  # the longest first
    return next((text for text in able if all(one.fits(text) for one in row)), None)
