"""Sheets of a workbook, or files of an archive, combined into one table."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TypeVar

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import DataError, Problem, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import first_few, number, quoted
from grasp_core.reading.archives import members
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column, check_cells, compact
from grasp_core.reading.table.parsed import PLUS, parts_of
from grasp_core.reading.table.table import Parsed

_COUNTING = re.compile(r"Unnamed: \d+|column \d+")
"""Names for columns without a name, as an index that was written beside the data."""
_PAIRED = 8  # most columns of which two are tried together as the item, columns named like items first
_ONLY_RATERS = names.RATES | names.CROWD  # words for people who rate; users and subjects may be rated
_UNIQUE = 0.95  # least number of distinct items, as a share of the rows, if each member is one annotator's
_AGREE = 0.5  # least share of the items in several members whose texts are the same
_LONG = 25  # mean length of values above which a column may be texts
_MEASURED = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Rows of several members below each other; `member`, (n,), is the position of each row's member."""

    data: pa.Table
    member: Int64Array

    @classmethod
    def of(cls, tables: Sequence[Parsed], owners: Sequence[int], name: str) -> Stack:
        """Stack columns that all tables have, in the first's order; tables of one owner are one member."""
        columns = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
        check_cells(sum(len(table) for table in tables) * len(columns), name)
        texts = [as_texts(table, columns) for table in tables]
        member = np.repeat(np.array(owners, dtype=np.int64), [len(table) for table in tables])
        return cls(pa.concat_tables(texts).combine_chunks(), member)

    def repeated_item(self) -> str | None:
        """Return the column of items, or two joined: values differ within a member, and recur in others."""
        ranked = sorted(self._named(), key=lambda name: -names.id_score(name, names.ITEM))
        asked = [name for name in ranked if names.label_score(name) > 1 or names.id_score(name, names.RATER)]
        able = [name for name in ranked if name not in asked][:_PAIRED]
        pairs = (PLUS.join(two) for two in combinations(able, 2) if names.id_score(two[0], names.ITEM))
        return next((name for name in chain(ranked, pairs) if self._recurs(name)), None)

    def recurring(self) -> list[str]:
        """Return columns whose values differ within a member, and recur in other members."""
        return [name for name in self._named() if self._recurs(name)]

    def _named(self) -> list[str]:
        """Return the columns that are not named like row numbers."""
        return [name for name in self.data.column_names if names.words(name)[:1] not in _INDEX]

    def row_numbers(self, item: str) -> list[str]:
        """Return columns of row numbers that begin anew in each member, and so mean other items in each."""
        return [
            name
            for name in self.data.column_names
            if name != item and self._is_numbered(name) and not self._depends_on(item, name)
        ]

    def _is_numbered(self, name: str) -> bool:
        """Return whether every member counts its rows up from 0, or from 1; ranks come in other orders."""
        cells = self.data.column(name).to_pylist()
        rows = np.bincount(self.member)
        before = np.empty(len(cells), dtype=np.int64)
        before[np.argsort(self.member, kind="stable")] = np.arange(len(cells)) - np.repeat(
            np.cumsum(rows) - rows, rows
        )
        return any(cells == [str(at) for at in (before + start).tolist()] for start in (0, 1))

    def rater(self, item: str) -> str | None:
        """Return a column named like raters' ids that does not describe items, as their authors do."""
        found = [name for name in self.data.column_names if names.id_score(name, names.RATER)]
        found.sort(key=lambda name: self._depends_on(name, item))
        return next(
            (n for n in found if names.id_score(n, _ONLY_RATERS) or not self._depends_on(n, item)), None
        )

    def same(self, one: str, other: str) -> bool:
        """Return whether each column tells the other's values."""
        return self._depends_on(one, other) and self._depends_on(other, one)

    def differing(self, item: str) -> list[str]:
        """Return columns that differ between the rows of one item, as annotators' labels do."""
        return [name for name in self.data.column_names if name != item and not self._depends_on(name, item)]

    def named_ids(self) -> tuple[str | None, str | None]:
        """Return the columns named like items' and raters' ids."""
        found = []
        for kinds in (names.ITEM, names.RATER):
            best = max(self.data.column_names, key=lambda name: names.id_score(name, kinds))
            found.append(best if names.id_score(best, kinds) else None)
        return found[0], found[1]

    def are_parts(self, item: str, rater: str) -> bool:
        """Return whether no annotation is in two members, and no id means different items in them."""
        if not {item, rater} <= set(self.data.column_names):
            return False
        items, raters = self._codes(item)[0], self._codes(rater)[0]
        annotations = np.unique(_paired(items, raters), return_inverse=True)[1]
        if len(_ids_in_several(annotations, self.member)) or not self._same_texts(item):
            return False
        lone = len(_distinct_pairs(self.member, raters)[0]) == int(self.member.max()) + 1
        return not lone or len(_ids_in_several(items, self.member)) > 0

    def _recurs(self, name: str) -> bool:
        codes, values = self._codes(name)
        filled = codes != values.get("", -1)
        owners, found = _distinct_pairs(self.member[filled], codes[filled])
        if len(found) < _UNIQUE * len(codes):
            return False
        often = np.bincount(found, minlength=len(values)) > 1
        sharing = np.unique(owners[often[found]])
        return 2 * len(sharing) > int(self.member.max()) + 1 and self._same_texts(name)

    def _same_texts(self, item: str) -> bool:
        """Return whether items in several members have the same texts in all, if there are texts."""
        items = self._codes(item)[0]
        rows = np.isin(items, _ids_in_several(items, self.member))
        shares = []
        for name in self.data.column_names:
            codes, distinct = self._codes(name)
            values = list(distinct)[:_MEASURED]
            if name != item and sum(map(len, values)) > _LONG * len(values) and rows.any():
                found, _ = _distinct_pairs(items[rows], codes[rows])
                shares.append((np.unique(found, return_counts=True)[1] == 1).mean())
        return not shares or max(shares) >= _AGREE

    def _depends_on(self, name: str, key: str) -> bool:
        keys, codes = self._codes(key)[0], self._codes(name)[0]
        return len(_distinct_pairs(keys, codes)[0]) == len(np.unique(keys))

    def _codes(self, name: str) -> tuple[Int64Array, dict[str, int]]:
        if parts := parts_of(name, self.data.column_names):
            one, other = (self._codes(part)[0] for part in parts)
            pairs, codes = np.unique(_paired(one, other), return_inverse=True)
            return codes, {str(pair): code for code, pair in enumerate(pairs.tolist())}
        column = Column.of(self.data.column(name))
        return column.codes.astype(np.int64), {value: code for code, value in enumerate(column.values)}


