"""Small groups, and everything that would reveal them, hidden from people without an account."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.outcome import Verdict
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.remark import Words
from grasp_core.model.result import DsiResult, GroupResult, Result, RunResult, SlicesResult, Undecided

LEAST = 5
"""Fewest raters of a group that people without an account see, unless the sharer decides otherwise."""
LEAST_COVERED = 2 * LEAST
"""Fewest raters of small groups and their covers together, where they add up to a known total.

A person who knows the rule, all groups and the totals can work out the sizes in 0.4 % of the views of an axis
that hide some groups and show others; with LEAST in 2 %. `tests/report/test_small_groups.py` simulates this.
"""
LARGE = 6 * LEAST
"""Groups of so many raters are covers only if there is no smaller one."""
_FLAT, _SLIGHT = 1e-9, 1e-6
"""Rounding errors of an eigenvalue and of a direction; a cell that can vary less counts as computable."""
Cell = Any
"""A group, or a slice's value with a group; a key of mappings."""


@dataclass(frozen=True, slots=True)
class CellSum:
    """Cells that add up to `margin`, a cell whose size may be unknown, or to a known number."""

    cells: tuple[Cell, ...]
    margin: Cell | None = None

    @property
    def members(self) -> tuple[Cell, ...]:
        """All cells of the sum."""
        return self.cells if self.margin is None else (*self.cells, self.margin)


def left_out(
    sizes: Mapping[Cell, int], sums: Sequence[CellSum], gone: Iterable[Cell] = ()
) -> frozenset[Cell]:
    """Return the cells to be left out: small ones, and others that cover them.

    A cover is the cell in most of the sums that tell too much, and of several the first by name: a choice by
    size would reveal something about the small cells' sizes, one by findings would differ between views of
    the same data, so that one reveals what the other hides. A margin is a cover only where no cell is left:
    two hidden margins would reveal the sum of the small cells in them. In the end no small cell follows from
    the totals and the cells that are shown, by any additions and subtractions.
    """
    hidden = {cell for cell, size in sizes.items() if size < LEAST} | set(gone)
    while (shown := sizes.keys() - hidden) and (telling := _telling(sums, sizes, hidden)):
        covers = [cell for one in telling for cell in one.cells if cell in shown]
        covers = covers or [one.margin for one in telling if one.margin in shown]
        times = Counter(covers or shown)
        hidden.add(min(times, key=lambda cell: (-times[cell], sizes[cell] >= LARGE, repr(cell))))
    return frozenset(hidden)


def _telling(sums: Sequence[CellSum], sizes: Mapping[Cell, int], hidden: Set[Cell]) -> list[CellSum]:
    """Return the sums that leave out too little; if none does, those of small cells that follow."""
    few = [one for one in sums if _leaves_out_few(one, sizes, hidden)]
    known = set() if few else _computable(sums, sizes, hidden)
    return few or [one for one in sums if not known.isdisjoint(one.members)]


def _leaves_out_few(one: CellSum, sizes: Mapping[Cell, int], hidden: Set[Cell]) -> bool:
    """Return whether a sum leaves out one member, or few raters, though it has more members to cover them."""
    out = [sizes[cell] for cell in one.cells if cell in hidden]
    if one.margin in hidden:
        return not out
    few = len(out) == 1 or 0 < sum(out) < LEAST_COVERED
    return few and (one.margin is None or one.margin in sizes) and len(out) < len(one.members)


