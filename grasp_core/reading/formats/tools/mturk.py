"""Mechanical Turk: results of a batch, one item or several in each HIT."""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from operator import eq
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.errors import DataError
from grasp_core.model.outcome import LeftOut
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.files.json_files import text, whole_characters
from grasp_core.reading.formats.shapes.rows import first_label, joined, several
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells, compact
from grasp_core.reading.table.parsed import name_columns
from grasp_core.reading.table.table import Parsed, Recipe

ANSWER, INPUT, _TASKS = "Answer.", "Input.", "Answer.taskAnswers"
_HIT, _STATUS, _REJECT = "HITId", "AssignmentStatus", "Reject"
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_YES, _MARKS = "true", frozenset({"true", "false", ""})
_TEXTS = frozenset({"text", "sentence", "comment", "post", "tweet", "document", "passage", "content"})
_ID = frozenset({"id", "ids", "key", "uid", "uuid", "number", "nr", "index", "idx"})
_LONG, _SETS = 200, 8
"""Letters of a name that are searched for numbers, and most sets of numbers that are tried."""
_MOST = 0.85  # least share of the inputs' numbers that answers have if both are numbered alike
_REPEATS = 0.9  # share of an answer's cells that equal an input's, from which it is no answer
_OFTEN = 3  # an input that occurs so often in one HIT fills empty places; twice, it may be asked again
_SHORT = 80  # most letters of a text that is an item's id
_MOST_REASONS = 100

_Columns = dict[str, list[str]]


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Return the results with a column per question; None if the table is no batch's results."""
    own = {_HIT, "AssignmentId", "WorkerId"}
    if not own.issubset(parsed.columns) or not any(column.startswith(ANSWER) for column in parsed.columns):
        return None
    columns = {column: parsed.column(column).cells for column in parsed.columns}
    done: list[str] = []
    if _TASKS in columns:
        columns |= _expanded(parsed, columns, name)
        del columns[_TASKS]
        done.append(f"the answers in {quoted(_TASKS)} were given a column per question")
    columns, folded = _folded(columns)
    if folded:
        done.append(f"the true/false columns of {number(folded, 'question')} were folded into one each")
    inputs, answers = (_patterns(columns, part) for part in (INPUT, ANSWER))
    item, lines = _HIT, parsed.lines
    left_out: tuple[LeftOut, ...] = ()
    if (numbered := _numbered(columns, inputs, answers)) is not None:
        width = len(columns) - len(numbered.columns) + len(numbered.inputs) + len(numbered.answers)
        check_cells(width * len(parsed) * len(numbered.numbers), name)
        item, columns, row, lost, none = _spread(columns, numbered)
        lines = parsed.numbers[np.array(row, dtype=np.int64)]
        left_out = (LeftOut(Skipped.ITEMS_WITHOUT_INPUT(), lost),) if lost else ()
        done.append(
            f"the {len(numbered.numbers)} items of each HIT got a row each, by the numbers in "
            f"{listed([*numbered.inputs, *numbered.answers])}; equal inputs are one item"
        )
        if none:
            done.append(f"{listed(none)}, several times in one HIT, stands for no input")
    elif inputs and answers:
        done.append(
            f"{listed([*inputs])} and {listed([*answers])} are not numbered alike, "
            "so that each HIT counts as one item"
        )
    header, _ = name_columns(list(columns), name)
    arrays = [pa.array(cells, pa.string()) for cells in columns.values()]
    spec = _spec(columns, item)
    if spec is not None and spec.filters.drop:
        done.append("rejected assignments are left out by a filter")
    kind = f"Mechanical Turk, {parsed.kind}"
    asked = tuple(column for column in header if column.startswith(ANSWER))
    recipe = Recipe(kind, spec, sentences=tuple(done), left_out=left_out, questions=asked)
    data = compact(pa.Table.from_arrays(arrays, names=list(header)))
    return dataclasses.replace(parsed, data=data, kind=kind, lines=lines, recipe=recipe)


def _spec(columns: _Columns, item: str) -> DataSpec | None:
    """Return the reading of the results; filters leave out rejected assignments, also by a given reason."""
    answers = {column: set(cells) for column, cells in columns.items() if column.startswith(ANSWER)}
    if not answers:
        return None
    inputs = [column for column in columns if column.startswith(INPUT)]
    named = [column for column in inputs if names.mentions(column, _TEXTS)]
    rejected = [(_STATUS, "Rejected")] if "Rejected" in columns.get(_STATUS, ()) else []
    if _STATUS in columns and "Approve" in columns:
        reasons = [*dict.fromkeys(columns.get(_REJECT, ()))][:_MOST_REASONS]
        rejected += [(_REJECT, reason) for reason in reasons if reason.strip()]
    return DataSpec(
        item=item,
        rater="WorkerId",
        label=first_label(answers),
        text=(named or inputs)[0] if named or len(inputs) == 1 else None,
        filters=Filters(drop=tuple(rejected)),
    )


