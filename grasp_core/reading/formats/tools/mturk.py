"""Mechanical Turk: batches, whose items and answers are found."""

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

from grasp_core.model.account import LeftOut
from grasp_core.model.annotations import Int64Array
from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.wording import listed, number, quoted
from grasp_core.reading.files.json_files import text, whole_characters
from grasp_core.reading.formats.shapes.rows import first_label, joined
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column, check_cells
from grasp_core.reading.table.parsed import Parsed, compact, name_columns
from grasp_core.reading.table.table import Recipe

ANSWER, INPUT = "Answer.", "Input."
ITEM = "item"
_DIGITS = re.compile(r"(?<!\d)\d{1,6}(?!\d)")
_NUMBER = re.compile(r"[^\w#]*_?#")
_ID = frozenset({"id", "ids", "key", "uid", "uuid", "number", "nr", "index", "idx"})
_LONG, _SETS = 200, 8
"""Letters of a name in which numbers are looked for, and sets of numbers that are tried."""
_MOST = 0.85
"""Least share of the inputs' numbers that answers have where they are numbered alike."""
_REPEATS = 0.9
"""Share of an answer's cells that are an input's, from which it is no answer."""
_SHORT = 80
"""Texts up to this long are ids of items."""


@dataclass(frozen=True, slots=True)
class Numbered:
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


@dataclass(frozen=True, slots=True)
class Spread:
    """A row per item.

    `item`: the items' column.
    `columns`: that column and one for each pattern.
    `replaced`: the numbered columns that they stand for.
    `row`: where each row came from.
    `sentence`: what was done.
    `lost`: places with answers but without input, which are left out.
    """

    item: str
    columns: Mapping[str, list[str]]
    replaced: frozenset[str]
    row: Int64Array
    sentence: str
    lost: int


def numbers_of_inputs(columns: Mapping[str, Sequence[str]]) -> list[frozenset[int]]:
    """Numbers of inputs that have values: the most numbers first, and at most a few sets."""
    found = {frozenset(numbers) for numbers in _patterns(_filled(columns)).values()}
    return sorted(found, key=lambda one: (-len(one), min(one)))[:_SETS]


def _filled(columns: Mapping[str, Sequence[str]]) -> list[str]:
    return [column for column, cells in columns.items() if column.startswith(INPUT) and any(cells)]


def find(columns: Mapping[str, Sequence[str]]) -> Numbered | None:
    """Inputs and answers that are numbered alike; None where there are none."""
    inputs = _patterns([column for column in columns if column.startswith(INPUT)])
    answers = _patterns([column for column in columns if column.startswith(ANSWER)])
    able_numbers = [sorted(numbers) for numbers in numbers_of_inputs(columns)]
    for least, numbers in product((1.0, _MOST), able_numbers):
        alike: dict[str, tuple[str, ...]] = {}
        taken: set[str] = set()
        for pattern, found in answers.items():
            able = _in_order(found, numbers, least)
            if able and taken.isdisjoint(able):
                alike[pattern] = able
                taken.update(filter(None, able))
        if not all(_echoes(columns, several) for several in alike.values()):
            filled = _patterns(_filled(columns))
            able_inputs = (key for key, found in inputs.items() if set(numbers) <= set(found))
            own = {key: inputs[key] for key in able_inputs if set(filled.get(key, ())) <= set(numbers)}
            texts = {key: tuple(found[one] for one in numbers) for key, found in own.items()}
            return Numbered(tuple(numbers), texts, alike)
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


