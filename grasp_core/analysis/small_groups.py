"""Small groups, and everything that would reveal them, hidden from people without an account."""

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
LEAST_COVERED = 3 * LEAST
"""Fewest raters of small groups and their covers together.

With so many, a person who knows the rule, the total and how many groups were left out can work out the sizes
in 0.5 % of the views of an axis of 8 to 40 raters that hide some groups and show others; with 2 * LEAST in
1.7 %. `tests/report/test_small_groups.py` simulates this.
"""
_FLAT, _SLIGHT = 1e-9, 1e-6
"""Rounding errors of an eigenvalue and of a direction; a cell that can vary less counts as computable."""
Cell = Any
"""A group, or a slice's value with a group; a key of mappings."""


@dataclass(frozen=True, slots=True)
class CellSum:
    """Cells that add up to a total: `margin`, or a known number; `rest` of it are perhaps not listed."""

    cells: tuple[Cell, ...]
    margin: Cell | None = None
    rest: int = 0


def left_out(
    sizes: Mapping[Cell, int], lines: Sequence[CellSum], gone: Iterable[Cell] = ()
) -> frozenset[Cell]:
    """Return the cells to be left out: small ones, and others that cover them.

    Covers are the smallest cells that suffice, and all that are nearly as small: else the choice of a cover
    would reveal something about the small cell's size. In the end no small cell follows from the totals and
    the cells that are shown, by any additions and subtractions.
    """
    hidden = {cell for cell, size in sizes.items() if size < LEAST} | set(gone)
    while True:
        before = len(hidden)
        for line in lines:
            hidden |= _needed(line, sizes, hidden)
        if len(hidden) == before:
            for cell in _computable(lines, sizes, hidden):
                hidden |= _further(cell, lines, sizes, hidden)
        if len(hidden) == before:
            return frozenset(hidden)


def _needed(line: CellSum, sizes: Mapping[Cell, int], hidden: Set[Cell]) -> set[Cell]:
    """Return further cells of a line, or its margin, that must be left out."""
    out = [sizes[cell] for cell in line.cells if cell in hidden]
    shown = _by_size((cell for cell in line.cells if cell not in hidden), sizes)
    if line.margin is not None and line.margin in hidden:
        return set() if out else set(shown[:1])  # the sum of all cells would be the margin
    if not out and not line.rest:
        return set()
    small = [min(size, LEAST - 1) for size in (*(size for size in out if size < LEAST), line.rest) if size]
    covers = [size for size in out if size >= LEAST]
    taken: set[Cell] = set()
    for cell in shown:
        # A cell that could have been the cover if the small ones had other sizes is left out too.
        near = bool(small and covers) and sizes[cell] - max(covers) < sum(small) - len(small)
        if _enough(small, covers) and not near:
            break
        taken.add(cell)
        covers.append(sizes[cell])
    if line.margin is not None and not _enough(small, covers):
        taken.add(line.margin)
    return taken


def _enough(small: Sequence[int], covers: Sequence[int]) -> bool:
    if not small:
        return len(covers) != 1
    return bool(covers) and sum(small) + sum(covers) >= LEAST_COVERED


def _computable(lines: Sequence[CellSum], sizes: Mapping[Cell, int], hidden: Set[Cell]) -> list[Cell]:
    """Return the small cells that follow from the lines' totals and the cells that are shown."""
    unknown = _by_size(hidden, sizes)
    place = {cell: column for column, cell in enumerate(unknown)}
    if not any(sizes[cell] < LEAST for cell in unknown):
        return []
    open_ended = [row for row, line in enumerate(lines) if line.rest > 0]
    sums = np.zeros((len(lines), len(unknown) + len(open_ended)))
    for row, line in enumerate(lines):
        for cell in place.keys() & {*line.cells}:
            sums[row, place[cell]] = 1
        if line.margin in place:
            sums[row, place[line.margin]] = -1
    sums[open_ended, len(unknown) + np.arange(len(open_ended))] = 1
    # Products of columns, since with a thousand groups there are many more lines than unknown cells.
    values, vectors = np.linalg.eigh(sums.T @ sums)
    free = np.abs(vectors[:, values < _FLAT]).max(axis=1, initial=0) > _SLIGHT
    return [cell for cell in unknown if sizes[cell] < LEAST and not free[place[cell]]]


