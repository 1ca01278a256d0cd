"""Tables with several columns per rater: ``P01_rude, P01_odd, P02_rude...``, ``annotator1, label1...``."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.errors import DataError, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.files.headers import BETWEEN
from grasp_core.reading.formats.shapes.rows import read_as_long
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column, check_cells, compact
from grasp_core.reading.table.parsed import ITEMS, RATERS, form, may_be_people, repeated, stem
from grasp_core.reading.table.table import Parsed


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Return a table with a row per annotation, and its reading; None for other tables."""
    if parsed.recipe is not None or not len(parsed):
        return None
    groups = next((groups for groups in _groups_of(parsed.columns) if _are_ids(parsed, groups)), None)
    if groups is not None:
        return _beside(parsed, groups, name)
    pairs = _pairs_of(parsed.columns)
    return _with_ticked(parsed, name) if pairs is None else _paired(parsed, pairs, name)


# Options of one question, a column each


_LOOKED_AT = 1_000  # number of first rows that show which columns may be ticked
_FEWEST_OPTIONS, _FEWEST_ROWS = 3, 10
"""Fewest columns, and rows, for ticked options; with fewer, a row may tick exactly one by chance."""


def _with_ticked(parsed: Parsed, name: str) -> Parsed | None:
    """Add a label to a row per annotation that ticks exactly one of its columns, if no column is named so."""
    n, marks = len(parsed), names.YES | names.NO
    if n < _FEWEST_ROWS or not any(names.id_score(one, RATERS) for one in parsed.columns):
        return None
    some = parsed.data.slice(0, _LOOKED_AT)
    able = [one for one in parsed.columns if _said(Column.of(some.column(one))) <= marks]
    if len(able) < _FEWEST_OPTIONS or any(
        names.label_score(one) > 1 for one in parsed.columns if one not in able
    ):
        return None
    cells = {one: parsed.column(one) for one in able}
    ticked = [one for one in able if _said(cells[one]) <= marks and _said(cells[one]) & names.YES]
    yes = np.array(
        [
            cells[one].among([text for text in cells[one].values if text.strip().casefold() in names.YES])
            for one in ticked
        ]
    )
    if len(ticked) < _FEWEST_OPTIONS or (yes.sum(axis=0) != 1).any():
        return None
    keys = [one for one in parsed.columns if one not in ticked and names.id_score(one, RATERS | ITEMS)]
    chosen = yes.argmax(axis=0)
    for codes in (parsed.column(one).codes for one in keys):
        distinct = len(np.unique(codes))
        if distinct < n and len(np.unique(codes * len(ticked) + chosen)) == distinct:
            return None  # the ticks describe raters, or items
    label = names.unused("label", parsed.columns)
    data = parsed.data.append_column(label, pa.array([ticked[one] for one in chosen.tolist()], pa.string()))
    note = know(FileProblem.ONE_IS_TICKED(file=name, columns=tuple(ticked), column=label))
    return replace(parsed, data=compact(data), problems=(*parsed.problems, note))


def _said(column: Column) -> set[str]:
    """Return distinct texts in the form in which marks are compared, without empty ones."""
    return {text.strip().casefold() for text in column.values} - {""}


# Raters beside their labels


def _are_ids(parsed: Parsed, groups: _Groups) -> bool:
    """Return whether columns are ids: unlike labels, hardly any is twice in a row, and some recur."""
    columns = [_texts(parsed, rater) for rater, _ in groups.columns]
    stacked = Column.of(pa.chunked_array(columns))
    filled = ~stacked.among([""])
    n = len(parsed)

    def distinct(places: np.ndarray) -> int:
        return int(np.unique((places.astype(np.int64) * len(stacked.values) + stacked.codes)[filled]).size)

    others = set(parsed.columns) - groups.used
    told = (one for one in others if names.id_score(one, names.RATES if groups.named else names.RATER))
    if any(len(parsed.distinct(one)) < n for one in told):
        return False  # another column names the rows' raters, who recur
    shared = distinct(np.repeat(np.arange(len(columns)), n)) > len({*stacked.values} - {""})
    once = distinct(np.tile(np.arange(n), len(columns)))
    least = _ONCE_NAMED if groups.named else _ONCE
    return once >= least * int(filled.sum()) and (shared or (groups.numbered and groups.named))


