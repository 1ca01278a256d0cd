"""Mechanical Turk: results of a batch, one item or several in each HIT."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import eq
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Int64Array
from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.errors import DataError
from grasp_core.model.outcome import LeftOut
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.files.json_files import text, whole_characters
from grasp_core.reading.formats.shapes.rows import first_label, joined
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column, check_cells
from grasp_core.reading.table.parsed import Parsed, compact, name_columns
from grasp_core.reading.table.table import Recipe

ANSWER, INPUT, _TASKS = "Answer.", "Input.", "Answer.taskAnswers"
_HIT, _STATUS, _REJECT = "HITId", "AssignmentStatus", "Reject"
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_YES, _NO = frozenset({"true"}), frozenset({"false", ""})
_TEXTS = frozenset({"text", "sentence", "comment", "post", "tweet", "document", "passage", "content"})
_ID = frozenset({"id", "ids", "key", "uid", "uuid", "number", "nr", "index", "idx"})
_LONG, _SETS = 200, 8
"""Letters of a name in which numbers are looked for, and sets of numbers that are tried."""
_MOST = 0.85
"""Least share of the inputs' numbers that answers have where they are numbered alike."""
_REPEATS = 0.9
"""Share of an answer's cells that are an input's, from which it is no answer."""
_SHORT = 80
"""Texts up to this long are ids of items."""
_MOST_REASONS = 100


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The results with a column per question; None where the table is no batch's results."""
    own = {_HIT, "AssignmentId", "WorkerId"}
    if not own.issubset(parsed.columns) or not any(column.startswith(ANSWER) for column in parsed.columns):
        return None
    columns: dict[str, pa.ChunkedArray] = {column: parsed.data.column(column) for column in parsed.columns}
    done: list[str] = []
    if _TASKS in columns:
        columns |= _expanded(parsed, columns, name)
        del columns[_TASKS]
        done.append(f"the answers in {quoted(_TASKS)} were given a column per question")
    columns, folded = _folded(columns)
    if folded:
        done.append(f"the true/false columns of {number(folded, 'question')} were folded into one each")
    cells = {key: data.to_pylist() for key, data in columns.items() if key.startswith((INPUT, ANSWER))}
    numbered = _find(cells)
    item, lines = _HIT, parsed.lines
    left_out: tuple[LeftOut, ...] = ()
    if numbered is not None:
        width = len(columns) - len(numbered.columns) + len(numbered.inputs) + len(numbered.answers)
        check_cells(width * len(columns[_HIT]) * len(numbered.numbers), name)
        item, columns, row, lost = _spread(columns, cells, numbered)
        lines = parsed.numbers[row]
        left_out = (LeftOut(Skipped.ITEMS_WITHOUT_INPUT(), lost),) if lost else ()
        done.append(
            f"the {len(numbered.numbers)} items of each HIT got a row each, by the numbers in "
            f"{listed([*numbered.inputs, *numbered.answers])}; equal inputs are one item"
        )
    else:
        inputs, answers = (
            _patterns([key for key in cells if key.startswith(part)]) for part in (INPUT, ANSWER)
        )
        if inputs and answers:
            done.append(
                f"{listed([*inputs])} and {listed([*answers])} are not numbered alike, "
                "so that each HIT counts as one item"
            )
    header, _ = name_columns(list(columns), name)
    data = compact(pa.Table.from_arrays(list(columns.values()), names=list(header)))
    spec = _spec(data, item)
    if spec is not None and spec.filters.drop:
        done.append("rejected assignments are left out by a filter")
    kind = f"Mechanical Turk, {parsed.kind}"
    asked = tuple(column for column in header if column.startswith(ANSWER))
    recipe = Recipe(kind, spec, sentences=tuple(done), left_out=left_out, questions=asked)
    return dataclasses.replace(parsed, columns=header, data=data, kind=kind, lines=lines, recipe=recipe)


def _spec(data: pa.Table, item: str) -> DataSpec | None:
    """How to read the results; rejected assignments, and those with a reason to be, are left out."""

    def distinct(column: str) -> list[str]:
        found: list[str] = data.column(column).unique().to_pylist()
        return found

    answers = {column: distinct(column) for column in data.column_names if column.startswith(ANSWER)}
    if not answers:
        return None
    inputs = [column for column in data.column_names if column.startswith(INPUT)]
    named = [column for column in inputs if not _TEXTS.isdisjoint(names.words(column))]
    rejected: list[tuple[str, str]] = []
    if _STATUS in data.column_names:
        rejected += [(_STATUS, status) for status in distinct(_STATUS) if status == "Rejected"]
        if {"Approve", _REJECT} <= set(data.column_names):
            reasons = distinct(_REJECT)[:_MOST_REASONS]
            rejected += [(_REJECT, reason) for reason in reasons if reason.strip()]
    return DataSpec(
        item=item,
        rater="WorkerId",
        label=first_label(answers),
        text=(named or inputs)[0] if named or len(inputs) == 1 else None,
        filters=Filters(drop=tuple(rejected)),
    )