def _further(
    known: Cell, lines: Sequence[CellSum], sizes: Mapping[Cell, int], hidden: Set[Cell]
) -> set[Cell]:
    """Return the smallest cell still shown: in a line with the computable cell, else in any line."""
    beside = {cell for line in lines if known in (*line.cells, line.margin) for cell in line.cells}
    return set((_by_size(beside - hidden, sizes) or _by_size(sizes.keys() - hidden, sizes))[:1])


def _by_size(cells: Iterable[Cell], sizes: Mapping[Cell, int]) -> list[Cell]:
    return sorted(cells, key=lambda cell: (sizes[cell], repr(cell)))


def hidden_groups(result: Result) -> frozenset[Group]:
    """Return the groups that people without an account do not see: groups of few raters, and their covers."""
    if not isinstance(result, RunResult | ModelsResult):
        raise TypeError(type(result).__name__)
    sizes = {row.group: row.n_raters for row in result.groups}
    codes = {warning.code for warning in result.warnings}
    listed = result.spec.analysis.min_raters == 1 or not codes & {Caution.SMALL_GROUPS, Words.TEXT}
    return frozenset(left_out(sizes, _lines(sizes, result.data.raters, listed=listed)))


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


def _lines(sizes: Mapping[Group, int], raters: int, *, listed: bool) -> list[CellSum]:
    """Return sums of groups: of an axis to all raters, of an intersection to each group of fewer axes.

    The total of a group that the run does not have counts as known: another intersection may give it.
    """
    lines = []
    for axes in dict.fromkeys(group.axes for group in sizes):
        groups = [group for group in sizes if group.axes == axes]
        for size in range(len(axes)):
            for within in combinations(range(len(axes)), size):
                lines += _within(groups, within, sizes, raters, listed=listed)
    return lines


def _within(
    groups: Sequence[Group], within: tuple[int, ...], sizes: Mapping[Group, int], raters: int, *, listed: bool
) -> list[CellSum]:
    """Return a line for each combination of values on the axes at these places."""
    lines: dict[tuple[str, ...], list[Cell]] = {}
    for group in groups:
        lines.setdefault(tuple(group.values[place] for place in within), []).append(group)
    axes = tuple(groups[0].axes[place] for place in within)
    by_values = {_sorted(group): group for group in sizes}
    found = []
    for values, cells in lines.items():
        margin = by_values.get(_sorted(Group(axes, values))) if within else None
        total = raters if not within else None if margin is None else sizes[margin]
        rest = 0 if listed or total is None else total - sum(map(sizes.__getitem__, cells))
        found.append(CellSum(tuple(cells), margin, rest))
    return found


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
    sizes: dict[tuple[str, Group], int] = {}
    lines: list[CellSum] = []
    for value in found.values:
        of_slice = {row.group: row.n_raters for row in value.groups}
        sizes |= {(value.value, group): size for group, size in of_slice.items()}
        lines += [
            replace(
                line,
                cells=tuple((value.value, group) for group in line.cells),
                margin=None if line.margin is None else (value.value, line.margin),
            )
            for line in _lines(of_slice, value.raters, listed=False)
        ]
    groups = dict.fromkeys(row.group for value in found.values for row in value.groups)
    lines += [
        CellSum(tuple((value.value, group) for value in found.values if (value.value, group) in sizes))
        for group in groups
        if group not in hidden and not found.without
    ]
    gone = left_out(sizes, lines, [cell for cell in sizes if cell[1] in hidden])
    return replace(
        found,
        values=tuple(
            replace(value, groups=_kept(value.groups, out), dsi=_of_whole_axes(value.dsi, out))
            for value in found.values
            for out in [frozenset(row.group for row in value.groups if (value.value, row.group) in gone)]
        ),
    )


def _names(mark: Undecided, hidden: frozenset[Group]) -> bool:
    axes = {group.axes for group in hidden}
    return bool({mark.group, mark.other} & hidden) or (mark.group is None and mark.axes in axes)
