"""Which cells are left out of tables of counts, so that neither small ones nor their sizes are told.

A small cell alone among those that add up to a known total is the total minus the others. So of cells that
add up to a known total none is left out, or with a small one its cover: a larger one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

LEAST = 5
"""Raters of the smallest group that people without an account see, unless whoever shares says otherwise."""
TOGETHER = 3 * LEAST
"""Raters of small groups and their covers together.

With so many, whoever knows the rule, the total and how many groups were left out works out the sizes in 0.5 %
of the views of an axis of 8 to 40 raters that hide some groups and show others; with 2 * LEAST in 1.7 %. It
is simulated in `tests/report/test_small_groups.py`.
"""
_FLAT, _SLIGHT = 1e-9, 1e-6
"""Rounding errors of an eigenvalue and of a direction; a cell that moves less counts as told."""
Cell = Any
"""What can be a key: a group, or a slice's value with one."""


@dataclass(frozen=True, slots=True)
class Line:
    """Cells that add up to a total.

    Parameters
    ----------
    cells : tuple
    margin : cell or None
        The cell that is the total; None where the total is known anyhow.
    rest : int
        Raters of the total in no cell who may be of groups that are not listed.
    """

    cells: tuple[Cell, ...]
    margin: Cell | None = None
    rest: int = 0


def left_out(sizes: Mapping[Cell, int], lines: Sequence[Line], gone: Iterable[Cell] = ()) -> frozenset[Cell]:
    """The cells to be left out.

    Parameters
    ----------
    sizes : mapping
        Raters by cell.
    lines : sequence of Line
    gone : iterable
        Cells that are left out whatever their size.

    Notes
    -----
    Covers are the smallest cells that do, and all that are nearly as small: else that a certain one was
    taken would tell something of the small one's size. In the end no small cell follows from the totals and
    the cells that are shown, whatever is added and subtracted.
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


def _needed(line: Line, sizes: Mapping[Cell, int], hidden: Set[Cell]) -> set[Cell]:
    """Further cells of a line, or its margin, that have to go."""
    out = [sizes[cell] for cell in line.cells if cell in hidden]
    shown = _by_size((cell for cell in line.cells if cell not in hidden), sizes)
    if line.margin is not None and line.margin in hidden:
        return set() if out else set(shown[:1])  # all cells together would be the margin
    if not out and not line.rest:
        return set()
    small = [min(size, LEAST - 1) for size in (*(size for size in out if size < LEAST), line.rest) if size]
    covers = [size for size in out if size >= LEAST]
    taken: set[Cell] = set()
    for cell in shown:
        if _enough(small, covers) and not _near(small, covers, sizes[cell]):
            break
        taken.add(cell)
        covers.append(sizes[cell])
    if line.margin is not None and not _enough(small, covers):
        taken.add(line.margin)
    return taken


def _enough(small: Sequence[int], covers: Sequence[int]) -> bool:
    if not small:
        return len(covers) != 1
    return bool(covers) and sum(small) + sum(covers) >= TOGETHER


def _near(small: Sequence[int], covers: Sequence[int], following: int) -> bool:
    """Whether a cell might have been the cover instead, had the small ones been of other sizes."""
    return bool(small) and following - max(covers) < sum(small) - len(small)


def _computable(lines: Sequence[Line], sizes: Mapping[Cell, int], hidden: Set[Cell]) -> list[Cell]:
    """Small cells that follow from the lines' totals and the cells that are shown."""
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
    # By the products of columns: with a thousand groups the lines are many more than the unknown cells.
    values, vectors = np.linalg.eigh(sums.T @ sums)
    free = np.abs(vectors[:, values < _FLAT]).max(axis=1, initial=0) > _SLIGHT
    return [cell for cell in unknown if sizes[cell] < LEAST and not free[place[cell]]]


def _further(told: Cell, lines: Sequence[Line], sizes: Mapping[Cell, int], hidden: Set[Cell]) -> set[Cell]:
    """The smallest cell that is still shown, beside one that could be computed if there is such a one."""
    beside = {cell for line in lines if told in (*line.cells, line.margin) for cell in line.cells}
    return set((_by_size(beside - hidden, sizes) or _by_size(sizes.keys() - hidden, sizes))[:1])


def _by_size(cells: Iterable[Cell], sizes: Mapping[Cell, int]) -> list[Cell]:
    return sorted(cells, key=lambda cell: (sizes[cell], repr(cell)))