def _beside(parsed: Parsed, groups: _Groups, name: str) -> Parsed:
    fields = list(dict.fromkeys(field for _, own in groups.columns for field in own))
    for rater, own in groups.columns:
        for column in own.values():
            alone = pc.and_(pc.equal(_texts(parsed, rater), ""), pc.not_equal(_texts(parsed, column), ""))
            if (position := pc.index(alone, True).as_py()) >= 0:
                raise DataError(
                    f"{name}, row {parsed.numbers[position]}: {quoted(column)} is filled and "
                    f"{quoted(rater)} is empty; name the rater, or clear the cell"
                )
    raters = [rater for rater, _ in groups.columns]
    used = groups.used
    rest = [column for column in parsed.columns if column not in used]
    of_items = names.id_score(groups.name, ITEMS)
    unit = names.unused(groups.name if groups.named or of_items else "id", [*rest, *fields])
    key = None if groups.named or not of_items else _key(parsed, rest)
    ids: tuple[str, str | None] = (unit, None)
    if key is not None and names.id_score(key, names.RATER):
        ids = (key, unit)  # a row per rater: ids in the groups are of items
    parts = [
        {unit: _texts(parsed, rater)}
        | {field: _texts(parsed, own[field]) if field in own else None for field in fields}
        for rater, own in groups.columns
    ]
    of = "raters" if groups.named else "items" if ids[1] else "ids"
    said = f"{listed(raters, 3)} name the {of} of the labels beside them; each annotation was given a row"
    made = _long(parsed, parts, rest, ids, said, name)
    recipe = made.recipe and (made.recipe if groups.named or ids[1] else replace(made.recipe, spec=None))
    return replace(made, recipe=recipe)  # else the user is asked for the ids' role


# Columns named after units and questions


def _paired(parsed: Parsed, pairs: _Pairs, name: str) -> Parsed | None:
    own = {column for columns in pairs.columns.values() for column in columns.values()}
    if 2 * sum(names.mentions(column, names.COUNTED) for column in own) > len(own):
        return None  # counts of votes per label are no rater's answers
    # A column named by a question alone was made from the raters' answers.
    rest = [column for column in parsed.columns if column not in own and column not in pairs.questions]
    if any(unit in rest for unit in pairs.columns):
        return None  # a column P01 beside P01_time has the label, or an id
    key = _key(parsed, rest)
    of_item, of_rater = (names.id_score(key or "", words) for words in (names.ITEM, names.RATER))
    units = pairs.units if of_item == of_rater else "rater" if of_item > of_rater else "item"
    if units is None or pairs.units not in (None, units) or (key is None and units != "rater"):
        return None
    if units == "rater" and not pairs.units and not may_be_people(pairs.columns):
        return None  # rounds, or several emotions of one text
    unit = names.unused(units, [*rest, *pairs.questions])
    parts = [
        {unit: pa.array([one] * len(parsed), pa.string())}
        | {
            question: _texts(parsed, columns[question]) if question in columns else None
            for question in pairs.questions
        }
        for one, columns in pairs.columns.items()
    ]
    said = (
        f"the columns of each {units} ({listed(list(pairs.columns), 3)}) were taken apart into the "
        f"{number(len(pairs.questions), 'question')} {listed(pairs.questions, 5)}, a row per annotation"
    )
    ids = (unit, key) if units == "rater" else (str(key), unit)
    return _long(parsed, parts, rest, ids, said, name)


def _key(parsed: Parsed, rest: Sequence[str], *, of_any: bool = False) -> str | None:
    """Return the column of the rows' ids by its name; `of_any`: also if it does not name the kind of ids."""
    scores = {column: names.key_score(column, names.ITEM, names.RATER) for column in rest}
    told = [column for column in rest if scores[column] or (of_any and names.is_id(column))]
    able = [column for column in told if len(parsed.distinct(column)) == len(parsed)]
    return max(able, key=lambda column: scores[column], default=None)


