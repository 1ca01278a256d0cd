"""fastText, as doccano writes it: a row ``__label__a __label__b text`` per text, in a file per annotator.

The rows name neither texts nor annotators. Files of all annotators hold the same texts in the same order,
which tells where a label of several words ends and the text begins.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from grasp_core.model.errors import DataError
from grasp_core.model.text import quoted
from grasp_core.reading.files import encodings
from grasp_core.reading.formats.shapes.rows import joined

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


def is_fasttext(content: bytes) -> bool:
    """Whether the file's first rows begin as fastText's do, one of them with a label."""
    return _FIRST.match(content) is not None and _MARKED.search(content[:_START]) is not None


def alone(name: str) -> DataError:
    """The error for a fastText file alone."""
    return DataError(
        f"{name} is fastText, which holds labels and texts but not who gave which label; export a file per "
        "annotator (in doccano: turn off 'Share annotations across all users') and pack them into one zip, "
        f"or {_INSTEAD}"
    )


class _Marked(NamedTuple):
    """One row: the labels that another one follows, and what stands after the last mark, label and text."""

    labels: Sequence[str]
    rest: str
    marked: bool

    def last(self, text: str) -> str:
        """The label right before the text."""
        return self.rest.removesuffix(text).removesuffix(" ")

    def fits(self, text: str) -> bool:
        """Whether the row is a label and the text."""
        if not self.marked:
            return self.rest == text
        return self.rest.endswith(f" {text}") and len(self.rest) > len(text) + 1


def labels(files: Mapping[str, bytes], name: str) -> Iterator[tuple[str, int, str, str]]:
    """Annotator, row, label and text of each row of the files by annotator in the archive `name`."""
    found = {
        rater: rows for rater, content in files.items() if (rows := _rows(content, f"{name}, {rater}.txt"))
    }
    counts = {rater: len(rows) for rater, rows in found.items()}
    if len(set(counts.values())) > 1:
        most, fewest = (choose(counts, key=lambda rater: counts[rater]) for choose in (max, min))
        shown = f"{counts[most]:,} of {quoted(most)}, {counts[fewest]:,} of {quoted(fewest)}"
        raise DataError(
            f"{name}: its fastText files have unequally many texts ({shown}), so the same cannot be told; "
            f"{_INSTEAD}"
        )
    texts = _texts(list(zip(*found.values(), strict=True)), name)
    for rater, rows in found.items():
        for line, (row, text) in enumerate(zip(rows, texts, strict=True), start=1):
            yield rater, line, joined([*row.labels, row.last(text)]) if row.marked else "", text


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
            return one.rest if all(other.fits(one.rest) for other in row) else None
    if len({one.rest for one in row}) == 1:
        return None
    parts = min((one.rest for one in row), key=len).split(" ", _WORDS)
    able = (" ".join(parts[words:]) for words in range(1, len(parts)))  # the longest first
    return next((text for text in able if all(one.fits(text) for one in row)), None)