def _computable(sums: Sequence[CellSum], sizes: Mapping[Cell, int], hidden: Set[Cell]) -> set[Cell]:
    """Return the small cells that follow from the totals and the cells that are shown."""
    signs: dict[Cell, list[tuple[int, int]]] = {}
    for row, one in enumerate(sums):
        for cell in one.members:
            if cell in hidden or cell not in sizes:
                signs.setdefault(cell, []).append((row, -1 if cell == one.margin else 1))
    unknown = {cell: tuple(found) for cell, found in signs.items()}
    alike = Counter(unknown.values())  # of several cells in the same sums none follows
    terms = np.zeros((len(sums), len(alike)))
    for column, found in enumerate(alike):
        for row, sign in found:
            terms[row, column] = sign
    # Products of columns, since with a thousand groups there are many more sums than unknown cells.
    values, vectors = np.linalg.eigh(terms.T @ terms)
    free = np.abs(vectors[:, values < _FLAT]).max(axis=1, initial=0) > _SLIGHT
    known = {found for found, varies in zip(alike, free, strict=True) if not varies and alike[found] == 1}
    return {cell for cell, found in unknown.items() if found in known and sizes.get(cell, LEAST) < LEAST}


def hidden_groups(result: Result) -> frozenset[Group]:
    """Return the groups that people without an account do not see: groups of few raters, and their covers."""
    if not isinstance(result, RunResult | ModelsResult):
        raise TypeError(type(result).__name__)
    sizes = {row.group: row.n_raters for row in result.groups}
    codes = {warning.code for warning in result.warnings}
    listed = result.spec.analysis.min_raters == 1 or not codes & {Caution.SMALL_GROUPS, Words.TEXT}
    sums, unlisted = _sums(sizes, result.data.raters, listed=listed)
    return left_out(sizes | unlisted, sums, unlisted) & sizes.keys()


def without_small_groups(result: Result) -> Result:
    """Return the result without groups of fewer than :data:`LEAST` raters.

    Everything that would reveal them is left out too: other groups, so that no size follows from totals; the
    DSI of axes that lost a group; pairs and marks of those groups; groups that are small on the items of a
    slice, with their covers; and the number of groups.
    """
    hidden = hidden_groups(result)
    codes = {Caution.SMALL_GROUPS, Caution.FEW_REGROUPINGS}
    warnings = [warning for warning in result.warnings if warning.code not in codes]
    rows = [row for row in getattr(result, "groups", ()) if row.group not in hidden]
    few = sum(getattr(row, "least_p", None) is not None for row in rows)
    if few and any(warning.code is Caution.FEW_REGROUPINGS for warning in result.warnings):
        warnings.append(Caution.FEW_REGROUPINGS(few=few, groups=len(rows)))
    if hidden or any(warning.code is Caution.SMALL_GROUPS for warning in result.warnings):
        warnings.append(Caution.FEW_RATERS_HIDDEN(least=LEAST))
    shown = replace(result, warnings=tuple(warnings))
    if result.stopping is not None:
        marks = tuple(mark for mark in result.stopping.undecided if not _names(mark, hidden))
        shown = replace(shown, stopping=replace(result.stopping, undecided=marks))
    if isinstance(shown, ModelsResult):
        return replace(shown, groups=tuple(row for row in shown.groups if row.group not in hidden))
    if isinstance(shown, RunResult):
        return replace(
            shown,
            groups=_kept(shown.groups, hidden),
            dsi=_of_whole_axes(shown.dsi, hidden),
            assignment=tuple(check for check in shown.assignment if not check.groups & hidden),
            slices=tuple(_slices(found, hidden) for found in shown.slices),
            given=tuple(
                replace(found, groups=_kept(found.groups, hidden), dsi=_of_whole_axes(found.dsi, hidden))
                for found in shown.given
            ),
            pairs=tuple(
                row
                for row in shown.pairs
                if not {row.a, row.b} & hidden and min(row.n_raters_a, row.n_raters_b) >= LEAST
            ),
            findable=() if hidden else shown.findable,  # it states the sizes of groups
        )
    raise TypeError(type(result).__name__)  # a panel whose details were never checked for small groups


def some_hidden(shown: Result) -> bool:
    """Return whether :func:`without_small_groups` left out some group of the result."""
    return any(warning.code is Caution.FEW_RATERS_HIDDEN for warning in shown.warnings)


