"""Potato's tables: questions, their options, and what was joined to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grasp_core.io.files import json_records
from grasp_core.io.table import names
from grasp_core.io.table.parsed import Parsed

ITEM, RATER, TEXT = ("instance_id", "id"), ("user", "user_id", "username"), ("displayed_text", "text")
"""Names of fields and columns, in the order in which they are looked for."""
OLD = ":::"
"""Between question and option in the tables of version 1; a dot later."""
_PROSE = 25
"""Longer cells may be prose."""
_GOLD = frozenset(["gold", "truth", "groundtruth", "expert", "reference", "majority"])
_INTERNAL = ("_spans", "_room", "_room_id", "_data")

Given = dict[str, dict[str, str]]
"""Per question, what each of its options holds; the option "" stands for the question itself."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One annotator's answers to one item."""

    line: int
    item: str
    rater: str
    given: Given
    about: Mapping[str, str]
    extra: Mapping[str, str]


def is_table(columns: Sequence[str]) -> bool:
    """Whether columns are those of an export as CSV, TSV or Parquet."""
    old = any(OLD in column for column in columns) and first(ITEM, columns) and first(RATER, columns)
    return bool(old) or tuple(columns[:2]) == ("instance_id", "user_id")


def from_table(parsed: Parsed, folder: str | None) -> list[Answered]:
    """The answers of each row; `folder` is the annotator where the table is in a folder of theirs."""
    columns = parsed.columns
    cells = {column: parsed.data.column(column).to_pylist() for column in columns}
    item, text = first(ITEM, columns), first(TEXT, columns)
    rater = None if folder else first(RATER, columns)
    items = cells[item] if item else [""] * len(parsed.data)
    raters = [folder] * len(items) if folder else cells[rater] if rater else [""] * len(items)
    questions = _question_columns(columns, {name for name in (item, rater, text) if name})
    beside = _not_asked(cells, questions, items, raters)
    origin = [column for column in columns if column.startswith("annotator_origin")]
    others = {*beside, *origin}
    asked = {column: _given_cells(cells[column]) for column in questions if column not in others}
    answered = []
    for at, line in enumerate(parsed.numbers.tolist()):
        given: Given = {}
        for column, found in asked.items():
            question, option = questions[column]
            for inner, value in found[at].items():
                given.setdefault(question, {})[inner or option] = value
        answered.append(
            Answered(
                line,
                items[at],
                raters[at],
                given,
                {"text": cells[text][at]} if text else {},
                {column: cells[column][at] for column in (*origin, *beside)},
            )
        )
    return answered


def _question_columns(columns: Sequence[str], ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Question and option of each column that may hold answers."""
    old = any(OLD in column for column in columns)
    parts = {column: column.partition(OLD if old else ".") for column in columns if column not in ids}
    return {
        column: (question, option)
        for column, (question, dot, option) in parts.items()
        if bool(dot) >= old and option not in _INTERNAL
    }


def _not_asked(
    cells: Mapping[str, Sequence[str]],
    questions: Mapping[str, tuple[str, str]],
    items: Sequence[str],
    raters: Sequence[str],
) -> list[str]:
    """Columns added beside the questions: of demographics that raters decide, of texts that items decide."""
    repeated = len(set(items)) < len(items)
    plain = [column for column, (_, option) in questions.items() if not option]
    of_raters = {
        column
        for column in plain
        if names.mentions(column, names.DEMOGRAPHIC) and _decides(raters, cells[column])
    }
    of_items = {
        column
        for column in plain
        if repeated
        and (wordy(cells[column]) or names.mentions(column, _GOLD))
        and _decides(items, cells[column])
    }
    return [column for column in plain if column in of_raters or column in of_items]


def _decides(ids: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether each id has one text at most."""
    found: dict[str, str] = {}
    return all(
        found.setdefault(key, cell) == cell for key, cell in zip(ids, cells, strict=True) if key and cell
    )


def wordy(cells: Sequence[str]) -> bool:
    """Whether most of the cells are prose."""
    said = [cell for cell in cells if cell]
    return 2 * sum(len(cell) > _PROSE and " " in cell for cell in said) > len(said)


def _given_cells(cells: Sequence[str]) -> list[dict[str, str]]:
    """Values that each cell of a column gives options; lists and objects, as JSON, are told by all cells."""
    told = [json_records.cell(cell) for cell in cells]
    if any(cell and found is None for cell, found in zip(cells, told, strict=True)):
        return [{"": cell} if cell else {} for cell in cells]
    return [option_values(found) for found in told]


def first(able: Sequence[str], fields: Iterable[str]) -> str | None:
    """The first of some names that is among the fields."""
    present = set(fields)
    return next((field for field in able if field in present), None)


def option_values(value: Any) -> dict[str, str]:
    """Values that an answer gives options: those of a list are chosen, "" stands for the question itself."""
    if isinstance(value, dict):
        return {option: json_records.text(inner) for option, inner in value.items()}
    if isinstance(value, list):
        return {json_records.text(option): "true" for option in value}
    return {} if value is None else {"": json_records.text(value)}