# Several items in a HIT: inputs and answers that are numbered

_Patterns = dict[str, dict[int, str]]  # columns by their names without a number, if several have the same


class _Numbered(NamedTuple):
    """Inputs and answers, as ``Input.text_#``, with a column for each of `numbers`, "" for a missing one."""

    numbers: Sequence[int]
    inputs: Mapping[str, Sequence[str]]
    answers: Mapping[str, Sequence[str]]

    @property
    def columns(self) -> set[str]:
        """All of the numbered columns."""
        return {one for part in (self.inputs, self.answers) for several in part.values() for one in several}


def _patterns(columns: Collection[str], part: str) -> _Patterns:
    """Return the patterns of inputs or answers; of a name with two numbers, the last number comes first."""
    found: _Patterns = {}
    for column in (column for column in columns if column.startswith(part)):
        for match in reversed(list(re.finditer(r"(?<!\d)\d{1,6}(?!\d)", column[:_LONG]))):
            pattern = f"{column[: match.start()]}#{column[match.end() :]}"
            found.setdefault(pattern, {}).setdefault(int(match[0]), column)
    return {pattern: numbered for pattern, numbered in found.items() if len(numbered) > 1}


def _filled(columns: _Columns) -> _Patterns:
    """Return the patterns of inputs that have values."""
    return _patterns([column for column, cells in columns.items() if any(cells)], INPUT)


def _sets(filled: _Patterns) -> list[frozenset[int]]:
    """Return sets of inputs' numbers, the largest first, and only a few."""
    return sorted({*map(frozenset, filled.values())}, key=lambda one: (-len(one), min(one)))[:_SETS]


def _numbered(columns: _Columns, inputs: _Patterns, answers: _Patterns) -> _Numbered | None:
    """Return inputs and answers that are numbered alike; None if there are none."""
    filled = _filled(columns)
    folded = [[cell.casefold() for cell in columns[one]] for one in columns if one.startswith(INPUT)]

    def repeats(answer: str) -> bool:
        """Return whether an answer only repeats an input, as a form's hidden field."""
        own = [cell.casefold() for cell in columns[answer]]
        return any(own) and any(sum(map(eq, own, cells)) >= _REPEATS * len(own) for cells in folded)

    for least, wanted in product((1.0, _MOST), _sets(filled)):
        numbers = sorted(wanted)
        alike: dict[str, Sequence[str]] = {}
        taken: set[str] = set()
        for pattern, found in answers.items():
            able = _in_order(found, numbers, least)
            if able and taken.isdisjoint(able):
                alike[pattern] = able
                taken.update(filter(None, able))
        if not all(map(repeats, taken)):
            texts = {
                pattern: [found[one] for one in numbers]
                for pattern, found in inputs.items()
                if filled.get(pattern, {}).keys() <= wanted <= found.keys()
            }
            return _Numbered(numbers, texts, alike)
    return None


def _in_order(found: Mapping[int, str], numbers: Sequence[int], least: float) -> list[str]:
    """Return the columns for the inputs' numbers, or shifted; "" for a few that nobody answered."""
    if sum(one in found for one in numbers) >= least * len(numbers):
        return [found.get(one, "") for one in numbers]
    shift = min(found) - min(numbers)
    return [found[one] for one in sorted(found)] if {one + shift for one in numbers} == set(found) else []