_INDEX = tuple((word,) for word in names.INDEX - {"no", "nr"})


def as_texts(table: Parsed, columns: Sequence[str]) -> pa.Table:
    """Return columns of a table as plain texts, also if they are stored as codes."""
    return table.data.select(list(columns)).cast(pa.schema([(name, pa.string()) for name in columns]))


def _paired(first: Int64Array, second: Int64Array) -> Int64Array:
    """Return one number for each pair."""
    paired: Int64Array = first * (int(second.max(initial=0)) + 1) + second
    return paired


def _distinct_pairs(first: Int64Array, second: Int64Array) -> tuple[Int64Array, Int64Array]:
    width = int(second.max(initial=0)) + 1
    found = np.unique(_paired(first, second))
    return found // width, found % width


def _ids_in_several(codes: Int64Array, member: Int64Array) -> Int64Array:
    """Return codes that occur in more than one member."""
    ids, counts = np.unique(_distinct_pairs(codes, member)[0], return_counts=True)
    found: Int64Array = ids[counts > 1]
    return found


_SHOWN = 12
_NOTES = 3  # most notes of single members that are passed on


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A sheet, or a file of an archive: its name and its table."""

    name: str
    parsed: Parsed

    @property
    def rows(self) -> int:
        """Number of rows of its table."""
        return len(self.parsed)

    @property
    def shown(self) -> str:
        """Its name and rows, for messages."""
        return f"{quoted(self.name)} ({number(self.rows, 'row')})"


def together(tables: Sequence[Member], others: Sequence[str], name: str, what: str) -> Parsed:
    """Combine a workbook's sheets or an archive's files that fit, else read the first; problems say which."""
    alike = _alike(tables)
    copies = _copies(alike)
    alike = [member for member in alike if member.name not in copies]
    kinds = (_of_items, _of_annotators, _of_parts) if len(alike) > 1 else ()
    found = next((made for kind in kinds if (made := kind(alike, name, what)) is not None), None)
    if found is None:
        return _first(tables, others, name, what)
    used, parsed = found
    return _with_notes(parsed, [], _left_out(tables, others, used, copies, name))


def _alike(tables: Sequence[Member]) -> list[Member]:
    """Return the most members with the same columns, in any order; they may have more, but not of raters."""
    groups = by_columns(tables, lambda member: member.parsed.columns)
    columns, largest = max(groups.items(), key=lambda group: len(group[1]))
    if len(largest) < 2:
        return largest
    # Who wrote no notes may have no column for them.
    fewer = [own for own in groups if own < columns and all(map(_of_notes, columns - own))]
    columns = min(fewer, key=len, default=columns)
    return [
        member
        for member in tables
        if columns <= (own := set(member.parsed.columns))
        and not any(names.id_score(column, names.RATER) for column in own - columns)
    ]


def _of_notes(name: str) -> bool:
    return names.mentions(name, names.META)


T = TypeVar("T")


def by_columns(
    tables: Iterable[T], columns_of: Callable[[T], Sequence[str]]
) -> dict[frozenset[str], list[T]]:
    """Group tables by their columns, except columns that pandas writes to count the rows."""
    groups: dict[frozenset[str], list[T]] = {}
    for table in tables:
        columns = columns_of(table)
        named = frozenset(name for name in columns if not _COUNTING.fullmatch(name))
        groups.setdefault(named or frozenset(columns), []).append(table)
    return groups


def _copies(alike: Sequence[Member]) -> dict[str, str]:
    """Map names of members that equal another member, and are named like its version, to its name."""
    found = members.versions([members.without_endings(member.name) for member in alike])
    return {
        alike[at].name: alike[first].name
        for at, first in found.items()
        if set(columns := alike[at].parsed.columns) == set(alike[first].parsed.columns)
        and as_texts(alike[at].parsed, columns).equals(as_texts(alike[first].parsed, columns))
    }


def _first(tables: Sequence[Member], others: Sequence[str], name: str, what: str) -> Parsed:
    first, *more = tables
    for one in more if _like_raters(first.parsed, more) is None else ():
        others_of = [other for other in tables if other is not one]
        if _like_raters(one.parsed, others_of) is not None:  # lists of raters or items are before the labels
            first, more = one, others_of
            break
    several = bool(more or others)
    parsed = dataclasses.replace(first.parsed, member=first.name if several else None)
    if not more:
        return parsed
    shown = first_few([one.shown for one in more], _SHOWN)
    remark = FileProblem.ONE_MEMBER_READ(
        file=name, what=what, member=first.shown, others=len(more), shown=shown
    )
    notes = [know(remark, len(more))]
    if (raters := _like_raters(first.parsed, more)) is not None:
        member, column = raters
        like = FileProblem.MEMBER_LIKE_RATERS(file=name, what=what, member=member.name, column=column)
        notes.append(know(like, member.rows))
    return _with_notes(parsed, notes)


def _like_raters(first: Parsed, others: Sequence[Member]) -> tuple[Member, str] | None:
    """Return a member with a row for each id in a column named like raters, and that column; else None."""
    for column in (one for one in first.columns if names.id_score(one, names.RATER)):
        ids = set(as_texts(first, [column]).column(0).unique().to_pylist())
        for member in others if 1 < len(ids) < len(first) else ():
            texts = as_texts(member.parsed, member.parsed.columns)
            if any(ids <= _single(texts.column(name)) for name in member.parsed.columns):
                return member, column
    return None


def _single(cells: pa.ChunkedArray) -> set[str]:
    """Return the texts of a column; none if one occurs twice."""
    found = cells.unique()
    return set(found.to_pylist()) if len(found) == len(cells) else set()


# A member per item


def _of_items(alike: Sequence[Member], name: str, what: str) -> tuple[list[Member], Parsed] | None:
    """Return members of one item each, named alike and not like raters, and their table; else None."""
    used = [member for member in alike if not members.is_aggregate(member.name)]
    paths = [member.name for member in used]
    ids = members.items(paths)
    if len(used) < 2 or ids is None or members.named_as_raters([*ids, *members.annotators(paths)]):
        return None
    columns = used[0].parsed.columns
    raters = [column for column in columns if names.id_score(column, _ONLY_RATERS)]
    if not raters or members.long_runs(columns):  # checked before the members are combined
        return None
    stack = Stack.of([member.parsed for member in used], range(len(used)), name)
    recurring = stack.recurring()
    rater = next((one for one in recurring if one in raters), "")
    same = bool(rater) and all(stack.same(rater, one) for one in recurring)
    item = stack.named_ids()[0]
    numbered = item is not None and _are_row_numbers([member.parsed for member in used], item)
    if not same or (item is not None and not numbered):
        return None
    stack = Stack(stack.data.drop_columns([item]), stack.member) if numbered else stack
    parsed = _stacked(used, stack, _free("item", stack), ids, what)
    remark = FileProblem.MEMBER_PER_ITEM(
        file=name, members=len(used), what=what, items=tuple(ids), rows=len(stack.data)
    )
    return used, _with_notes(
        parsed, [know(remark), *_narrowed(used, stack, [str(item)] if numbered else [], name, what)]
    )


# A member per annotator


def _of_annotators(alike: Sequence[Member], name: str, what: str) -> tuple[list[Member], Parsed] | None:
    """Return the members in `alike` of one annotator each, and their table; None if there are none."""
    ids = members.annotators([member.name for member in alike])
    chosen = [
        (member, rater) for member, rater in zip(alike, ids, strict=True) if members.may_be_annotator(rater)
    ]
    used, raters = [member for member, _ in chosen], list(dict.fromkeys(rater for _, rater in chosen))
    if len(raters) < 2:
        return None
    sure = members.named_alike(raters)
    runs = [] if sure else members.long_runs(used[0].parsed.columns)
    if any(members.named_as_raters(run[:1]) for run in runs):
        return None  # the columns are annotators
    owners = [raters.index(rater) for _, rater in chosen]
    stack = Stack.of([member.parsed for member in used], owners, name)
    item = stack.repeated_item()
    if item is None or stack.rater(item) is not None:
        return None
    differing = [] if sure else stack.differing(item)
    if not (sure or differing):
        return None
    if any(names.mentions(column, members.OF_ALL) for column in differing):
        return None  # such as their agreement, or votes
    again = members.versions([rater for _, rater in chosen])
    for at, first in again.items():  # would be taken for two annotators
        raise DataError(
            f"{name}: its {what} {quoted(used[at].name)} may be another version of "
            f"{quoted(used[first].name)}; keep the one that counts, or give each its annotator's name"
        )
    numbers = stack.row_numbers(item)
    column, stack = _free("rater", stack), Stack(stack.data.drop_columns(numbers), stack.member)
    parsed = _stacked(used, stack, column, raters, what)
    remark = FileProblem.MEMBER_PER_ANNOTATOR(
        file=name, members=len(used), what=what, raters=tuple(raters), rows=len(stack.data)
    )
    return used, _with_notes(parsed, [know(remark), *_narrowed(used, stack, numbers, name, what)])


def _narrowed(
    used: Sequence[Member], stack: Stack, numbers: Sequence[str], name: str, what: str
) -> list[Problem]:
    """Return notes on columns that were left out."""
    kept = {*stack.data.column_names, *numbers}
    more = list(dict.fromkeys(column for one in used for column in one.parsed.columns if column not in kept))
    notes = []
    if numbers:
        notes.append(know(FileProblem.ROW_NUMBERS_LEFT_OUT(file=name, columns=tuple(numbers), what=what)))
    if more:
        remark = FileProblem.COLUMNS_NOT_IN_ALL(file=name, what=what, columns=tuple(more))
        notes.append(know(remark, len(more)))
    return notes


# Parts of one data set


def _of_parts(alike: Sequence[Member], name: str, what: str) -> tuple[list[Member], Parsed] | None:
    """Return the members with raters inside, and their table, if no annotation is in two; else None."""
    columns = min((set(member.parsed.columns) for member in alike), key=len)
    same = [member for member in alike if set(member.parsed.columns) == columns]
    chosen = [member for member in same if not members.is_aggregate(member.name)]
    if len(chosen) < 2:
        return None
    tables = [member.parsed for member in chosen]
    recipes = {(table.recipe.name, table.recipe.spec) if table.recipe else None for table in tables}
    if len(recipes) > 1:
        return None
    stack = Stack.of(tables, range(len(tables)), name)
    spec = tables[0].recipe.spec if tables[0].recipe is not None else None
    item, rater = (spec.item, spec.rater) if spec is not None else stack.named_ids()
    if item is None or rater is None or _are_row_numbers(tables, item) or not stack.are_parts(item, rater):
        return None
    column = _free(what, stack)
    parsed = _stacked(chosen, stack, column, [member.name for member in chosen], what)
    remark = FileProblem.MEMBERS_TOGETHER(
        file=name, members=len(chosen), what=what, rows=len(stack.data), column=column
    )
    return chosen, _with_notes(dataclasses.replace(parsed, recipe=tables[0].recipe), [know(remark)])


def _are_row_numbers(tables: Sequence[Parsed], item: str) -> bool:
    """Return whether items are only row numbers, which begin anew in each member."""
    return all(
        table.data.column(item).to_pylist() == [str(line) for line in table.numbers.tolist()]
        for table in tables
        if item in table.columns
    )


# Shared by all cases


def _free(wanted: str, stack: Stack) -> str:
    """Return a name that no column has."""
    while wanted in stack.data.column_names:
        wanted += " (name)"
    return wanted


def _stacked(used: Sequence[Member], stack: Stack, column: str, values: Sequence[str], what: str) -> Parsed:
    """Return the members below each other, with a first column that names each row's member."""
    tables = [member.parsed for member in used]
    codes = pa.DictionaryArray.from_arrays(pa.array(stack.member, pa.int32()), pa.array(values, pa.string()))
    data = compact(stack.data.add_column(0, column, codes))
    notes = list(dict.fromkeys(note for table in tables for note in table.problems))
    problems = notes[:_NOTES]
    if len(notes) > _NOTES:
        more = len(notes) - _NOTES
        problems.append(know(FileProblem.MORE_NOTES(more=more, what=what), more))
    return Parsed(
        data,
        f"{tables[0].kind}, {number(len(tables), what)}",
        first_row=tables[0].first_row,
        lines=np.concatenate([table.numbers for table in tables]),
        problems=tuple(problems),
    )


def _left_out(
    tables: Sequence[Member],
    others: Sequence[str],
    used: Sequence[Member],
    copies: Mapping[str, str],
    name: str,
) -> list[Problem]:
    """Return the note on members that were not read."""
    kept = {member.name for member in used}
    columns = set(used[0].parsed.columns)
    shown = []
    for member in tables:
        if member.name not in kept:
            why = "not named like the others" if set(member.parsed.columns) == columns else "other columns"
            why = f"the same as {quoted(copies[member.name])}" if member.name in copies else why
            shown.append(f"{quoted(member.name)} ({number(member.rows, 'row')}, {why})")
    shown += [f"{quoted(other)} (no table with rows)" for other in others]
    remark = FileProblem.MEMBERS_LEFT_OUT(file=name, shown=first_few(shown, _SHOWN))
    return [know(remark, len(shown))] if shown else []


def _with_notes(parsed: Parsed, first: Sequence[Problem], last: Sequence[Problem] = ()) -> Parsed:
    return dataclasses.replace(parsed, problems=(*first, *parsed.problems, *last))
