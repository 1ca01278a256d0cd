"""Amazon Mechanical Turk: the results of a batch."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.account import LeftOut
from grasp_core.data_spec import DataSpec, Filters
from grasp_core.errors import DataError
from grasp_core.io.files.json_records import text
from grasp_core.io.files.json_text import whole_characters
from grasp_core.io.formats.crowds import mturk_items
from grasp_core.io.formats.crowds.mturk_items import Spread
from grasp_core.io.formats.shapes.answers import first_label
from grasp_core.io.formats.shapes.rows import joined
from grasp_core.io.table import names
from grasp_core.io.table.cells import check_cells
from grasp_core.io.table.columns import Column
from grasp_core.io.table.parsed import Parsed, compact, name_columns
from grasp_core.io.table.recipe import Recipe
from grasp_core.remarks.left_out import Skipped
from grasp_core.wording import number, quoted

_HIT = "HITId"
_IDS = {_HIT, "AssignmentId", "WorkerId"}
_ANSWER, _INPUT, _TASKS = mturk_items.ANSWER, mturk_items.INPUT, "Answer.taskAnswers"
_STATUS, _REJECTED = "AssignmentStatus", "Rejected"
_APPROVE, _REJECT = "Approve", "Reject"
_MOST_REASONS = 100
_YES, _NO = frozenset({"true"}), frozenset({"false", ""})
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_TEXTS = frozenset({"text", "sentence", "comment", "post", "tweet", "document", "passage", "content"})


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The results with a column per question; None where the table is no batch's results.

    Raises
    ------
    DataError
        Naming the row where the answers of a Crowd HTML form are damaged.
    """
    if not _IDS.issubset(parsed.columns) or not any(column.startswith(_ANSWER) for column in parsed.columns):
        return None
    columns = {column: parsed.data.column(column) for column in parsed.columns}
    done: list[str] = []
    if _TASKS in columns:
        columns |= _expanded(parsed, columns, name)
        del columns[_TASKS]
        done.append(f"the answers in {quoted(_TASKS)} were given a column per question")
    columns, folded = _folded(columns)
    if folded:
        done.append(f"the true/false columns of {number(folded, 'question')} were folded into one each")
    spread, why_not = _spread(columns, name)
    lines = parsed.lines
    left_out: tuple[LeftOut, ...] = ()
    if spread is not None:
        columns = _with_items(columns, spread)
        lines = parsed.numbers[spread.row]
        left_out = (LeftOut(Skipped.ITEMS_WITHOUT_INPUT(), spread.lost),) if spread.lost else ()
    done += why_not if spread is None else [spread.sentence]
    header, _ = name_columns(list(columns), name)
    data = compact(pa.Table.from_arrays(list(columns.values()), names=list(header)))
    spec = _spec(data, _HIT if spread is None else spread.item)
    if spec is not None and spec.filters.drop:
        done.append("rejected assignments are left out by a filter")
    kind = f"Mechanical Turk, {parsed.kind}"
    asked = tuple(column for column in header if column.startswith(_ANSWER))
    recipe = Recipe(kind, spec, sentences=tuple(done), left_out=left_out, questions=asked)
    return dataclasses.replace(parsed, columns=header, data=data, kind=kind, lines=lines, recipe=recipe)


def _spread(columns: Mapping[str, Any], name: str) -> tuple[Spread | None, list[str]]:
    """A row per item where HITs have several; else what to know about that."""
    own = (column for column in columns if column.startswith((_INPUT, _ANSWER)))
    cells = {column: _chunked(columns[column]).to_pylist() for column in own}
    numbered = mturk_items.find(cells)
    if numbered is None:
        return None, mturk_items.why_not(cells)
    width = len(columns) - len(numbered.columns) + len(numbered.inputs) + len(numbered.answers)
    check_cells(width * len(columns[_HIT]) * len(numbered.numbers), name)
    return mturk_items.spread(cells, numbered, _chunked(columns[_HIT]).to_pylist()), []


def _with_items(columns: Mapping[str, Any], spread: Spread) -> dict[str, Any]:
    """All columns with a row per item."""
    row = pa.array(spread.row)
    others = {
        column: _chunked(data).take(row) for column, data in columns.items() if column not in spread.replaced
    }
    return {**others, **{column: pa.array(texts, pa.string()) for column, texts in spread.columns.items()}}


def _expanded(parsed: Parsed, known: Mapping[str, Any], name: str) -> dict[str, pa.Array]:
    """A column per question of a Crowd HTML form."""
    column = Column.of(parsed.data.column(_TASKS))
    found: list[dict[str, str]] = []
    for code, cell in enumerate(column.values):
        try:
            found.append(_answers(cell))
        except (ValueError, RecursionError):
            first = int(np.argmax(column.codes == code))
            raise DataError(
                f"{name}, row {parsed.numbers[first]}, column {quoted(_TASKS)}: {quoted(cell)} is no list of "
                "answers in JSON; download the results again, without editing them"
            ) from None
    questions = dict.fromkeys(question for answers in found for question in answers)
    check_cells(len(questions) * len(parsed.data), name)
    return {
        f"{_ANSWER if _ANSWER + question not in known else _TASKS + '.'}{question}": pa.array(
            [found[code].get(question, "") for code in column.codes.tolist()], pa.string()
        )
        for question in questions
        if question.strip()
    }


