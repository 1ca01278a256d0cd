"""Header rows: usually the first row, in some files none or several; rows that describe columns."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from grasp_core.model.annotations import is_number, number_of
from grasp_core.model.errors import Problem, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import LIKE_MISSING
from grasp_core.reading.table.parsed import MAX_COLUMNS, form, name_columns
from grasp_core.reading.table.table import Parsed

LOOKED_AT = 1_000
"""Number of first rows of a file that are examined for its header, or descriptions of columns."""
_LONG = 20
_CELLS = 100_000  # most cells examined of a wide file
_TITLES, _BELOW = 10, 50  # most rows that are examined for titles, and most rows examined below them
BETWEEN = " / "  # text between the parts of a name that was spread over two rows
_MOSTLY = 0.9
_PLAIN = frozenset({"", "response", "open-ended response"})
"""Texts of SurveyMonkey below a question with one column."""

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns, in the first `rows` rows; the last ones, `unnamed`, should be empty."""

    columns: tuple[str, ...]
    rows: int
    notes: tuple[Problem, ...]
    unnamed: tuple[str, ...] = ()


def header_of(rows: Sequence[Row], name: str, line: int) -> Header:
    """Return the header of a file that begins with `rows`, the first of which is in `line`."""
    blank = next((at for at, row in enumerate(rows) if any(cell.strip() for cell in row)), 0)
    if blank and len(rows) > blank + 1:  # rows of delimiters alone, as spreadsheets write above a table
        found = header_of(rows[blank:], name, line + blank)
        return replace(found, rows=found.rows + blank)
    first, where = list(rows[0]), f"row {line}"
    if len(first) > MAX_COLUMNS:
        name_columns(first, name, where)
    below = rows[1 : max(3, _CELLS // len(first))]
    if _row_names(first, below):
        columns, _ = name_columns(["", *first], name, where)
        note = know(FileProblem.ROW_NAMES(file=name, where=where, column=columns[0]))
        return Header(columns, 1, (note,))
    if any(len(row) != len(first) for row in below[:5]):
        columns, notes = name_columns(first, name, where)
        return Header(columns, 1, tuple(notes))
    below = [row for row in below if len(row) == len(first)]  # others are refused when they are read
    if _is_data(first, below):
        columns = tuple(f"column {position}" for position in range(1, len(first) + 1))
        return Header(columns, 0, (know(FileProblem.NO_HEADER(file=name, where=where, columns=columns)),))
    spare = 0  # last columns without a name, and without a filled cell in the rows examined
    while below and spare < len(first) - 2 and not any(row[-1 - spare].strip() for row in [first, *below]):
        spare += 1
    if spare:
        named = header_of([row[: len(row) - spare] for row in [first, *below]], name, line)
        unnamed = tuple(f"(no name {position})" for position in range(1, spare + 1))
        return replace(named, columns=(*named.columns, *unnamed), unnamed=unnamed)
    levels = _levels(first, below)
    columns, notes = name_columns(_joined(first, below, levels) if levels > 1 else first, name, where)
    if levels > 1:
        notes.append(know(FileProblem.HEADER_OF_ROWS(file=name, rows=levels)))
    if all(map(is_number, first)) and not _counts_up(first):
        notes.append(know(FileProblem.HEADER_OF_NUMBERS(file=name, where=where, columns=columns)))
    return Header(columns, levels, tuple(notes))


def _row_names(first: Row, below: Sequence[Row]) -> bool:
    """Return whether each row has one field more, with a unique first field, as R writes row names."""
    if not below or len(first) < 2 or any(len(row) != len(first) + 1 for row in below):
        return False
    ids = {row[0] for row in below}
    return len(ids) == len(below) and "" not in ids and any(row[-1].strip() for row in below)


# No header


def _is_data(first: Row, below: Sequence[Row]) -> bool:
    """Return whether the first row's cells are like the cells below, and none looks like a name."""
    if not below or len(first) < 2 or _counts_up(first):
        return False
    words = any(_filled(cell) and not is_number(cell) for cell in first)
    if words and list(first) in [list(row) for row in below[:50]]:  # as in files that were put together
        return False
    data, filled = 0, sum(bool(cell.strip()) for cell in first)
    if words and _named_twice(first, below) >= max(3, filled // 3):
        return False
    for position, cell in enumerate(first):
        like = _like(cell, [row[position] for row in below])
        if like is False:
            return False
        data += like is True
    return data > 1 and 2 * data >= filled


def _named_twice(first: Row, below: Sequence[Row]) -> int:
    """Count cells that only the next row repeats, as older exports of Qualtrics repeat names."""
    twice = (at for at, cell in enumerate(first) if cell.strip() and cell == below[0][at])
    return sum(all(row[at] != first[at] for row in below[1:]) for at in twice)


def _counts_up(first: Row) -> bool:
    """Return whether names are 0, 1, 2..., of columns without names, or ids in order beside a blank name."""
    cells = [cell.strip() for cell in (first if first[0].strip() else first[1:])]
    if not all(cell.isascii() and cell.isdigit() and len(cell) < _LONG for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    if not first[0].strip():
        return all(before < after for before, after in pairwise(numbers))
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) and (
        numbers[0] == 0 or len(numbers) > 3
    )


def _like(cell: str, below: Sequence[str]) -> bool | None:
    """Return whether a cell is a value like the cells below it, and not their name; None if unclear."""
    cell = cell.strip()
    filled = [text.strip() for text in below if text.strip()]
    if not cell or not filled:
        return None
    if cell.casefold() in LIKE_MISSING and all(is_number(text) for text in filled if _filled(text)):
        return None  # a number that is missing, as NumPy writes it
    numbers = [number_of(text) for text in filled if is_number(text)]
    if len(numbers) >= _MOSTLY * len(filled):
        return _in_range(number_of(cell), numbers)
    if cell in filled:
        return True
    kind = form(cell)
    if kind is not None and sum(form(text) == kind for text in filled) >= _MOSTLY * len(filled):
        return True
    if _like_ids(cell) and sum(map(_like_ids, filled)) >= _MOSTLY * len(filled):
        lengths = [len(text) for text in filled]
        if lengths.count(len(cell)) >= _MOSTLY * len(lengths):
            return True
    forms = [form(text) for text in filled[:100]]
    recurs = 2 * len(set(filled)) <= len(filled)
    one_form = forms[0] is not None and forms.count(forms[0]) >= _MOSTLY * len(forms)
    usual = names.id_score(cell, names.ITEM | names.RATER) > 1 or names.label_score(cell) > 1
    return False if recurs or one_form or usual or cell.casefold() == "id" else None


def _like_ids(cell: str) -> bool:
    """Return whether a text is of letters and digits without a blank, as ids that programs make."""
    return cell.isalnum() and not cell.isalpha() and not cell.isdigit()


def _in_range(cell: float, numbers: Sequence[float]) -> bool | None:
    """Return True for a number within the range of others, False for one far outside, None if unclear."""
    if math.isnan(cell):
        return False
    least, most = min(numbers), max(numbers)
    if least - 1 - (most - least) / 2 <= cell <= most + 1 + (most - least) / 2:
        return True
    return False if abs(cell) > 10 * max(abs(least), abs(most)) + 10 else None


# Several rows


def _levels(first: Row, below: Sequence[Row]) -> int:
    """Count the rows that name the columns: more than one if names of groups recur or leave blanks."""
    if len(below) < 2:
        return 1
    second, rest = below[0], below[1:]
    if _survey_monkey(first, second):
        return 2
    if _named_twice(first, below) >= max(3, len(first) // 3):
        return 1
    start = _grouped_from(first)
    if start is None:
        return 1
    both = list(zip(_forward(first)[start:], second[start:], strict=True))
    if len(set(both)) < len(both) or not all(cell.strip() for cell in second[start:]):
        return 1
    likes = [_like(cell, [row[start + at] for row in rest]) for at, cell in enumerate(second[start:])]
    if 2 * likes.count(True) >= len(likes):
        return 1
    named = any(cell.strip() for cell in rest[0][:start]) and not any(
        cell.strip() for cell in rest[0][start:]
    )
    return 3 if named and start else 2


def _survey_monkey(first: Row, second: Row) -> bool:
    folded = [cell.strip().casefold().replace(" ", "") for cell in first[:3]]
    return "collectorid" in folded and "respondentid" in folded and not second[0].strip()


def _grouped_from(first: Row) -> int | None:
    """Return the position of the first name that covers the next column too; None if each has its own."""
    for position in range(1, len(first)):
        again = first[position] == first[position - 1] and first[position].strip()
        if again or (first[position - 1].strip() and not first[position].strip()):
            return position - 1
    seen: dict[str, int] = {}
    again_at = (
        seen[cell] for at, cell in enumerate(first) if cell.strip() and seen.setdefault(cell, at) != at
    )
    return min(again_at, default=None)


def _forward(row: Row) -> list[str]:
    filled: list[str] = []
    for cell in row:
        filled.append(cell if cell.strip() or not filled else filled[-1])
    return filled


def _joined(first: Row, below: Sequence[Row], levels: int) -> list[str]:
    """Join the names of both rows; a part that is the same everywhere is left out."""
    second = below[0]
    if _survey_monkey(first, second):
        return [
            (one if two.strip().casefold() in _PLAIN else f"{one.strip()}{BETWEEN}{two.strip()}")
            for one, two in zip(_forward(first), second, strict=True)
        ]
    start = _grouped_from(first) or 0
    upper, lower = _forward(first)[start:], second[start:]
    if len(set(upper)) == 1:
        grouped = list(lower)
    elif len(set(lower)) == 1:
        grouped = list(upper)
    else:
        grouped = [f"{one.strip()}{BETWEEN}{two.strip()}" for one, two in zip(upper, lower, strict=True)]
    own = list(below[1][:start]) if levels == 3 else []  # names of columns before the groups
    for position, both in enumerate(zip(first[:start], second[:start], strict=True), start=1):
        if levels != 3:
            filled = [cell for cell in both if cell.strip()]
            own.append(filled[0] if len(filled) == 1 else f"column {position}")
    return [*own, *grouped]


# Titles


def header_below(numbered: Sequence[tuple[int, Row]], name: str) -> Header:
    """Return the header of a file with these first rows, each with its line; titles above it are left out."""
    rows = [row for _, row in numbered]
    above = titles(rows)
    line, _ = numbered[above]
    found = header_of(rows[above:], name, line)
    notes = (*note_titles(rows[:above], line, name), *found.notes)
    return replace(found, rows=found.rows + above, notes=notes)


def note_titles(above: Sequence[Row], header: int, name: str) -> list[Problem]:
    """Note the rows above the names, which are in line `header`; empty if there are none."""
    if not above:
        return []
    cell = next(cell for row in above for cell in row if cell.strip())
    return [know(FileProblem.HEADER_BELOW(file=name, header=header, rows=len(above), cell=cell), len(above))]


def titles(rows: Sequence[Row]) -> int:
    """Return the number of rows above the names: filled from the left, at most half; names recur nowhere."""
    at = next((at for at, row in enumerate(rows[:_TITLES]) if 2 * _filled_left(row) > len(row)), 0)
    named, below = rows[at], rows[at + 1 : at + _BELOW]
    cells = [cell.strip() for cell in named]
    if not at or len(below) < 2 or any(len(row) != len(named) for row in (*rows[:at], *below)):
        return 0
    if len({*cells}) < len(cells) or any(not cell or is_number(cell) for cell in cells):
        return 0
    if not any(cell.strip() for row in rows[:at] for cell in row):
        return 0
    again = any(cell == row[place].strip() for row in below for place, cell in enumerate(cells))
    return 0 if again else at


def _filled_left(row: Row) -> int:
    """Return the number of filled cells; the number of all cells if a blank one is left of a filled one."""
    cells = [bool(cell.strip()) for cell in row]
    filled = sum(cells)
    return filled if all(cells[:filled]) else len(cells)


# Rows below the names that describe the columns, as survey tools and codebooks write them

_MOST = 2
_FEWEST = 5  # fewest rows below a description for comparison
_TYPES = frozenset({"d", "discrete", "c", "continuous", "s", "string", "t", "time"})
_ROLES = frozenset({"", "class", "c", "meta", "m", "ignore", "i", "weight", "w"})
"""Roles that Orange writes below the names of columns."""
_COLUMNS = 3  # fewest columns, all of them clear, if fewer than two contain numbers


def without_descriptions(parsed: Parsed, name: str) -> Parsed:
    """Return the table without first rows whose cells are unlike all cells below them, with a note."""
    if parsed.recipe is not None:
        return parsed
    head = _head(parsed)
    typed = _has_types([*head.values()])
    for before in range(_MOST):
        if not (typed or _describes([*head.values()], again=before > 0)):
            break
        said = {column: cells[0] for column, cells in head.items()}
        column, cell = next((column, cell) for column, cell in said.items() if _filled(cell))
        row = int(parsed.numbers[0])
        note = know(FileProblem.ROW_OF_DESCRIPTIONS(file=name, row=row, column=column, cell=cell))
        rest = parsed.kept(np.arange(1, len(parsed), dtype=np.int64))
        parsed = replace(rest, problems=(*parsed.problems, note))
        head = _head(parsed)
    return parsed


def _has_types(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether two rows are the columns' types and roles, as of Orange: no type recurs below."""

    def of_type(cells: Sequence[str]) -> bool:
        """Return whether the first cell is a type, or lists all values below, as of a discrete column."""
        values = [value.replace("\\ ", " ") for value in re.split(r"(?<!\\) ", cells[0].strip())]
        said = {text.strip() for text in cells[2:] if _filled(text)}
        return cells[0].strip().casefold() in _TYPES or (len(values) > 1 and said <= set(values))

    return (
        all(len(cells) > _FEWEST for cells in columns)
        and all(map(of_type, columns))
        and all(cells[1].strip().casefold() in _ROLES for cells in columns)
        and any(cells[1].strip() for cells in columns)
        and not any(cells[0] in cells[2:] for cells in columns)
    )


def description(parsed: Parsed) -> dict[str, str] | None:
    """Return the first row's description of each column; None if the row is data."""
    head = _head(parsed)
    return {column: cells[0] for column, cells in head.items()} if _describes([*head.values()]) else None


def _head(parsed: Parsed) -> dict[str, list[str]]:
    rows = max(min(LOOKED_AT, _CELLS // max(len(parsed.columns), 1)), 2 * _FEWEST)
    head: dict[str, list[str]] = parsed.data.slice(0, rows).to_pydict()
    return head


def _describes(columns: Sequence[Sequence[str]], *, again: bool = False) -> bool:
    """Return whether the first cells are texts that describe the others; `again`: below another such row."""
    filled = [cells for cells in columns if len(cells) > _FEWEST and _filled(cells[0])]
    said = [cells[0].strip() for cells in filled]
    told = len(set(said)) >= _MOSTLY * len(said) or (again and len(filled) == len(columns))
    if any(map(is_number, said)) or not told:
        return False
    kinds = [_unlike(cell, cells[1:]) for cell, cells in zip(said, filled, strict=True)]
    if kinds.count("like"):
        return False
    of_all = len(said) >= _COLUMNS and not kinds.count("open")
    return of_all or (kinds.count("number") > 1 and 2 * kinds.count("open") <= len(said))


def _unlike(cell: str, below: Sequence[str]) -> Literal["number", "words", "open", "like"]:
    """Return how a cell differs from numbers or recurring words below it; "open" if these are neither."""
    filled = [text.strip() for text in below if _filled(text)]
    if cell in filled:
        return "like"
    if filled and sum(map(is_number, filled)) >= _MOSTLY * len(filled):
        return "number"
    return "words" if 2 * len(set(filled)) <= len(filled) else "open"


def _filled(cell: str) -> bool:
    return cell.strip().casefold() not in LIKE_MISSING | {""}
