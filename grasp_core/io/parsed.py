"""What a parser hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from grasp_core.errors import DataError, Problem
from grasp_core.io.problems import agree, number, quoted, raise_stopping, stop


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """Columns and rows of a file; the fields are those of :class:`grasp_core.io.tables.Table`."""

    columns: tuple[str, ...]
    frame: pd.DataFrame
    kind: str
    first_row: int
    lines: npt.NDArray[np.int64] | None = None
    problems: tuple[Problem, ...] = ()


def check_header(columns: tuple[str, ...], name: str) -> None:
    """Refuse blank and repeated column names.

    Raises
    ------
    DataError
        With one problem per repeated name, and one for all blank ones.
    """
    first: dict[str, int] = {}
    problems: list[Problem] = []
    blank = [position for position, column in enumerate(columns, start=1) if not column.strip()]
    if blank:
        shown = ", ".join(str(position) for position in blank[:5]) + (", ..." if len(blank) > 5 else "")
        problems.append(
            stop(
                f"{name}, row 1: {number(len(blank), 'column')} of {len(columns):,} "
                f"{agree(len(blank), 'has', 'have')} no name (column {shown}); "
                "name every column in the header, or remove it",
                len(blank),
            )
        )
    for position, column in enumerate(columns, start=1):
        if column.strip() and first.setdefault(column, position) != position:
            problems.append(
                stop(
                    f"{name}, row 1: columns {first[column]} and {position} are both named {quoted(column)}; "
                    "give each column its own name"
                )
            )
    raise_stopping(problems)


def no_rows(name: str, where: str) -> DataError:
    """The error for a file without data rows."""
    return DataError(f"{name} holds column names{where} and no rows; add a row per annotation, item or rater")
