"""doccano: labels of whole texts, in a file per annotator or with the annotators' numbers.

Formats: https://doccano.github.io/doccano/tutorial/ and, for the contents of an export,
https://github.com/doccano/doccano/tree/master/backend/data_export
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import quoted
from grasp_core.reading.files import delimited, encodings, json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, joined, want_list, want_object, want_scalar
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import Parsed

_LABELS = ("label", "labels", "cats")
_CONTENTS = ("text", "data", "filename")
_NOT_ABOUT = frozenset({"id", "annotations", "annotation_approver", "comments", "Comments", *_LABELS})
_ENDINGS = {".csv": "CSV", ".json": "JSON", ".jsonl": "JSON Lines"}
_NOBODY = "unknown"
"""The file of texts that nobody has labelled, up to version 1.5."""
_FILE_EACH = "each file was taken for the annotator that it is named after"


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A JSON or JSON Lines export in one file; None for anything else."""
    looked_at = records[: rows.LOOKED_AT]
    if any(map(_has_users, looked_at)):
        return _by_user(_labels(records, name), name, "doccano, JSON")
    if looked_at and all(_has_spans(record) for record in looked_at):
        raise DataError(f"{name}: the labels are of spans; only labels of whole texts are read")
    if looked_at and all(map(_is_labelled, looked_at)) and not any(map(_tells_raters, looked_at)):
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
        files = {PurePosixPath(path).stem: member(path) for path in members}
        if len(files) < len(members) or not any(map(is_fasttext, files.values())):
            return None
        said = (_FILE_EACH, "texts are named by their rows")
        return rows.parsed(
            _fasttext_rows(files, name), name=name, kind="doccano, fastText, zip", sentences=said
        )
    if len(members) < 2 or len(endings) != 1 or not endings <= _ENDINGS.keys():
        return None
    ending = endings.pop()
    try:  # a quick look that never fails
        records, _ = _member(member(members[0]), name, ending)
    except DataError:
        return None
    if not all(map(_is_labelled, records[: rows.LOOKED_AT])):
        return None
    found: list[Row] = []
    texts: Counter[tuple[str, ...]] = Counter()
    skipped: Counter[Skipped] = Counter()
    for path in members:
        shown = f"{name}, {path}"
        records, lines = _member(member(path), shown, ending)
        if not all(map(_is_labelled, records[: rows.LOOKED_AT])):
            return None
        own = list(_rows(records, shown, PurePosixPath(path).stem, lines))
        texts.update({(row.item, *(row.about.get(key, "") for key in _CONTENTS)) for row in own})
        if PurePosixPath(path).stem == _NOBODY:
            skipped[Skipped.UNKNOWN_ANNOTATOR] += sum(bool(row.answers["label"]) for row in own)
        else:
            found += own
    if not texts or (max(texts.values()) < 2 and not skipped):
        return None
    kind = f"doccano, {_ENDINGS[ending]}, zip"
    return rows.parsed(found, name=name, kind=kind, skipped=skipped, sentences=(_FILE_EACH,))


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
    labels = next((record[key] for key in _LABELS if isinstance(record.get(key), list)), None)
    return bool(labels) and all(isinstance(label, list) and len(label) == 3 for label in labels or ())


def _member(content: bytes, name: str, ending: str) -> tuple[list[Record], Sequence[int]]:
    """The records of one annotator's file, and the number of each; an annotator may have none."""
    if not content.strip():
        return [], ()
    text, _, _ = encodings.to_utf8(content, name)
    if ending != ".csv":
        records = json_files.records(text, name)[0] if text.strip() not in (b"[]", b"{}") else []
        return records, range(1, len(records) + 1)
    parsed = delimited.parse(text, name, lambda _done, _total: None)
    return _split_labels(parsed), parsed.numbers.tolist()


def _split_labels(parsed: Parsed) -> list[Record]:
    records: list[Record] = parsed.data.to_pylist()
    return [
        {key: list(filter(None, cell.split("#"))) if key in _LABELS else cell for key, cell in record.items()}
        for record in records
    ]


def _rows(records: Sequence[Record], name: str, rater: str, lines: Iterable[int]) -> Iterator[Row]:
    for line, record in zip(lines, records, strict=True):
        where = f"{name}, record {line}"
        key = next((key for key in _LABELS if key in record), "label")
        labels = want_list(record.get(key), where, f"{key!r}")
        answer = joined(want_scalar(label, where, f"an entry of {key!r}") for label in labels)
        yield Row(
            line,
            _item(record, where),
            rater,
            {"label": answer},
            rows.with_inner(record, "meta", leave=_NOT_ABOUT),
        )


def _item(record: Record, where: str) -> str:
    return want_scalar(record.get("id"), where, "'id'", needed="the text's number")


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
    entries = given if isinstance(given, list) else []
    return bool(entries) and all(isinstance(one, dict) and {"label", "user"} <= one.keys() for one in entries)


class _Label(NamedTuple):
    """One label of one annotator, who is "" where nobody knows; `text`: the same for labels of one text."""

    text: Hashable
    line: int
    item: str
    user: str
    label: str
    about: Mapping[str, str]


def _labels(records: Sequence[Record], name: str) -> Iterator[_Label]:
    for line, record in enumerate(records, start=1):
        where = f"{name}, record {line}"
        item, about = _item(record, where), rows.with_inner(record, "meta", leave=_NOT_ABOUT)
        for entry in want_list(record.get("annotations"), where, "'annotations'"):
            entry = want_object(entry, where, "an annotation")
            if "start_offset" in entry:
                raise DataError(f"{where}: the labels are of spans; only labels of whole texts are read")
            user, label = (want_scalar(entry.get(key), where, f"{key!r}") for key in ("user", "label"))
            yield _Label(line, line, item, user, label, about)