# A row per annotation


def _long(
    parsed: Parsed,
    parts: Sequence[Mapping[str, pa.Array | None]],
    rest: Sequence[str],
    ids: tuple[str, str | None],
    said: str,
    name: str,
) -> Parsed:
    """Stack the parts, row by row of the file, without empty ones."""
    n = len(parsed)
    rater, item = ids
    asked = [column for column in parts[0] if column not in ids]
    check_cells(n * len(parts) * (len(rest) + len(parts[0])), name)
    blank = pa.array([""] * n, pa.string())
    stacked = {
        column: pa.concat_arrays([blank if (cells := part[column]) is None else cells for part in parts])
        for column in parts[0]
    }
    filled = np.any([np.asarray(pc.not_equal(stacked[column], "")) for column in asked], axis=0)
    in_order = np.arange(n * len(parts)).reshape(-1, n).T.ravel()  # parts of one row together
    kept = in_order[filled[in_order]]
    if not kept.size:
        raise DataError(f"{name}: {listed(asked, 5)} hold no answer; fill them in, or leave them out")
    made = parsed.kept(kept % n)
    columns = {column: made.data.column(column) for column in rest}
    done = [said]
    item = item or _key(parsed, rest, of_any=True)
    if item is None:
        item = names.unused("item", [*rest, *parts[0]])
        columns[item] = pa.array([f"row {line}" for line in made.numbers.tolist()], pa.string())
        done.append(f"no column tells the items apart, so {quoted(item)} holds the row numbers")
    columns |= {column: values.take(pa.array(kept)) for column, values in stacked.items()}
    kind = f"{parsed.kind}, several columns per {'rater' if item in rest else 'item'}"
    return read_as_long(made, compact(pa.table(columns)), kind, (item, rater), asked, done, rest)


def _texts(parsed: Parsed, column: str) -> pa.Array:
    whole = parsed.data.column(column).cast(pa.string()).combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


# Names of columns with two parts: a rater's (item's) name and a question's, or a name with a rater's number

_Units = Literal["rater", "item"]
_Rank = tuple[int, int, bool]
_SEPARATORS = (BETWEEN, "__", " - ", ": ", "_", ".", "-", " ", ":")
_PUNCTUATION = " :/-._"
_TUPLE = re.compile(r"\('([^']*)', '([^']*)'\)")
"""Form in which pandas writes names of two levels into Parquet."""
_LONG_NUMBER = 5
_ONCE, _ONCE_NAMED = 0.95, 0.85
"""Least share of ids that occur once in their row; the second is for columns named like raters."""
_NO_ANSWERS = names.META | names.DEMOGRAPHIC | names.SECONDARY | names.RECORDS | names.PEOPLE | names.RATER
_LETTER = re.compile(r"[ _.-]([a-z])$", re.I)
_NUMBERED = re.compile(r"([^0-9]*)([0-9]{1,4})([^0-9]*)")


class _Pairs(NamedTuple):
    """Columns that each belong to one unit and one question; `units` is the kind of units by their names."""

    columns: Mapping[str, Mapping[str, str]]
    questions: tuple[str, ...]
    units: _Units | None

    @property
    def size(self) -> tuple[bool, int]:
        """Rank: whether the kind of units is known, and the number of columns."""
        return self.units is not None, sum(len(by) for by in self.columns.values())


class _Groups(NamedTuple):
    """Columns of ids, each with the columns beside it by name without the number or word, as in `name`."""

    name: str
    columns: Sequence[tuple[str, Mapping[str, str]]]
    numbered: bool  # whether numbers distinguish the groups
    named: bool  # whether the name says that the ids are raters'

    @property
    def used(self) -> set[str]:
        """All of the columns."""
        return {one for rater, own in self.columns for one in (rater, *own.values())}


