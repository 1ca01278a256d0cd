"""Limits to the cells of a table."""

from __future__ import annotations

from grasp_core.errors import DataError
from grasp_core.remarks.problems import FileProblem

MAX_CELLS = 1 << 25
"""Most cells of a table that a small file can be made to become."""
MAX_WRITTEN = 2 * MAX_CELLS
"""Most cells of a table that stand in the file one by one."""


def check_cells(cells: int, name: str) -> None:
    """Refuse a file whose few fields or lists would become a table beyond all memory.

    Raises
    ------
    DataError
    """
    if cells > MAX_CELLS:
        raise DataError(FileProblem.TOO_MANY_CELLS(file=name, most=MAX_CELLS))
