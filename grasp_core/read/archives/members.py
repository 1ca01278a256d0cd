"""Several tables in one workbook or archive: one per annotator, parts of one data set, or unlike others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from grasp_core.model.errors import DataError, Problem, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.wording import number, quoted
from grasp_core.read.archives.member_names import (
    annotators,
    is_aggregate,
    items,
    make_matrix,
    may_be_annotator,
    named_alike,
    named_as_raters,
    names_annotators,
    tells_of_all,
    versions,
    without_endings,
)
from grasp_core.read.archives.stack import Stack, as_texts
from grasp_core.read.table import names
from grasp_core.read.table.parsed import Parsed, compact

_SHOWN = 12
_NOTES = 3
"""Notes of single members that are passed on."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A sheet, or a file of an archive: its name and its table."""

    name: str
    parsed: Parsed

    @property
    def rows(self) -> int:
        """Rows of its table."""
        return len(self.parsed.data)

    @property
    def shown(self) -> str:
        """Its name and rows, for messages."""
        return f"{quoted(self.name)} ({number(self.rows, 'row')})"


def together(tables: Sequence[Member], others: Sequence[str], name: str, what: str) -> Parsed:
    """The table that a workbook's sheets or an archive's files make.

    With the same columns in each and no rater among them, where the members' names can be annotators' and
    items recur from one to the other, each is an annotator's, and a column of raters is added. Where raters
    recur from one to the other and there are no items, each is an item's. Members that hold raters and never
    the same annotation are parts of one data set. Otherwise the first is read. What was
    done, and what was left out with how many rows, is among the problems.

    Parameters
    ----------
    tables : sequence of Member
        At least one.
    others : sequence of str
        Members that hold no table.
    name : str
        The file's.
    what : str
        "file" or "sheet".

    Raises
    ------
    DataError
        If together they have too many cells.
    """
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
    """The most members with the same columns, in any order, and those with more columns but raters'."""
    groups: dict[frozenset[str], list[Member]] = {}
    for member in tables:
        groups.setdefault(frozenset(member.parsed.columns), []).append(member)
    columns, largest = max(groups.items(), key=lambda group: len(group[1]))
    if len(largest) < 2:
        return largest
    return [
        member
        for member in tables
        if columns <= (own := set(member.parsed.columns))
        and not any(names.id_score(column, names.RATER) for column in own - columns)
    ]


def _copies(alike: Sequence[Member]) -> dict[str, str]:
    """Names of members that hold the same as another one whose version they are named, to that one's."""
    found = versions([without_endings(member.name) for member in alike])
    return {
        alike[at].name: alike[first].name
        for at, first in found.items()
        if _hold_the_same(alike[at].parsed, alike[first].parsed)
    }


def _hold_the_same(one: Parsed, other: Parsed) -> bool:
    if set(one.columns) != set(other.columns):
        return False
    same: bool = as_texts(one, one.columns).equals(as_texts(other, one.columns))
    return same


def _first(tables: Sequence[Member], others: Sequence[str], name: str, what: str) -> Parsed:
    first, *more = tables
    several = bool(more or others)
    parsed = dataclasses.replace(first.parsed, member=first.name if several else None)
    if not more:
        return parsed
    shown = _several([one.shown for one in more])
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
    """A member with a row for each id in a column named like raters, and that column; None without one."""
    for column in (one for one in first.columns if names.id_score(one, names.RATER)):
        ids = set(as_texts(first, [column]).column(0).unique().to_pylist())
        for member in others if 1 < len(ids) < len(first.data) else ():
            texts = as_texts(member.parsed, member.parsed.columns)
            if any(ids <= _single(texts.column(name)) for name in member.parsed.columns):
                return member, column
    return None


def _single(cells: pa.ChunkedArray) -> set[str]:
    """The texts of a column; none where one occurs twice."""
    found = cells.unique()
    return set(found.to_pylist()) if len(found) == len(cells) else set()