def _ways(columns: Sequence[str]) -> Iterator[list[tuple[str, str, str]]]:
    """Yield columns with both parts of their names, for each way to split."""
    for separator, last in itertools.product(("()", *_SEPARATORS), (True, False)):
        split = ((column, _split(column, separator, last)) for column in columns)
        yield [(column, *parts) for column, parts in split if parts is not None]


def _pairs_of(columns: Sequence[str]) -> _Pairs | None:
    """Return columns named after units and questions; None if names do not show which part is which."""
    found: list[_Pairs] = []
    again = repeated(columns)  # GRASP numbered these names, and the first has no number
    for split in _ways([column for column in columns if column not in again]):
        swapped = [(column, two, one) for column, one, two in split]
        ways = [
            pairs for way in (split, swapped) if (pairs := _pairs(way)) and not _of_people(pairs, columns)
        ]
        sizes = [pairs.size for pairs in ways]
        if len(sizes) == 1 or len(set(sizes)) == 2:  # else either part may be the units
            found.append(ways[sizes.index(max(sizes))])
    return max(found, key=lambda pairs: (*pairs.size, -len(next(iter(pairs.columns)))), default=None)


def _of_people(pairs: _Pairs, columns: Sequence[str]) -> bool:
    """Return whether units by number alone may be several people, called by a letter and the number.

    In ``hate_T1, hate_C1, rude_T1`` a letter is part of a person's name; a column ``hate_T``, made of such
    columns, would say that it is part of the question's.
    """
    lettered = all(map(_LETTER.search, pairs.questions)) and all(map(str.isdigit, pairs.columns))
    stems = {question[:-1] for question in pairs.questions}
    return lettered and len(stems) > 1 and not {*pairs.questions} & {*columns}


def product(columns: Sequence[str]) -> list[list[str]]:
    """Return the columns with each end and each beginning if many names combine these; else nothing."""
    for split in _ways(columns):
        by_end, by_start = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for column, start, end in split:
            by_end[end].append(column)
            by_start[start].append(column)
        whole = len({(one, two) for _, one, two in split}) == len(by_end) * len(by_start)
        if len(by_end) > 1 and len(by_start) > 1 and whole and 2 * len(split) >= len(columns):
            return [*by_end.values(), *by_start.values()]
    return []


def _groups_of(columns: Sequence[str]) -> Iterator[_Groups]:
    """Yield columns of ids with the label columns of the same number, or else of the same word."""
    again, known = repeated(columns), set(columns)
    numbered = [(column, f"{at:04}", own) for column, (own, at) in again.items()]
    once = (column for column in columns if column not in again)
    matched = [(column, found) for column in once if (found := _NUMBERED.fullmatch(column.strip()))]
    letters = {letter[1] for _, found in matched if (letter := _LETTER.search(found[1]))}
    for column, found in matched:
        before = found[1] if len(letters) > 1 else _LETTER.sub("", found[1])  # as in G1, G2
        own = f"{before.rstrip(' _.-')}_{found[3].strip(' _.-')}".strip("_")
        numbered.append((column, f"{int(found[2]):04}", own))
    worded = (way for split in _ways(columns) for way in (split, [(one, b, a) for one, a, b in split]))
    for place, split in enumerate((numbered, *worded)):
        fields: dict[str, dict[str, str]] = {}
        for column, unit, own in split:
            fields.setdefault(own, {})[unit] = column
        if place and "label" not in fields:  # a label may be named by the word alone
            fields["label"] = {unit: unit for by in fields.values() for unit in by if unit in known}
        labels = [own for own, by in fields.items() if len(by) > 1 and names.label_score(own)]

        def rank(own: str, starts: Collection[str] = {one.rpartition("_")[0] for one in labels}) -> _Rank:
            of_items = names.key_score(own, names.ITEM) or names.is_id(own)
            return names.id_score(own, RATERS), of_items, own in starts

        rater = max((own for own in fields if len(fields[own]) > 1), key=rank, default=None)
        if rater is None or not any(rank(rater)):
            continue
        others = {
            own: {at: by[at] for at in by if at in fields[rater]}
            for own, by in fields.items()
            if own != rater and all(at in fields[rater] or names.mentions(at, names.DECIDED) for at in by)
        }
        named = bool(rank(rater)[0])
        if named and not place:  # answers beside raters may have any name, if each rater has them
            answers = [own for own, by in others.items() if len(by) == len(fields[rater])]
            labels = labels or [own for own in answers if not names.mentions(own, _NO_ANSWERS)]
        if not any(own in others for own in labels):
            continue
        units = {at for own in labels for at in fields[own]}
        ids = [(at, one) for at, one in sorted(fields[rater].items()) if at in units]
        plain = "" if named else f"{rater.split('_')[0]}_"  # as slot_ in slot_rating
        beside = (
            {own.removeprefix(plain): by[at] for own, by in others.items() if at in by} for at, _ in ids
        )
        yield _Groups(rater, list(zip((one for _, one in ids), beside, strict=True)), not place, named)


