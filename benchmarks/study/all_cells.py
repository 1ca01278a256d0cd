"""All cells of the study."""

from __future__ import annotations

from benchmarks.study import clean, situations
from benchmarks.study.cells import Cell


def all_cells() -> list[Cell]:
    """Return the cells in the order in which they are measured and reported."""
    return [
        *clean.NOTHING,
        *(one.cell for one in clean.PLANTED),
        *(one.cell for one in situations.SITUATIONS),
    ]
