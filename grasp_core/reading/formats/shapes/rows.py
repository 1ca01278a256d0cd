"""Rows of annotations: what every reader yields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.errors import DataError
from grasp_core.model.groups import AxisSet
from grasp_core.model.outcome import LeftOut
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells
from grasp_core.reading.table.parsed import Parsed, check_filled, from_cells, name_columns
from grasp_core.reading.table.table import Recipe

MAX_OPTIONS = 50
"""A question of more different answers is taken for free text."""
MAX_AXES, PROPOSED_AXIS_VALUES = 6, 25
"""The most axes that are proposed; one of more values is left for a person to choose."""


def read_as_long(
    parsed: Parsed,
    data: pa.Table,
    kind: str,
    ids: tuple[str | None, str],
    asked: Sequence[str],
    done: Iterable[str],
    beside: Collection[str],
) -> Parsed:
    """The file as `data`, a row per annotation, with how to read it.

    `ids`: columns of the items' and the raters' ids.
    `asked`: columns of questions.
    `beside`: columns one of which may hold the items' texts.
    """
    item, rater = ids
    label = first_label({column: data.column(column).unique().to_pylist() for column in asked})
    spec = DataSpec(
        item=item, rater=rater, label=label, text="text" if "text" in beside and item != "text" else None
    )
    recipe = Recipe(kind, spec, sentences=tuple(done), questions=tuple(asked))
    return replace(parsed, columns=tuple(data.column_names), data=data, kind=kind, recipe=recipe)


def first_label(questions: Mapping[str, Collection[str]]) -> str:
    """The question to begin with: several answers, no free text, not about the rater, named like a label."""

    def score(name: str) -> tuple[bool, bool, bool, int]:
        found = len(set(questions[name]) - {""})
        about_rater = names.mentions(name, names.DEMOGRAPHIC)
        return 2 <= found <= MAX_OPTIONS, found > 0, not about_rater, names.label_score(name)

    return max(questions, key=score)


def proposed_axes(columns: Mapping[str, Sequence[str]], missing: Collection[str] = ()) -> tuple[AxisSet, ...]:
    """Those columns of a raters file whose values recur enough to form groups.

    `missing`: texts that mean "no value", beside the empty one.
    """
    able = []
    for name, cells in columns.items():
        known = [text for text in cells if text and text not in missing]
        if 2 <= len(set(known)) <= min(PROPOSED_AXIS_VALUES, len(known) // 2):
            able.append((name,))
    return tuple(able[:MAX_AXES])


JOIN = " + "
"""Between several choices of one annotation."""
_JOINED = f"several choices in one annotation were sorted and joined by '{JOIN}'"
LOOKED_AT = 20
"""Records that are looked at to tell whether a file is a tool's."""


@dataclass(frozen=True, slots=True)
class Row:
    """One annotation.

    `line`: number of the record in the file that it stands in.
    `about`: what the file says of the item.
    `extra`: what the tool says of the annotation: times, ids, status.
    """

    line: int
    item: str
    rater: str
    answers: Mapping[str, str]
    about: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)


def parsed(
    rows: Sequence[Row],
    *,
    name: str,
    kind: str,
    skipped: Mapping[Skipped, int] = MappingProxyType({}),
    sentences: Iterable[str] = (),
    prefer: Sequence[str] = (),
    drop: Sequence[tuple[str, str]] = (),
) -> Parsed:
    """Annotations as a table: ``item``, ``rater``, a column per question, then what else is known.

    `name`, `kind`: the file, and what it is, e.g. "Label Studio, JSON".
    `sentences`: what else was done, for the recipe.
    `prefer`: questions that are rather the label than others, the first before the second.
    `drop`: annotations that a filter leaves out to begin with.
    """
    if not rows:
        raise DataError(
            f"{name} is an export without annotations ({kind}); export them together with their annotators"
        )
    said = [*left_out(skipped), *sentences]
    if any(JOIN in answer for row in rows for answer in row.answers.values()):
        said.append(_JOINED)
    columns = _columns(rows, name)
    names, notes = name_columns(list(columns), name, "the fields of the annotations")
    shown = {field: column for column, field in columns.items()}
    cells = (
        {"item": row.item, "rater": row.rater}
        | {
            shown[part, own]: text
            for part in ("answers", "about", "extra")
            for own, text in getattr(row, part).items()
        }
        for row in rows
    )
    table = from_cells(list(columns), cells).rename_columns(names)
    return Parsed(
        names,
        table,
        kind,
        first_row=1,
        lines=np.array([row.line for row in rows], dtype=np.int64),
        problems=tuple(notes),
        recipe=Recipe(
            kind,
            _spec(rows, columns, prefer, drop),
            sentences=tuple(said),
            left_out=tuple(LeftOut(what(), count) for what, count in skipped.items()),
            questions=tuple(column for column, (part, _) in columns.items() if part == "answers"),
        ),
    )