def _spread(columns: _Columns, numbered: _Numbered) -> tuple[str, _Columns, list[int], int, list[str]]:
    """Return a row per item: items' column, all columns, rows' origins, answers without input, blanks."""
    hits, slots = columns[_HIT], len(numbered.numbers)
    blank = [""] * len(hits)
    wide: _Columns = {}
    for pattern, alike in (*numbered.inputs.items(), *numbered.answers.items()):
        by_slot = [columns.get(one, blank) for one in alike]
        wide[pattern] = [text for row in zip(*by_slot, strict=True) for text in row]
    shown = list(zip(*(wide[key] for key in numbered.inputs), strict=True))
    often = Counter((place // slots, texts) for place, texts in enumerate(shown))
    none = {texts for (_, texts), count in often.items() if count >= _OFTEN and any(texts)}
    none = none if len(none) == 1 else set()
    filled = [any(texts) and texts not in none for texts in shown]
    answered = [any(texts) for texts in zip(*(wide[key] for key in numbered.answers), strict=True)]
    lost = sum(has_answer and not has_input for has_input, has_answer in zip(filled, answered, strict=True))
    kept = [place for place, has_input in enumerate(filled) if has_input]
    rows = [place // slots for place in kept]
    ids = [f"{hits[place // slots]}/{numbered.numbers[place % slots]}" for place in kept]
    taken = {pattern: [texts[place] for place in kept] for pattern, texts in wide.items()}
    own = numbered.columns
    found = {key: [cells[row] for row in rows] for key, cells in columns.items() if key not in own}
    used = {key for key in columns if key.startswith((INPUT, ANSWER))}
    item = names.unused("item", used)
    found[item] = _items({key: taken[key] for key in numbered.inputs}, ids)
    used -= own | {"item"}
    for pattern, texts in taken.items():
        # Without its number, or with its # if another column has that name.
        prefix = INPUT if pattern.startswith(INPUT) else ANSWER
        rest = re.sub(r"[^\w#]*_?#", "", pattern.removeprefix(prefix)).strip("._- ")
        called = pattern if f"{prefix}{rest or 'item'}" in used else f"{prefix}{rest or 'item'}"
        used.add(called)
        found[called] = texts
    return item, found, rows, lost, sorted({text for texts in none for text in texts if text})


def _items(inputs: Mapping[str, Sequence[str]], places: Sequence[str]) -> list[str]:
    """Return ids of items, equal if all inputs are: an input unique per item, or each item's first place."""
    whole = list(zip(*inputs.values(), strict=True))
    distinct = len(set(whole))
    able = [
        key
        for key, texts in inputs.items()
        if len(set(texts)) == distinct
        and all(0 < len(text) <= _SHORT and text.isprintable() for text in texts)
    ]
    if able:
        return list(inputs[min(able, key=lambda key: not names.mentions(key, _ID))])
    first: dict[tuple[str, ...], str] = {}
    return [first.setdefault(texts, place) for texts, place in zip(whole, places, strict=True)]


# Answers of forms


def _expanded(parsed: Parsed, columns: _Columns, name: str) -> _Columns:
    """Return a column per question of a Crowd HTML form."""
    found: dict[str, dict[str, str]] = {}
    for cell, row in zip(columns[_TASKS], parsed.numbers.tolist(), strict=True):
        try:
            found[cell] = found.get(cell) or _answers(cell)
        except (ValueError, RecursionError):
            raise DataError(
                f"{name}, row {row}, column {quoted(_TASKS)}: {quoted(cell)} is no list of "
                "answers in JSON; download the results again, without editing them"
            ) from None
    questions = dict.fromkeys(question for answers in found.values() for question in answers)
    check_cells(len(questions) * len(parsed), name)
    return {
        f"{ANSWER if ANSWER + question not in columns else _TASKS + '.'}{question}": [
            found[cell].get(question, "") for cell in columns[_TASKS]
        ]
        for question in questions
        if question.strip()
    }


def _answers(cell: str) -> dict[str, str]:
    """Return questions and answers of one assignment; ValueError if the text is no objects in JSON."""
    if not cell.strip():
        return {}
    whole = _DECODER.decode(whole_characters(cell.strip()))
    answers: dict[str, str] = {}
    forms = several(whole)
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


def _folded(columns: _Columns) -> tuple[_Columns, int]:
    """Join true/false columns of options into one per question; return also the number of such questions."""
    options: dict[str, list[str]] = {}
    for column in columns:
        question, _, option = column.removeprefix(ANSWER).partition(".")
        if column.startswith(ANSWER) and option:
            options.setdefault(ANSWER + question, []).append(column)
    sets = _sets(_filled(columns))
    folded: _Columns = {}
    owner: dict[str, str] = {}
    for question, members in options.items():
        if question in columns or len(members) < 2:
            continue
        if not all({cell.casefold() for cell in set(columns[member])} <= _MARKS for member in members):
            continue
        own = [member[len(question) + 1 :] for member in members]
        chosen = [
            [option for option, mark in zip(own, row, strict=True) if mark.casefold() == _YES]
            for row in zip(*(columns[member] for member in members), strict=True)
        ]
        of_inputs = all(option.isdecimal() and len(option) < 7 for option in own)
        if of_inputs and {*map(int, own)} in sets and any(len(row) > 1 for row in chosen):
            continue  # each option is an item's number, and more than one is marked
        folded[question] = [*map(joined, chosen)]
        owner |= dict.fromkeys(members, question)
    kept = {owner.get(column, column): cells for column, cells in columns.items()}
    return kept | folded, len(folded)