def _answers(cell: str) -> dict[str, str]:
    """Questions and answers of one assignment.

    Raises
    ------
    ValueError
        If the text is not JSON, or no object or list of objects.
    """
    if not cell.strip():
        return {}
    whole = _DECODER.decode(whole_characters(cell.strip()))
    answers: dict[str, str] = {}
    forms = whole if isinstance(whole, list) else [whole]
    if not all(isinstance(form, dict) for form in forms):
        raise ValueError
    asked = Counter(question for form in forms for question in form)
    for position, form in enumerate(forms, start=1):
        for question, answer in form.items():
            own = question if asked[question] == 1 else f"{question}.{position}"  # a form for each item
            answers |= _flat(own, answer)
    return answers


def _flat(question: str, answer: Any) -> dict[str, str]:
    if isinstance(answer, list) and not any(isinstance(part, dict | list) for part in answer):
        return {question: joined(text(part) for part in answer)}
    if not isinstance(answer, dict):
        return {question: text(answer)}
    if list(answer) in (["label"], ["labels"]):
        return _flat(question, next(iter(answer.values())))
    if answer and all(isinstance(chosen, bool) for chosen in answer.values()):
        return {question: joined(option for option, chosen in answer.items() if chosen)}
    flat: dict[str, str] = {}
    for part, inner in answer.items():
        flat |= _flat(f"{question}.{part}", inner)
    return flat


def _folded(columns: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """One column for a question whose options have a true/false column each, and how many there were."""
    options: dict[str, list[str]] = {}
    for column in columns:
        question, _, option = column.removeprefix(_ANSWER).partition(".")
        if column.startswith(_ANSWER) and option:
            options.setdefault(_ANSWER + question, []).append(column)
    folded: dict[str, pa.Array] = {}
    numbers = mturk_items.numbers_of_inputs(
        {key: _chunked(data).unique().to_pylist() for key, data in columns.items() if key.startswith(_INPUT)}
    )
    for question, members in options.items():
        if question not in columns and len(members) > 1:
            marks = [Column.of(_chunked(columns[member])) for member in members]
            items = _are([member[len(question) + 1 :] for member in members], numbers) and not _one_each(
                marks
            )
            if not items and all({value.casefold() for value in mark.values} <= _YES | _NO for mark in marks):
                folded[question] = _chosen(marks, [member[len(question) + 1 :] for member in members])
    kept: dict[str, Any] = {}
    for column, data in columns.items():
        owner = next((question for question in folded if column in options[question]), None)
        kept[owner or column] = folded[owner] if owner else data
    return kept, len(folded)


def _are(options: Sequence[str], numbers: Sequence[frozenset[int]]) -> bool:
    """Whether the options are the numbers of inputs."""
    return (
        all(option.isdecimal() and len(option) < 7 for option in options) and {*map(int, options)} in numbers
    )


def _one_each(marks: Sequence[Column]) -> bool:
    """Whether no row has two marks, as where one option of several is chosen."""
    hits = [np.array([value.casefold() in _YES for value in mark.values])[mark.codes] for mark in marks]
    return bool((np.sum(hits, axis=0) <= 1).all())


def _chosen(marks: list[Column], options: list[str]) -> pa.Array:
    hits = [[value.casefold() in _YES for value in mark.values] for mark in marks]
    rows = zip(*(mark.codes.tolist() for mark in marks), strict=True)
    texts = [
        joined(option for option, hit, code in zip(options, hits, codes, strict=True) if hit[code])
        for codes in rows
    ]
    return pa.array(texts, pa.string())


def _chunked(data: Any) -> pa.ChunkedArray:
    return data if isinstance(data, pa.ChunkedArray) else pa.chunked_array([data])


def _spec(data: pa.Table, item: str) -> DataSpec | None:
    distinct = {
        column: data.column(column).unique().to_pylist()
        for column in data.column_names
        if column.startswith(_ANSWER)
    }
    if not distinct:
        return None
    inputs = [column for column in data.column_names if column.startswith(_INPUT)]
    named = [column for column in inputs if not _TEXTS.isdisjoint(names.words(column))]
    rejected = _rejected(data)
    return DataSpec(
        item=item,
        rater="WorkerId",
        label=first_label(distinct),
        text=(named or inputs)[0] if named or len(inputs) == 1 else None,
        filters=Filters(drop=rejected),
    )


def _rejected(data: pa.Table) -> tuple[tuple[str, str], ...]:
    """Columns and values of rejected assignments, and of those with a reason to be under ``Reject``."""
    if _STATUS not in data.column_names:
        return ()
    found = [(_STATUS, _REJECTED)] if _REJECTED in data.column(_STATUS).unique().to_pylist() else []
    if {_APPROVE, _REJECT} <= set(data.column_names):
        reasons = data.column(_REJECT).unique().to_pylist()
        found += [(_REJECT, text) for text in reasons[:_MOST_REASONS] if text.strip()]
    return tuple(found)