def why_not(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences for inputs and answers that are numbered, but not alike."""
    answers = _patterns([column for column in columns if column.startswith(ANSWER)])
    inputs = _patterns([column for column in columns if column.startswith(INPUT)])
    if not inputs or not answers:
        return []
    return [
        f"{listed([*inputs])} and {listed([*answers])} are not numbered alike, "
        "so that each HIT counts as one item"
    ]


def _patterns(columns: Collection[str]) -> dict[str, dict[int, str]]:
    """Columns by what is left of their names without a number, where that is left of several.

    A name with two numbers has two patterns; the one without its last number comes first.
    """
    found: dict[str, dict[int, str]] = {}
    for column in columns:
        for match in reversed(list(_DIGITS.finditer(column[:_LONG]))):
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


def spread(columns: Mapping[str, Sequence[str]], numbered: Numbered, hits: Sequence[str]) -> Spread:
    """A row per item, and the numbered columns in one each.

    `hits`: id of each row's task.
    """
    given = {**numbered.inputs, **numbered.answers}
    cells = [(row, slot) for row in range(len(hits)) for slot in range(len(numbered.numbers))]
    no_column = [""] * len(hits)
    lists = {key: [columns.get(one, no_column) for one in several] for key, several in given.items()}
    wide = {key: [several[slot][row] for row, slot in cells] for key, several in lists.items()}
    filled, answered = (
        [any(texts) for texts in zip(*(wide[key] for key in part), strict=True)]
        for part in (numbered.inputs, numbered.answers)
    )
    kept = [position for position, has_input in enumerate(filled) if has_input]
    lost = sum(has_answer and not has_input for has_input, has_answer in zip(filled, answered, strict=True))
    taken = {key: [texts[position] for position in kept] for key, texts in wide.items()}
    places = [f"{hits[row]}/{numbered.numbers[slot]}" for row, slot in (cells[at] for at in kept)]
    shown = _names(taken, set(columns) - numbered.columns - {ITEM})
    items = _items({key: taken[key] for key in numbered.inputs}, places)
    item = names.unused(ITEM, columns)
    return Spread(
        item,
        {item: items, **{shown[key]: texts for key, texts in taken.items()}},
        numbered.columns,
        np.array([cells[at][0] for at in kept], dtype=np.int64),
        f"the {len(numbered.numbers)} items of each HIT got a row each, by the numbers in {listed([*given])};"
        " equal inputs are one item",
        lost,
    )


def _names(patterns: Collection[str], taken: Collection[str]) -> dict[str, str]:
    """Each pattern without its number, or with its # where that is another column's name."""
    found: dict[str, str] = {}
    used = {*taken}
    for pattern in patterns:
        prefix = INPUT if pattern.startswith(INPUT) else ANSWER
        rest = _NUMBER.sub("", pattern.removeprefix(prefix)).strip("._- ")
        own = f"{prefix}{rest or ITEM}"
        found[pattern] = pattern if own in used else own
        used.add(found[pattern])
    return found


def _items(inputs: Mapping[str, Sequence[str]], places: Sequence[str]) -> list[str]:
    """Ids of items, equal where all inputs are: an input that tells them apart, or each one's first place."""
    whole = list(zip(*inputs.values(), strict=True))
    distinct = len(set(whole))
    able = [key for key, texts in inputs.items() if len(set(texts)) == distinct and all(map(_fit, texts))]
    able.sort(key=lambda key: _ID.isdisjoint(names.words(key)))
    if able:
        return list(inputs[able[0]])
    first: dict[tuple[str, ...], str] = {}
    return [first.setdefault(texts, place) for texts, place in zip(whole, places, strict=True)]


def _fit(text: str) -> bool:
    return 0 < len(text) <= _SHORT and text.isprintable()


_HIT = "HITId"
_IDS = {_HIT, "AssignmentId", "WorkerId"}
_ANSWER, _INPUT, _TASKS = ANSWER, INPUT, "Answer.taskAnswers"
_STATUS, _REJECTED = "AssignmentStatus", "Rejected"
_APPROVE, _REJECT = "Approve", "Reject"
_MOST_REASONS = 100
_YES, _NO = frozenset({"true"}), frozenset({"false", ""})
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_TEXTS = frozenset({"text", "sentence", "comment", "post", "tweet", "document", "passage", "content"})


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The results with a column per question; None where the table is no batch's results.

    Raises DataError naming the row where the answers of a Crowd HTML form are damaged.
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
    numbered = find(cells)
    if numbered is None:
        return None, why_not(cells)
    width = len(columns) - len(numbered.columns) + len(numbered.inputs) + len(numbered.answers)
    check_cells(width * len(columns[_HIT]) * len(numbered.numbers), name)
    return spread(cells, numbered, _chunked(columns[_HIT]).to_pylist()), []


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


def _folded(columns: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """One column for a question whose options have a true/false column each, and how many there were."""
    options: dict[str, list[str]] = {}
    for column in columns:
        question, _, option = column.removeprefix(_ANSWER).partition(".")
        if column.startswith(_ANSWER) and option:
            options.setdefault(_ANSWER + question, []).append(column)
    folded: dict[str, pa.Array] = {}
    numbers = numbers_of_inputs(
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