# Several items in a HIT: inputs and answers that are numbered


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Inputs and answers that are numbered alike, so that each number is an item.

    `numbers`: of the inputs.
    `inputs`, `answers`: E.g. "Input.text_#", and its columns in the order of `numbers`; "" where there is
        none.
    """

    numbers: tuple[int, ...]
    inputs: Mapping[str, tuple[str, ...]]
    answers: Mapping[str, tuple[str, ...]]

    @property
    def columns(self) -> frozenset[str]:
        """All of the numbered columns."""
        return frozenset(
            one for part in (self.inputs, self.answers) for several in part.values() for one in several
        )


def _numbers_of_inputs(columns: Mapping[str, Sequence[str]]) -> list[frozenset[int]]:
    """Numbers of inputs that have values: the most numbers first, and at most a few sets."""
    filled = [column for column, cells in columns.items() if column.startswith(INPUT) and any(cells)]
    found = {frozenset(numbers) for numbers in _patterns(filled).values()}
    return sorted(found, key=lambda one: (-len(one), min(one)))[:_SETS]


def _find(columns: Mapping[str, Sequence[str]]) -> _Numbered | None:
    """Inputs and answers that are numbered alike; None where there are none."""
    inputs = _patterns([column for column in columns if column.startswith(INPUT)])
    answers = _patterns([column for column in columns if column.startswith(ANSWER)])
    able_numbers = [sorted(numbers) for numbers in _numbers_of_inputs(columns)]
    for least, numbers in product((1.0, _MOST), able_numbers):
        alike: dict[str, tuple[str, ...]] = {}
        taken: set[str] = set()
        for pattern, found in answers.items():
            able = _in_order(found, numbers, least)
            if able and taken.isdisjoint(able):
                alike[pattern] = able
                taken.update(filter(None, able))
        if not all(_echoes(columns, several) for several in alike.values()):
            filled = _patterns(
                [column for column in columns if column.startswith(INPUT) and any(columns[column])]
            )
            able_inputs = (key for key, found in inputs.items() if set(numbers) <= set(found))
            own = {key: inputs[key] for key in able_inputs if set(filled.get(key, ())) <= set(numbers)}
            texts = {key: tuple(found[one] for one in numbers) for key, found in own.items()}
            return _Numbered(tuple(numbers), texts, alike)
    return None


def _echoes(columns: Mapping[str, Sequence[str]], answers: Sequence[str]) -> bool:
    """Whether answers only repeat an input, as forms send hidden fields along."""
    inputs = [
        [cell.casefold() for cell in cells] for name, cells in columns.items() if name.startswith(INPUT)
    ]

    def repeats(answer: str) -> bool:
        own = [cell.casefold() for cell in columns[answer]]
        equal = (sum(map(eq, own, cells)) for cells in inputs)
        return any(own) and any(count >= _REPEATS * len(own) for count in equal)

    return all(repeats(answer) for answer in answers if answer)


def _patterns(columns: Collection[str]) -> dict[str, dict[int, str]]:
    """Columns by what is left of their names without a number, where that is left of several.

    A name with two numbers has two patterns; the one without its last number comes first.
    """
    found: dict[str, dict[int, str]] = {}
    for column in columns:
        for match in reversed(list(re.finditer(r"(?<!\d)\d{1,6}(?!\d)", column[:_LONG]))):
            pattern = f"{column[: match.start()]}#{column[match.end() :]}"
            found.setdefault(pattern, {}).setdefault(int(match[0]), column)
    return {pattern: numbered for pattern, numbered in found.items() if len(numbered) > 1}


def _in_order(found: Mapping[int, str], numbers: Sequence[int], least: float) -> tuple[str, ...]:
    """The columns for the inputs' numbers; as many that begin elsewhere are counted from there.

    A few may be missing, with "" in their place: a question that nobody answered has no column.
    """
    if sum(one in found for one in numbers) >= least * len(numbers):
        return tuple(found.get(one, "") for one in numbers)
    shift = min(found) - min(numbers)
    return (
        tuple(found[one] for one in sorted(found)) if {one + shift for one in numbers} == set(found) else ()
    )


def _spread(
    columns: Mapping[str, pa.ChunkedArray], cells: Mapping[str, Sequence[str]], numbered: _Numbered
) -> tuple[str, dict[str, pa.ChunkedArray], Int64Array, int]:
    """A row per item: the items' column, all columns, where each row came from, and answers without input.

    The numbered columns become one for each pattern; places with answers but without input are left out.
    """
    hits = columns[_HIT].to_pylist()
    places = [(row, slot) for row in range(len(hits)) for slot in range(len(numbered.numbers))]
    given = {**numbered.inputs, **numbered.answers}
    no_column = [""] * len(hits)
    lists = {key: [cells.get(one, no_column) for one in several] for key, several in given.items()}
    wide = {key: [several[slot][row] for row, slot in places] for key, several in lists.items()}
    filled, answered = (
        [any(texts) for texts in zip(*(wide[key] for key in part), strict=True)]
        for part in (numbered.inputs, numbered.answers)
    )
    kept = [position for position, has_input in enumerate(filled) if has_input]
    lost = sum(has_answer and not has_input for has_input, has_answer in zip(filled, answered, strict=True))
    taken = {key: [texts[position] for position in kept] for key, texts in wide.items()}
    rows = np.array([places[at][0] for at in kept], dtype=np.int64)
    ids = [f"{hits[places[at][0]]}/{numbered.numbers[places[at][1]]}" for at in kept]
    item = names.unused("item", cells)
    found = {key: data.take(pa.array(rows)) for key, data in columns.items() if key not in numbered.columns}
    found[item] = pa.chunked_array([_items({key: taken[key] for key in numbered.inputs}, ids)])
    used = set(cells) - numbered.columns - {"item"}
    for (
        pattern,
        texts,
    ) in taken.items():  # without its number, or with its # where another column has that name
        prefix = INPUT if pattern.startswith(INPUT) else ANSWER
        rest = re.sub(r"[^\w#]*_?#", "", pattern.removeprefix(prefix)).strip("._- ")
        shown = pattern if f"{prefix}{rest or 'item'}" in used else f"{prefix}{rest or 'item'}"
        used.add(shown)
        found[shown] = pa.chunked_array([texts], pa.string())
    return item, found, rows, lost


def _items(inputs: Mapping[str, Sequence[str]], places: Sequence[str]) -> list[str]:
    """Ids of items, equal where all inputs are: an input that tells them apart, or each one's first place."""
    whole = list(zip(*inputs.values(), strict=True))
    distinct = len(set(whole))
    able = [
        key
        for key, texts in inputs.items()
        if len(set(texts)) == distinct
        and all(0 < len(text) <= _SHORT and text.isprintable() for text in texts)
    ]
    able.sort(key=lambda key: _ID.isdisjoint(names.words(key)))
    if able:
        return list(inputs[able[0]])
    first: dict[tuple[str, ...], str] = {}
    return [first.setdefault(texts, place) for texts, place in zip(whole, places, strict=True)]


