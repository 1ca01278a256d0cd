"""Rows of annotations, which every reader yields, and fields of records, which it reads by name."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.errors import DataError
from grasp_core.model.groups import AxisSet
from grasp_core.model.outcome import LeftOut
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.remarks.remark import worded
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells
from grasp_core.reading.table.parsed import check_filled, from_cells, name_columns
from grasp_core.reading.table.table import Parsed, Recipe

MAX_OPTIONS = 50  # most different answers to a question that is not free text
MAX_AXES, PROPOSED_AXIS_VALUES = 6, 25
"""Most axes that are proposed, and most values of each; a person may choose an axis with more."""
LOOKED_AT = 20  # number of first records that show whether a file is a tool's
JOIN = " + "  # text between several choices of one annotation
_PARTS = ("answers", "about", "extra")


def read_as_long(
    parsed: Parsed,
    data: pa.Table,
    kind: str,
    ids: tuple[str | None, str],
    asked: Sequence[str],
    done: Iterable[str],
    beside: Collection[str],
) -> Parsed:
    """Return the file as `data`, with its reading: `ids` of items and raters, columns `asked`, `beside`."""
    item, rater = ids
    label = first_label({column: data.column(column).unique().to_pylist() for column in asked})
    text = "text" if "text" in beside and item != "text" else None
    recipe = Recipe(
        kind,
        DataSpec(item=item, rater=rater, label=label, text=text),
        sentences=(*done,),
        questions=(*asked,),
    )
    return replace(parsed, data=data, kind=kind, recipe=recipe)


def first_label(questions: Mapping[str, Collection[str]]) -> str:
    """Choose the proposed label: several answers, no free text, not about the rater, named like a label."""

    def score(name: str) -> tuple[bool, bool, bool, int]:
        found = len(set(questions[name]) - {""})
        about_rater = names.mentions(name, names.DEMOGRAPHIC)
        return 2 <= found <= MAX_OPTIONS, found > 0, not about_rater, names.label_score(name)

    return max(questions, key=score)


def raters_file(
    parsed: Parsed, kind: str, axes: Iterable[str], missing: Sequence[str], sentences: Iterable[str]
) -> Parsed:
    """Return a file of raters alone; it proposes `axes` whose values recur enough to form groups."""
    able: list[AxisSet] = []
    for name in axes:
        known = [text for text in parsed.data.column(name).to_pylist() if text and text not in missing]
        if 2 <= len(set(known)) <= min(PROPOSED_AXIS_VALUES, len(known) // 2):
            able.append((name,))
    recipe = Recipe(kind, axes=(*able[:MAX_AXES],), missing=(*missing,), raters=True, sentences=(*sentences,))
    return replace(parsed, recipe=recipe)


# Annotations


@dataclass(frozen=True, slots=True)
class Row:
    """One annotation."""

    line: int  # number of its record in the file
    item: str
    rater: str
    answers: dict[str, str]
    about: Mapping[str, str]  # the file's fields about the item
    extra: dict[str, str]  # the tool's fields about the annotation: times, ids, status


@dataclass(slots=True)
class Export:
    """Annotations of a tool's export, collected by its reader."""

    name: str
    kind: str  # e.g. "Label Studio, JSON"
    ids: tuple[str, ...] = ()  # the file's names of the ids of items and of raters
    unreadable: str = ""  # words for questions that are left out, as some answers to them cannot be read
    unread: dict[str, None] = field(default_factory=dict)  # names of these questions
    rows: list[Row] = field(default_factory=list)
    skipped: Counter[Skipped] = field(default_factory=Counter)  # counts of other parts that were left out
    said: list[str] = field(default_factory=list)  # sentences on the changes, for people

    def add(
        self,
        line: int,
        item: str,
        rater: str | None,
        answers: Mapping[str, str | list[str]],
        about: Mapping[str, str] | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        """Add an annotation, unless its rater is unknown; several choices are one answer."""
        if rater is None:
            self.skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
        else:
            told = {key: one if isinstance(one, str) else joined(one) for key, one in answers.items()}
            self.rows.append(Row(line, item, rater, told, about or {}, dict(extra or {})))

    def say(self, sentence: str, count: int, **numbers: Any) -> None:
        """Note a sentence about `count` cases, `n` in it; nothing if there are none."""
        if count:
            self.said.append(worded(sentence, {"n": count, **numbers}))

    def table(self, prefer: Sequence[str] = (), drop: Sequence[tuple[str, str]] = ()) -> Parsed:
        """Return a table of ``item``, ``rater``, questions (the best in `prefer`), and other fields."""
        if not self.rows:
            raise DataError(
                f"{self.name} is an export without annotations ({self.kind}); export them together with "
                "their annotators"
            )
        said = [left_out(what, count) for what, count in self.skipped.items() if count]
        if self.unread:
            said.append(f"{self.unreadable} were left out: {listed(list(self.unread))}")
            for row in self.rows:
                for question in self.unread.keys() & row.answers.keys():
                    del row.answers[question]
        said += self.said
        if any(JOIN in answer for row in self.rows for answer in row.answers.values()):
            said.append(f"several choices in one annotation were sorted and joined by '{JOIN}'")
        columns = self._columns()
        header, notes = name_columns(list(columns), self.name, "the fields of the annotations")
        shown = {own: column for column, own in columns.items()}
        cells = (
            {"item": row.item, "rater": row.rater}
            | {shown[part, own]: text for part in _PARTS for own, text in getattr(row, part).items()}
            for row in self.rows
        )
        data = from_cells(list(columns), cells).rename_columns(header)
        recipe = Recipe(
            self.kind,
            self._spec(columns, prefer, drop),
            sentences=tuple(said),
            left_out=tuple(LeftOut(what(), count) for what, count in self.skipped.items()),
            questions=tuple(column for column, (part, _) in columns.items() if part == "answers"),
            ids=self.ids,
        )
        lines = np.array([row.line for row in self.rows], dtype=np.int64)
        return Parsed(data, self.kind, first_row=1, lines=lines, problems=tuple(notes), recipe=recipe)

    def _columns(self) -> dict[str, tuple[str, str]]:
        """Return the part of a row and its field for each column; refuse too many columns."""
        columns: dict[str, tuple[str, str]] = {"item": ("", "item"), "rater": ("", "rater")}
        for part in _PARTS:
            for own in dict.fromkeys(key for row in self.rows for key in getattr(row, part)):
                free = own
                while free in columns:  # prefixed with the part if another column has that name
                    free = f"{part}.{free}"
                columns[free] = (part, own)
        check_cells(len(columns) * len(self.rows), self.name)
        filled = sum(2 + sum(len(getattr(row, part)) for part in _PARTS) for row in self.rows)
        check_filled(len(self.rows), len(columns), filled, self.name)
        return columns

    def _spec(
        self, columns: Mapping[str, tuple[str, str]], prefer: Sequence[str], drop: Sequence[tuple[str, str]]
    ) -> DataSpec | None:
        """Return the reading of the table; None if nothing can be the label."""
        shown, fields, extra = (
            {own: column for column, (of, own) in columns.items() if of == part} for part in _PARTS
        )
        if not shown:
            return None
        place = {question: position for position, question in enumerate(prefer)}
        questions = sorted(shown, key=lambda question: place.get(question, len(place)))
        answers: dict[str, list[str]] = {question: [] for question in questions}
        for question, answer in (pair for row in self.rows for pair in row.answers.items()):
            if answer:
                answers[question].append(answer)
        # Answers recur, unlike free texts.
        recurring = (own for own, given in answers.items() if 2 <= len(set(given)) <= len(given) / 2)
        spaced = Counter(name for row in self.rows for name, said in row.about.items() if " " in said)
        wordy = [name for name in fields if 2 * spaced[name] > len(self.rows)]
        text = "text" if "text" in fields else wordy[0] if len(wordy) == 1 else None
        return DataSpec(
            item="item",
            rater="rater",
            label=shown[next(recurring, questions[0])],
            text=None if text is None else fields[text],
            filters=Filters(drop=tuple((extra[own], value) for own, value in drop)),
        )


def left_out(what: Skipped, count: int) -> str:
    """Say how many of a kind were left out."""
    return f"{number(count, what.one, what.value)} {agree(count, 'was', 'were')} left out"


# Records


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """An object of a file, with its fields by name; `where` is its place, for errors."""

    fields: Mapping[str, Any]
    where: str

    def text(self, key: str, needed: str = "") -> str:
        """Return a field that is a text, number or truth value, or null unless something is `needed`."""
        return want_text(self.fields.get(key), self.where, f"{key!r}", needed)

    def values(self, key: str) -> list[Any]:
        """Return a field that is a list."""
        return want_list(self.fields.get(key), self.where, f"{key!r}")

    def inner(self, key: str) -> dict[str, Any]:
        """Return a field that is an object."""
        return want_object(self.fields.get(key), self.where, f"{key!r}")

    def damaged(self, key: str, wanted: str) -> DataError:
        """Return the error for a field that is not as its tool writes it."""
        return damaged(self.where, f"{key!r}", self.fields.get(key), wanted)


def entry(value: Any, where: str, what: str) -> JsonRecord:
    """Return the value, if it is an object; otherwise `what` names it in the error."""
    return JsonRecord(want_object(value, where, what), where)


def entries(
    records: Iterable[Record], name: str, unit: str = "record", lines: Iterable[int] | None = None
) -> Iterator[tuple[int, JsonRecord]]:
    """Yield the records of a file with their numbers, or with `lines` if some records were left out."""
    numbered = enumerate(records, start=1) if lines is None else zip(lines, records, strict=True)
    for line, record in numbered:
        yield line, JsonRecord(record, f"{name}, {unit} {line}")


def records_of(parsed: Parsed) -> list[Record]:
    """Return the rows of a table as records."""
    cells = [parsed.column(column).cells for column in parsed.columns]
    return [dict(zip(parsed.columns, row, strict=True)) for row in zip(*cells, strict=True)]


def rows_of(
    parsed: Parsed, name: str, opened: Callable[[str], Any] | None = None
) -> Iterator[tuple[int, JsonRecord]]:
    """Return rows of a table as records; `opened` gives the value of a cell that is not plain text."""
    records = records_of(parsed)
    if opened is not None:
        records = [
            {column: cell if (found := opened(cell)) is None else found for column, cell in row.items()}
            for row in records
        ]
    return entries(records, name, "row", parsed.numbers.tolist())


def joined(values: Iterable[str]) -> str:
    """Return several choices as one label, the same for any order of choice."""
    return JOIN.join(sorted(set(values)))


def several(value: Any) -> list[Any]:
    """Return a list: the value itself if it is one, or a list of it."""
    return value if isinstance(value, list) else [value]


def scalar(value: Any) -> str | None:
    """Return the text of a value; None for a list or an object."""
    return None if isinstance(value, list | dict) else json_files.text(value)


def scalars(fields: Any, leave: Collection[str] = ()) -> dict[str, str]:
    """Return fields of an object that are neither lists nor objects, as texts; none for other values."""
    pairs = fields.items() if isinstance(fields, Mapping) else ()
    found = ((key, scalar(value)) for key, value in pairs if key not in leave)
    return {key: text for key, text in found if text is not None}


def inside(record: Mapping[str, Any], inner: str) -> dict[str, str]:
    """Return the scalars of one of a record's objects, as ``inner.field``."""
    return {f"{inner}.{key}": text for key, text in scalars(record.get(inner)).items()}


def want_list(value: Any, where: str, what: str) -> list[Any]:
    """Return the value, if it is a list; otherwise `what` names it in the error."""
    if not isinstance(value, list):
        raise damaged(where, what, value, "a list")
    return value


def want_object(value: Any, where: str, what: str) -> dict[str, Any]:
    """Return the value, if it is an object."""
    if not isinstance(value, dict):
        raise damaged(where, what, value, "an object")
    return value


def want_text(value: Any, where: str, what: str, needed: str = "") -> str:
    """Return a text, number or truth value as text, and null as empty unless something is `needed`."""
    text = scalar(value)
    if text is None:
        raise damaged(where, what, value, "a text or a number")
    if needed and not text:
        raise damaged(where, what, None, needed)
    return text


def damaged(where: str, what: str, found: Any, wanted: str) -> DataError:
    """Return the error for a record that is not as its tool writes it."""
    shown = "nothing" if found is None else quoted(json_files.text(found))
    return DataError(f"{where}: {what} should be {wanted}, found {shown}; export the file again, or mend it")
