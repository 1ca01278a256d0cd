"""doccano's fastText export: a row ``__label__a __label__b text`` per text, in a file per annotator.

The rows name neither texts nor annotators. Files of all annotators hold the same texts in the same order,
which tells where a label of several words ends and the text begins.

Format: FastTextCategoryFormatter of https://github.com/doccano/doccano/tree/master/backend/data_export
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grasp_core.model.errors import DataError
from grasp_core.model.wording import quoted
from grasp_core.reading.files import encodings
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row

MARK = "__label__"
_COMMENTS = re.compile(r"\s__comment__.*\Z", re.DOTALL)
_FIRST = re.compile(rb'"?( |' + MARK.encode() + b")")
"""Start of a first row: texts without labels begin with a blank; a table's header with neither."""
_MARKED = re.compile(rb'(\A|\n)"?' + MARK.encode())
_LOOKED_AT = 1 << 16
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


def is_fasttext(content: bytes) -> bool:
    """Whether the file's first rows begin as fastText's do, one of them with a label."""
    return _FIRST.match(content) is not None and _MARKED.search(content[:_LOOKED_AT]) is not None


def nobody(name: str) -> DataError:
    """The error for a file alone."""
    return DataError(
        f"{name} is fastText, which holds labels and texts but not who gave which label; export a file per "
        "annotator (in doccano: turn off 'Share annotations across all users') and pack them into one zip, "
        f"or {_INSTEAD}"
    )


def read(files: Mapping[str, bytes], name: str) -> list[Row]:
    """A row per text and annotator.

    `name`: the archive's.

    Raises DataError where the files differ in their texts, or a label cannot be told from the text after it.
    """
    found = {rater: _rows(content, f"{name}, {rater}.txt") for rater, content in files.items()}
    found = {rater: marked for rater, marked in found.items() if marked}
    counts = {rater: len(marked) for rater, marked in found.items()}
    if len(set(counts.values())) > 1:
        most, fewest = (
            max(counts, key=lambda rater: counts[rater]),
            min(counts, key=lambda rater: counts[rater]),
        )
        shown = f"{counts[most]:,} of {quoted(most)}, {counts[fewest]:,} of {quoted(fewest)}"
        raise DataError(
            f"{name}: its fastText files have unequally many texts ({shown}), so the same cannot be told; "
            f"{_INSTEAD}"
        )
    together = list(zip(*found.values(), strict=True))
    texts = _texts(together, name)
    return [
        Row(line, str(line), rater, {"label": _label(marked[line - 1], text)}, {"text": text})
        for rater, marked in found.items()
        for line, text in enumerate(texts, start=1)
    ]


def _rows(content: bytes, where: str) -> list[_Marked]:
    text, _, _ = encodings.to_utf8(content, where)
    try:
        lines = [row for row in csv.reader(io.StringIO(text.decode(), newline=""), strict=True) if row]
    except csv.Error as error:
        raise DataError(f"{where}: this is not fastText as doccano writes it ({error}); {_INSTEAD}") from None
    return [_marked(",".join(row)) for row in lines]


def _marked(line: str) -> _Marked:
    line = _COMMENTS.sub("", line).removesuffix(" ")
    if not line.startswith(MARK):
        return _Marked((), line.removeprefix(" "), False)
    *labels, rest = line.removeprefix(MARK).split(f" {MARK}")
    return _Marked(tuple(labels), rest, True)


def _label(row: _Marked, text: str) -> str:
    if not row.marked:
        return ""
    return rows.joined([*row.labels, row.rest.removesuffix(text).removesuffix(" ")])


def _texts(together: Sequence[tuple[_Marked, ...]], name: str) -> list[str]:
    """The text of each row: what all annotators' rows end in, and which leaves each a label."""
    texts = [_common(row) for row in together]
    known = {label for row in together for one in row for label in one.labels}
    for row, text in zip(together, texts, strict=True):
        if text is not None:
            known |= {_last(one, text) for one in row if one.marked}
    if len(known) > _MOST_LABELS:
        raise DataError(
            f"{name}: more than {_MOST_LABELS} labels were found, so labels cannot be told from texts; "
            f"{_INSTEAD}"
        )
    told = [
        _after_known(row, known, f"{name}, row {line}") if text is None else text
        for line, (row, text) in enumerate(zip(together, texts, strict=True), start=1)
    ]
    firsts = {text.split(" ", 1)[0] for text in told}
    if len(firsts) == 1 < len(set(told)) and all(one.marked for row in together for one in row):
        raise DataError(
            f"{name}: all texts seem to begin with {quoted(firsts.pop())}, which may belong to the labels "
            f"before them, as fastText does not tell; {_INSTEAD}"
        )
    return told


def _last(row: _Marked, text: str) -> str:
    return row.rest.removesuffix(text).removesuffix(" ")


def _common(row: Sequence[_Marked]) -> str | None:
    """The text, where the annotators' labels differ or one of them gave none; None where all are the same."""
    for one in row:
        if not one.marked:
            return one.rest if all(_fits(other, one.rest) for other in row) else None
    if len({one.rest for one in row}) == 1:
        return None
    shortest = min((one.rest for one in row), key=len)
    return next((text for text in _suffixes(shortest) if all(_fits(one, text) for one in row)), None)


def _suffixes(rest: str) -> list[str]:
    """Candidates for the text, the longest first."""
    parts = rest.split(" ", _WORDS)
    return [" ".join(parts[words:]) for words in range(1, len(parts))]


def _fits(row: _Marked, text: str) -> bool:
    """Whether the row is a label and the text."""
    if not row.marked:
        return row.rest == text
    return row.rest.endswith(f" {text}") and len(row.rest) > len(text) + 1


def _after_known(row: Sequence[_Marked], known: Collection[str], where: str) -> str:
    """The text after a label that other rows tell, where all annotators of a row gave the same."""
    able = [label for label in known if all(one.rest.startswith(f"{label} ") for one in row)]
    if not able:
        raise DataError(
            f"{where}: where the label ends and the text begins cannot be told from {quoted(row[0].rest)}; "
            f"{_INSTEAD}"
        )
    return row[0].rest[len(max(able, key=len)) + 1 :]