def _sums(sizes: Mapping[Group, int], raters: int, *, listed: bool) -> tuple[list[CellSum], dict[Cell, int]]:
    """Return sums of groups: of an axis to all raters, of an intersection to each group of fewer axes.

    Unless all groups are listed, the rest of a total is a cell too, one of those returned with its size.
    """
    by_values = {_sorted(group): group for group in sizes}
    cells: dict[tuple[AxisSet, Cell], list[Cell]] = {}
    for group in sizes:
        for size in range(len(group.axes)):
            for within in combinations(_sorted(group), size):
                margin = by_values.get(within, within) if within else None
                cells.setdefault((group.axes, margin), []).append(group)
    unlisted: dict[Cell, int] = {}
    for (axes, margin), groups in cells.items():
        total = raters if margin is None else sizes.get(margin, 0)
        rest = total - sum(sizes[group] for group in groups)
        if rest > 0 and not listed:
            unlisted[axes, margin] = rest
            groups.append((axes, margin))
    return [CellSum(tuple(groups), margin) for (_, margin), groups in cells.items()], unlisted


def _sorted(group: Group) -> tuple[tuple[str, str], ...]:
    """Return a key of the group that does not depend on the order of its axes."""
    return tuple(sorted(zip(group.axes, group.values, strict=True)))


def _kept(rows: Iterable[GroupResult], hidden: frozenset[Group]) -> tuple[GroupResult, ...]:
    return without_names(row for row in rows if row.group not in hidden and row.n_raters >= LEAST)


def without_names(rows: Iterable[GroupResult]) -> tuple[GroupResult, ...]:
    """Return the rows with verdicts that name only groups of these rows."""
    kept = tuple(rows)
    shown = {row.group for row in kept}
    return tuple(replace(row, verdict=row.verdict and _without_names(row.verdict, shown)) for row in kept)


def _without_names(verdict: Verdict, shown: Set[Group]) -> Verdict:
    by, other = (group if group in shown else None for group in (verdict.by, verdict.other))
    return replace(verdict, by=by, other=other)


def _of_whole_axes(rows: Iterable[DsiResult], hidden: frozenset[Group]) -> tuple[DsiResult, ...]:
    """Keep the DSI of axes whose groups are all shown: the largest GAI would reveal the other groups."""
    axes: set[AxisSet] = {group.axes for group in hidden}
    return tuple(row for row in rows if row.axes not in axes)


def _slices(found: SlicesResult, hidden: frozenset[Group]) -> SlicesResult:
    """Return slices without hidden groups and groups that are small on the slice's items.

    A group's annotations in all slices add up to its total, so it is left out of no slice or of several.
    """
    sizes: dict[tuple[str, Cell], int] = {}
    sums: list[CellSum] = []
    gone: list[tuple[str, Cell]] = []
    for value in found.values:
        of_slice = {row.group: row.n_raters for row in value.groups}
        within, unlisted = _sums(of_slice, value.raters, listed=False)
        sizes |= {(value.value, cell): size for cell, size in (of_slice | unlisted).items()}
        gone += [(value.value, cell) for cell in (*unlisted, *(of_slice.keys() & hidden))]
        for one in within:
            margin = None if one.margin is None else (value.value, one.margin)
            sums.append(CellSum(tuple((value.value, cell) for cell in one.cells), margin))
    groups = dict.fromkeys(row.group for value in found.values for row in value.groups)
    sums += [
        CellSum(tuple((value.value, group) for value in found.values if (value.value, group) in sizes))
        for group in groups
        if group not in hidden and not found.without
    ]
    out_of = left_out(sizes, sums, gone)
    return replace(
        found,
        values=tuple(
            replace(value, groups=_kept(value.groups, out), dsi=_of_whole_axes(value.dsi, out))
            for value in found.values
            for out in [frozenset(row.group for row in value.groups if (value.value, row.group) in out_of)]
        ),
    )


def _names(mark: Undecided, hidden: frozenset[Group]) -> bool:
    axes = {group.axes for group in hidden}
    return bool({mark.group, mark.other} & hidden) or (mark.group is None and mark.axes in axes)
