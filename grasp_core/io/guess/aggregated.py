"""Signs that labels were worked out from several raters' before: who gave which is lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.annotations import FloatArray, number_of
from grasp_core.io.guess.look import Look
from grasp_core.io.table import names
from grasp_core.wording import quoted

_MOST_COLUMNS = 20
"""Of more columns, cells that add up to the same in each row are no counts of votes."""
_MOSTLY = 0.5
_ROWS, _ROWS_OF_ONE = 4, 10
"""Of fewer rows, sums may be the same by chance; more are needed where one cell of each row is 1."""


def no_raters(why: str) -> str:
    """That no column tells the raters, and what would do; `why` is part of the sentence."""
    return (
        f"no column looks like raters: {why}. Aggregated labels (a majority, a mean or counts of votes) "
        "cannot be analysed; what would do is a file with a row per annotation and a column of who gave it, "
        "or with a column per rater"
    )


def aggregated_cells(look: Look, cells: Sequence[str]) -> str | None:
    """The sentence that refuses columns of counts, shares or means as raters; None where they may be raters.

    Parameters
    ----------
    look : Look
    cells : sequence of str
        Columns that look like those of a matrix.
    """
    counted = [name for name in cells if names.mentions(name, names.COUNTED)]
    if counted and 2 * len(counted) > len(cells):
        return no_raters(f"{quoted(counted[0])} is named like what was counted or worked out for an item")
    total = _sum_of_rows(look, cells)
    if total is not None:
        return no_raters(f"the cells of each row add up to {total:g}, as counts of votes or shares do")
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


def _sum_of_rows(look: Look, cells: Sequence[str]) -> float | None:
    """The sum of every row's numbers, if it is the same."""
    if not 2 <= len(cells) <= _MOST_COLUMNS or look.n < _ROWS:
        return None
    numbers = [_numbers(look, name) for name in cells]
    sums = np.sum(numbers, axis=0)
    total = float(sums[0])
    if not np.isfinite(sums).all() or not np.allclose(sums, total, atol=0.02) or not total > 0:
        return None
    one_of_each = all(set(look[name].values) <= {"0", "1", "0.0", "1.0"} for name in cells)
    enough = _ROWS_OF_ONE if total == 1 and one_of_each else _ROWS
    return total if look.n >= enough and (len(cells) > 2 or not one_of_each) else None


def _numbers(look: Look, name: str) -> FloatArray:
    values = np.array([number_of(text) for text in look[name].values], dtype=np.float64)
    cells: FloatArray = values[look[name].codes]
    return cells