def _columns(rows: Sequence[Row], name: str) -> dict[str, tuple[str, str]]:
    """The part of a row and the field in it that each column holds; too many are refused."""
    columns: dict[str, tuple[str, str]] = {"item": ("", "item"), "rater": ("", "rater")}
    for part in ("answers", "about", "extra"):
        for own in dict.fromkeys(key for row in rows for key in getattr(row, part)):
            free = own
            while free in columns:  # with the part before it where another column has that name
                free = f"{part}.{free}"
            columns[free] = (part, own)
    check_cells(len(columns) * len(rows), name)
    filled = sum(2 + len(row.answers) + len(row.about) + len(row.extra) for row in rows)
    check_filled(len(rows), len(columns), filled, name)
    return columns


def _spec(
    rows: Sequence[Row],
    columns: Mapping[str, tuple[str, str]],
    prefer: Sequence[str],
    drop: Sequence[tuple[str, str]],
) -> DataSpec | None:
    """How to read the table; None where nothing can be the label."""
    shown = {own: column for column, (part, own) in columns.items() if part == "answers"}
    if not shown:
        return None
    place = {question: position for position, question in enumerate(prefer)}
    questions = sorted(shown, key=lambda question: place.get(question, len(place)))
    answers: dict[str, list[str]] = {question: [] for question in questions}
    for question, answer in (pair for row in rows for pair in row.answers.items()):
        if answer:
            answers[question].append(answer)
    # Answers recur, as those of free text do not.
    recurring = (own for own, given in answers.items() if 2 <= len(set(given)) <= len(given) / 2)
    label = next(recurring, questions[0])
    fields = {own: column for column, (part, own) in columns.items() if part == "about"}
    extra = {own: column for column, (part, own) in columns.items() if part == "extra"}
    spaced = Counter(name for row in rows for name, said in row.about.items() if " " in said)
    wordy = [name for name in fields if 2 * spaced[name] > len(rows)]
    text = "text" if "text" in fields else wordy[0] if len(wordy) == 1 else None
    return DataSpec(
        item="item",
        rater="rater",
        label=shown[label],
        text=None if text is None else fields[text],
        filters=Filters(drop=tuple((extra[own], value) for own, value in drop)),
    )


# Values


def joined(values: Iterable[str]) -> str:
    """Several choices as one label, whatever order they were made in."""
    return JOIN.join(sorted(set(values)))


def scalar(value: Any) -> str | None:
    """The text of a value; None for a list or an object."""
    return None if isinstance(value, list | dict) else json_files.text(value)


def scalars(fields: Mapping[str, Any], leave: Collection[str] = ()) -> dict[str, str]:
    """The fields that are neither lists nor objects, as texts."""
    found = ((key, scalar(value)) for key, value in fields.items() if key not in leave)
    return {key: text for key, text in found if text is not None}


def with_inner(record: Mapping[str, Any], inner: str, leave: Collection[str] = ()) -> dict[str, str]:
    """The scalars of a record, and those of one of its objects as ``inner.field``."""
    fields = record.get(inner)
    nested = scalars(fields) if isinstance(fields, dict) else {}
    return scalars(record, leave) | {f"{inner}.{key}": text for key, text in nested.items()}


def opened(parsed: Parsed, content: Callable[[str], Any]) -> list[Record]:
    """The rows of a table as records, with the `content` of cells that hold something else than text."""
    return [
        {column: cell if (found := content(cell)) is None else found for column, cell in row.items()}
        for row in parsed.data.to_pylist()
    ]


def not_read(what: str, names: Collection[str]) -> list[str]:
    """That some questions or tasks were left out; nothing where there are none."""
    return [f"{what} were left out: {listed(list(names))}"] if names else []


def left_out(counts: Mapping[Skipped, int]) -> list[str]:
    """A sentence per kind of thing that was left out."""
    return [
        f"{number(count, what.one, what.value)} {agree(count, 'was', 'were')} left out"
        for what, count in counts.items()
        if count
    ]


# Damaged records


def want_list(value: Any, where: str, what: str) -> list[Any]:
    """The value, if it is a list; `what` names it in the error otherwise."""
    if not isinstance(value, list):
        raise damaged(where, what, value, "a list")
    return value


def want_object(value: Any, where: str, what: str) -> dict[str, Any]:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise damaged(where, what, value, "an object")
    return value


def want_scalar(value: Any, where: str, what: str, needed: str = "") -> str:
    """The value as text, if it is a text, number or truth value, or null unless something is `needed`."""
    text = scalar(value)
    if text is None:
        raise damaged(where, what, value, "a text or a number")
    if needed and not text:
        raise damaged(where, what, None, needed)
    return text


def damaged(where: str, what: str, found: Any, wanted: str) -> DataError:
    """The error for a record that is not as its tool writes it."""
    shown = "nothing" if found is None else quoted(json_files.text(found))
    return DataError(f"{where}: {what} should be {wanted}, found {shown}; export the file again, or mend it")