def _pairs(split: Sequence[tuple[str, str, str]]) -> _Pairs | None:
    """Return columns whose first part is a unit, and the second a question, or None."""
    found: dict[str, dict[str, str]] = {}
    for column, unit, question in split:
        found.setdefault(unit, {})[question] = column
    kinds: dict[str, list[str]] = {}
    for unit in found:
        if (kind := _kind(unit)) is not None:
            kinds.setdefault(kind, []).append(unit)
    run = max(kinds.values(), key=len, default=[])
    chosen = _by_number(found, list(kinds.values()))
    if not chosen and sum(len(other) == len(run) for other in kinds.values()) > 1:
        return None  # such as `1.answer`, `1.payoff`, `2.answer`: one run is as good as another
    chosen = chosen or {unit: found[unit] for unit in run}
    run = list(chosen)
    asked = Counter(question for by in chosen.values() for question in by)
    questions = tuple(asked)
    if len(run) < 2 or min(asked.values()) < 2 or 2 * asked.total() <= len(run) * len(questions):
        return None
    if all(map(str.isdigit, questions)) or (len(questions) == 1 and not names.label_score(questions[0])):
        return None  # the numbers are of items
    if any(names.key_score(question, names.RATER) for question in questions):
        return None  # units are places, with other raters in each
    # If the questions are a run of like names, they may be the units.
    kinds_of_questions = {_kind(question) for question in questions}
    plain = stem(questions[0]) in names.LABEL | {"q"}
    if len(questions) > 1 and len(kinds_of_questions) == 1 and None not in kinds_of_questions and not plain:
        return None
    first = stem(run[0])
    units: _Units | None = "rater" if first in RATERS else "item" if first in ITEMS else None
    return _Pairs(chosen, questions, units)


def _by_number(
    found: Mapping[str, Mapping[str, str]], runs: Sequence[Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Group columns by the number alone if each letter has the same numbers: ``code-s1``, ``code-n2``."""
    by: dict[str, dict[str, str]] = {}
    for unit in (unit for run in runs for unit in run):
        told = _NUMBERED.fullmatch(unit)
        if told is None or told[3] or len(told[1]) != 1:
            return {}
        for question, column in found[unit].items():
            own = column.removesuffix(told[2]) if column.endswith(unit) else f"{question}_{told[1]}"
            by.setdefault(told[2], {})[own] = column
    same = len({frozenset(questions) for questions in by.values()}) == 1
    return by if len(runs) > 1 and same else {}


def _kind(unit: str) -> str | None:
    """Return the form of a unit's name, or None; a number alone is only a position, unless it is long."""
    if (unit.isdigit() and len(unit) < _LONG_NUMBER) or stem(unit) in names.LABEL | names.DEMOGRAPHIC:
        return None
    return form(unit)


def _split(column: str, separator: str, last: bool) -> tuple[str, str] | None:
    if separator == "()":
        two = _TUPLE.fullmatch(column)
        return (two[1], two[2]) if two is not None else None
    one, found, other = column.rpartition(separator) if last else column.partition(separator)
    one, other = one.strip(_PUNCTUATION), other.strip(_PUNCTUATION)
    return (one, other) if found and one and other else None