# Answers of forms


def _expanded(parsed: Parsed, known: Mapping[str, Any], name: str) -> dict[str, pa.ChunkedArray]:
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
        f"{ANSWER if ANSWER + question not in known else _TASKS + '.'}{question}": pa.chunked_array(
            [[found[code].get(question, "") for code in column.codes.tolist()]], pa.string()
        )
        for question in questions
        if question.strip()
    }


def _answers(cell: str) -> dict[str, str]:
    """Questions and answers of one assignment.

    Raises ValueError if the text is not JSON, or no object or list of objects.
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


def _folded(columns: Mapping[str, pa.ChunkedArray]) -> tuple[dict[str, pa.ChunkedArray], int]:
    """One column for a question whose options have a true/false column each, and how many there were."""
    options: dict[str, list[str]] = {}
    for column in columns:
        question, _, option = column.removeprefix(ANSWER).partition(".")
        if column.startswith(ANSWER) and option:
            options.setdefault(ANSWER + question, []).append(column)
    folded: dict[str, pa.ChunkedArray] = {}
    numbers = _numbers_of_inputs(
        {key: data.unique().to_pylist() for key, data in columns.items() if key.startswith(INPUT)}
    )
    for question, members in options.items():
        if question in columns or len(members) < 2:
            continue
        marks = [Column.of(columns[member]) for member in members]
        if not all({value.casefold() for value in mark.values} <= _YES | _NO for mark in marks):
            continue
        hits = [np.array([value.casefold() in _YES for value in mark.values])[mark.codes] for mark in marks]
        own = [member[len(question) + 1 :] for member in members]
        of_inputs = all(option.isdecimal() and len(option) < 7 for option in own)
        if of_inputs and {*map(int, own)} in numbers and (np.sum(hits, axis=0) > 1).any():
            continue  # each option is an item's number, and more than one is marked
        texts = [
            joined(option for option, hit in zip(own, row, strict=True) if hit)
            for row in zip(*hits, strict=True)
        ]
        folded[question] = pa.chunked_array([texts], pa.string())
    kept: dict[str, pa.ChunkedArray] = {}
    for column, data in columns.items():
        owner = next((question for question in folded if column in options[question]), None)
        kept[owner or column] = folded[owner] if owner else data
    return kept, len(folded)
