"""Signs that labels were worked out from several raters' before: who gave which is lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.model.annotations import FloatArray, number_of
from grasp_core.model.data_spec import Layout
from grasp_core.model.wording import quoted
from grasp_core.read.guess.look import Look
from grasp_core.read.table import names
from grasp_core.read.table.runs import form

_MOST_COLUMNS = 20
"""Of more columns, cells of a row that make up for each other are no counts of votes."""
_MOSTLY = 0.5
_ROWS, _ROWS_OF_ONE = 4, 10
"""Of fewer rows, sums may be the same by chance; more are needed where one cell of each row is 1."""
_OF_CHANCE = {"items-by-raters": 0.5, "raters-by-items": 0.25}
"""Variance of rows' sums, as a share of that of cells without any relation, up to which cells are counts.

Raters who agree have more than 1; questions that are asked the other way round may have less.
"""
_PER_ROW = 2.0
"""Divided by the rows, what is taken off that share for chance."""
_ROUNDED = 0.01


def no_raters(why: str) -> str:
    """That no column tells the raters, and what would do; `why` is part of the sentence."""
    return (
        f"no column looks like raters: {why}. Aggregated labels (a majority, a mean or counts of votes) "
        "cannot be analysed; what would do is a file with a row per annotation and a column of who gave it, "
        "or with a column per rater"
    )


def aggregated_cells(look: Look, cells: Sequence[str], layout: Layout) -> str | None:
    """The sentence that refuses columns of counts, shares or means as raters; None where they may be raters.

    Parameters
    ----------
    cells : sequence of str
        Columns that look like those of a matrix.
    """
    counted = [name for name in cells if names.mentions(name, names.COUNTED)]
    if counted and 2 * len(counted) > len(cells):
        return no_raters(f"{quoted(counted[0])} is named like what was counted or worked out for an item")
    if (why := _make_up(look, [name for name in cells if name not in counted], layout)) is not None:
        return no_raters(why)
    if (decimal := _share_of_decimals(look, cells)) > _MOSTLY:
        return no_raters(f"{decimal:.0%} of the cells are numbers with decimals, as means are")
    return None


def _share_of_decimals(look: Look, cells: Sequence[str]) -> float:
    """Share of the filled cells that hold numbers which are no halves either; 0 beside other texts."""
    filled = np.concatenate(
        [_numbers(look, name)[~look[name].among([""])] for name in cells[:_MOST_COLUMNS]] or [np.empty(0)]
    )
    if not filled.size or not np.isfinite(filled).all():
        return 0.0
    return float(np.mean(2 * filled % 1 != 0))


def _make_up(look: Look, cells: Sequence[str], layout: Layout) -> str | None:
    """How the cells of a row make up for each other, as votes for one label or another do, if they do."""
    if not 2 <= len(cells) <= _MOST_COLUMNS or look.n < _ROWS:
        return None
    numbers = np.array([_numbers(look, name) for name in cells])
    if not np.isfinite(numbers).all() or numbers.min() < 0 or not numbers.var(axis=1).sum() > 0:
        return None
    sums = numbers.sum(axis=0)
    one_of_each = set(np.unique(numbers)) <= {0, 1}
    if one_of_each and (len(cells) == 2 or look.n < _ROWS_OF_ONE):
        return None
    if np.allclose(sums, sums[0], atol=0.02):
        return f"the cells of each row add up to {sums[0]:g}, as counts of votes or shares do"
    words = 2 * sum(form(name) is None for name in cells) > len(cells)
    left = float(sums.var() / numbers.var(axis=1).sum())
    if numbers.min() == 0 and words and left <= _ROUNDED + _OF_CHANCE[layout] - _PER_ROW / look.n:
        first, last = quoted(cells[0]), quoted(cells[-1])
        return f"the more one of {first} to {last} holds, the less the others do, as votes for labels"
    return None


def _numbers(look: Look, name: str) -> FloatArray:
    values = np.array([number_of(text) for text in look[name].values], dtype=np.float64)
    cells: FloatArray = values[look[name].codes]
    return cells