def _several(shown: Sequence[str]) -> str:
    more = len(shown) - _SHOWN
    return ", ".join(shown[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


# A member per item


def _of_items(alike: Sequence[Member], name: str, what: str) -> tuple[list[Member], Parsed] | None:
    """Those members that are items', each with a row per rater, and their table; None where they are not.

    Their names have to be of one form and not those of raters, and raters are called so: users and subjects
    may be what each of several annotators' files is about.
    """
    used = [member for member in alike if not is_aggregate(member.name)]
    paths = [member.name for member in used]
    ids = items(paths)
    if len(used) < 2 or ids is None or named_as_raters([*ids, *annotators(paths)]):
        return None
    columns = used[0].parsed.columns
    raters = [column for column in columns if names.id_score(column, names.RATES)]
    if not raters or make_matrix(columns):  # told before the members are put together
        return None
    stack = Stack.of([member.parsed for member in used], range(len(used)), name)
    rater, *others = stack.recurring() or [""]
    if others or rater not in raters or stack.named_ids()[0] is not None:
        return None
    parsed = _stacked(used, stack, _free("item", stack), ids, what)
    remark = FileProblem.MEMBER_PER_ITEM(
        file=name, members=len(used), what=what, items=tuple(ids), rows=len(stack.data)
    )
    return used, _with_notes(parsed, [know(remark), *_narrowed(used, stack, [], name, what)])


# A member per annotator


def _of_annotators(alike: Sequence[Member], name: str, what: str) -> tuple[list[Member], Parsed] | None:
    """Those members of `alike` that are annotators', and their table; None where they are not."""
    ids = annotators([member.name for member in alike])
    chosen = [(member, rater) for member, rater in zip(alike, ids, strict=True) if may_be_annotator(rater)]
    used, raters = [member for member, _ in chosen], list(dict.fromkeys(rater for _, rater in chosen))
    if len(raters) < 2:
        return None
    sure = named_alike(raters)
    if not sure and names_annotators(used[0].parsed.columns):
        return None
    owners = [raters.index(rater) for _, rater in chosen]
    stack = Stack.of([member.parsed for member in used], owners, name)
    item = stack.repeated_item()
    if item is None or stack.rater(item) is not None or not (sure or stack.varies(item)):
        return None
    if not sure and tells_of_all(stack.differing(item)):
        return None
    _check_versions(used, [rater for _, rater in chosen], name, what)
    numbers = stack.row_numbers(item)
    stack, column = stack.without(numbers), _free("rater", stack)
    parsed = _stacked(used, stack, column, raters, what)
    remark = FileProblem.MEMBER_PER_ANNOTATOR(
        file=name, members=len(used), what=what, raters=tuple(raters), rows=len(stack.data)
    )
    return used, _with_notes(parsed, [know(remark), *_narrowed(used, stack, numbers, name, what)])


def _check_versions(used: Sequence[Member], raters: Sequence[str], name: str, what: str) -> None:
    """Refuse members that may be another version of one annotator's: they would be taken for two."""
    for at, first in versions(raters).items():
        raise DataError(
            f"{name}: its {what} {quoted(used[at].name)} may be another version of "
            f"{quoted(used[first].name)}; keep the one that counts, or give each its annotator's name"
        )


def _narrowed(
    used: Sequence[Member], stack: Stack, numbers: Sequence[str], name: str, what: str
) -> list[Problem]:
    """Notes on columns that were left out."""
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
    """The members with raters inside, and their table, if no annotation is in two of them; else None."""
    columns = min((set(member.parsed.columns) for member in alike), key=len)
    same = [member for member in alike if set(member.parsed.columns) == columns]
    chosen = [member for member in same if not is_aggregate(member.name)]
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
    """Whether items are only told apart by their rows, which begin anew in each member."""
    return all(
        table.data.column(item).to_pylist() == [str(line) for line in table.numbers.tolist()]
        for table in tables
        if item in table.columns
    )


# Both


def _free(wanted: str, stack: Stack) -> str:
    """A name that no column has."""
    while wanted in stack.data.column_names:
        wanted += " (name)"
    return wanted


def _stacked(used: Sequence[Member], stack: Stack, column: str, values: Sequence[str], what: str) -> Parsed:
    """The members below each other, with a first column that says which."""
    tables = [member.parsed for member in used]
    codes = pa.DictionaryArray.from_arrays(pa.array(stack.member, pa.int32()), pa.array(values, pa.string()))
    data = compact(stack.data.add_column(0, column, codes))
    notes = list(dict.fromkeys(note for table in tables for note in table.problems))
    problems = notes[:_NOTES]
    if len(notes) > _NOTES:
        more = len(notes) - _NOTES
        problems.append(know(FileProblem.MORE_NOTES(more=more, what=what), more))
    return Parsed(
        tuple(data.column_names),
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
    """The note on members that are not among those read."""
    kept = {member.name for member in used}
    columns = set(used[0].parsed.columns)
    shown = []
    for member in tables:
        if member.name not in kept:
            why = "not named like the others" if set(member.parsed.columns) == columns else "other columns"
            why = f"the same as {quoted(copies[member.name])}" if member.name in copies else why
            shown.append(f"{quoted(member.name)} ({number(member.rows, 'row')}, {why})")
    shown += [f"{quoted(other)} (no table with rows)" for other in others]
    remark = FileProblem.MEMBERS_LEFT_OUT(file=name, shown=_several(shown))
    return [know(remark, len(shown))] if shown else []


def _with_notes(parsed: Parsed, first: Sequence[Problem], last: Sequence[Problem] = ()) -> Parsed:
    return dataclasses.replace(parsed, problems=(*first, *parsed.problems, *last))