def _read_user_rows(parsed: Parsed, name: str) -> Parsed:
    labels = []
    for line, record in zip(parsed.numbers.tolist(), parsed.data.to_pylist(), strict=True):
        item, about = _item(record, f"{name}, row {line}"), rows.scalars(record, leave=_NOT_ABOUT | {"user"})
        labels.append(_Label(item, line, item, record["user"], record["label"], about))
    return _by_user(labels, name, f"doccano, {parsed.kind}")


def _by_user(labels: Iterable[_Label], name: str, kind: str) -> Parsed:
    """A row per text and annotator, whose labels are taken together."""
    together: dict[tuple[Hashable, str], list[_Label]] = {}
    skipped: Counter[Skipped] = Counter()
    for one in labels:
        if one.user:
            together.setdefault((one.text, one.user), []).append(one)
        else:
            skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
    found = [
        Row(own[0].line, own[0].item, user, {"label": joined(one.label for one in own)}, own[0].about)
        for (_, user), own in together.items()
    ]
    return rows.parsed(found, name=name, kind=kind, skipped=skipped)


# fastText: a row ``__label__a __label__b text`` per text, in a file per annotator.
# The rows name neither texts nor annotators. Files of all annotators hold the same texts in the same order,
# which tells where a label of several words ends and the text begins.

_MARK = "__label__"
_COMMENTS = re.compile(r"\s__comment__.*\Z", re.DOTALL)
_FIRST = re.compile(rb'"?( |' + _MARK.encode() + b")")
"""Start of a first row: texts without labels begin with a blank; a table's header with neither."""
_MARKED = re.compile(rb'(\A|\n)"?' + _MARK.encode())
_START = 1 << 16
_MOST_LABELS = 256
_WORDS = 20
"""Most words of a label."""
_INSTEAD = "export as JSONL"


@dataclass(frozen=True, slots=True)
class _Marked:
    """One row: the labels that another one follows, and what stands after the last mark, label and text."""

    labels: tuple[str, ...]
    rest: str
    marked: bool

    @classmethod
    def of(cls, line: str) -> _Marked:
        """The parts of a line."""
        line = _COMMENTS.sub("", line).removesuffix(" ")
        if not line.startswith(_MARK):
            return cls((), line.removeprefix(" "), False)
        *labels, rest = line.removeprefix(_MARK).split(f" {_MARK}")
        return cls(tuple(labels), rest, True)

    def last(self, text: str) -> str:
        """The label right before the text."""
        return self.rest.removesuffix(text).removesuffix(" ")

    def label(self, text: str) -> str:
        """All labels as one; none for a row without a mark."""
        return joined([*self.labels, self.last(text)]) if self.marked else ""


def is_fasttext(content: bytes) -> bool:
    """Whether the file's first rows begin as fastText's do, one of them with a label."""
    return _FIRST.match(content) is not None and _MARKED.search(content[:_START]) is not None


def fasttext_alone(name: str) -> DataError:
    """The error for a fastText file alone."""
    return DataError(
        f"{name} is fastText, which holds labels and texts but not who gave which label; export a file per "
        "annotator (in doccano: turn off 'Share annotations across all users') and pack them into one zip, "
        f"or {_INSTEAD}"
    )


def _fasttext_rows(files: Mapping[str, bytes], name: str) -> list[Row]:
    """A row per text and annotator.

    `name`: the archive's.
    """
    found: dict[str, list[_Marked]] = {}
    for rater, content in files.items():
        text, _, _ = encodings.to_utf8(content, where := f"{name}, {rater}.txt")
        try:
            lines = [row for row in csv.reader(io.StringIO(text.decode(), newline=""), strict=True) if row]
        except csv.Error as error:
            raise DataError(
                f"{where}: this is not fastText as doccano writes it ({error}); {_INSTEAD}"
            ) from None
        if lines:
            found[rater] = [_Marked.of(",".join(row)) for row in lines]
    counts = {rater: len(marked) for rater, marked in found.items()}
    if len(set(counts.values())) > 1:
        most, fewest = (choose(counts, key=lambda rater: counts[rater]) for choose in (max, min))
        shown = f"{counts[most]:,} of {quoted(most)}, {counts[fewest]:,} of {quoted(fewest)}"
        raise DataError(
            f"{name}: its fastText files have unequally many texts ({shown}), so the same cannot be told; "
            f"{_INSTEAD}"
        )
    together = list(zip(*found.values(), strict=True))
    texts = _texts(together, name)
    return [
        Row(line, str(line), rater, {"label": marked[line - 1].label(text)}, {"text": text})
        for rater, marked in found.items()
        for line, text in enumerate(texts, start=1)
    ]


def _texts(together: Sequence[tuple[_Marked, ...]], name: str) -> list[str]:
    """The text of each row: what all annotators' rows end in, and which leaves each a label."""
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
        if text is None:  # all annotators gave the same label, which other rows may tell
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
    """The text, where the annotators' labels differ or one of them gave none; None where all are the same."""
    for one in row:
        if not one.marked:
            return one.rest if all(_fits(other, one.rest) for other in row) else None
    if len({one.rest for one in row}) == 1:
        return None
    shortest = min((one.rest for one in row), key=len)
    parts = shortest.split(" ", _WORDS)
    able = (" ".join(parts[words:]) for words in range(1, len(parts)))  # the longest first
    return next((text for text in able if all(_fits(one, text) for one in row)), None)


def _fits(row: _Marked, text: str) -> bool:
    """Whether the row is a label and the text."""
    if not row.marked:
        return row.rest == text
    return row.rest.endswith(f" {text}") and len(row.rest) > len(text) + 1
