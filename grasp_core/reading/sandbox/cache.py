"""Tables that people have open: weighed, counted, one person's no more than one file may take."""

from __future__ import annotations

import threading
import weakref
from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.errors import DataError
from grasp_core.model.turns import asking
from grasp_core.model.wording import number
from grasp_core.reading.sandbox.limits import Limits, current_limits
from grasp_core.reading.table.parsed import Parsed

_ROW_BYTES = 35
_TEXT_BYTES = 220
"""Of each distinct text in the column that has the most: its items, as a rule."""
_CELL_BYTES, _ANNOTATION_BYTES = 12, 100
"""Of each cell of a matrix, and of each that becomes an annotation."""


def check_weight(parsed: Parsed, limits: Limits, name: str) -> None:
    """Refuse a table whose rows would take more memory than one file may.

    Raises DataError.
    """
    rows = parsed.data.num_rows
    plain = parsed.data.nbytes + _ROW_BYTES * rows
    if plain + _TEXT_BYTES * rows <= limits.memory:
        return  # however many texts are distinct
    distinct = max(map(_distinct, parsed.data.columns), default=0)
    _check(plain + _TEXT_BYTES * distinct, limits, name, rows, "row")


def check_matrix(cells: int, filled: int, name: str) -> None:
    """Refuse a matrix whose cells would, as far as it is known how many are filled.

    Raises DataError.
    """
    _check(_CELL_BYTES * cells + _ANNOTATION_BYTES * filled, current_limits(), name, cells, "cell")


def _check(weight: int, limits: Limits, name: str, count: int, what: str) -> None:
    if weight > limits.memory:
        raise DataError(
            f"{name} holds {number(count, what)}, which would take about {weight / 2**30:.3g} GiB of memory, "
            f"more than the {limits.memory / 2**30:.3g} GiB that one file may; split it, or leave columns out"
        )


def _distinct(column: pa.ChunkedArray) -> int:
    if not pa.types.is_dictionary(column.type):
        return int(pc.count_distinct(column).as_py())
    return sum(len(chunk.dictionary) for chunk in column.chunks)


_held: Counter[str] = Counter()
_lock = threading.Lock()


def count_held(data: pa.Table, name: str) -> None:
    """Count a table as long as it is there, for whoever asks; nothing where nobody shares with others.

    Raises DataError if it and the person's other tables take more than the limit.
    """
    person, most = asking(), current_limits().memory
    if person is None:
        return
    with _lock:
        if _held[person] + data.nbytes > most:
            raise DataError(
                f"{name} and the files that you have open in other tabs take more than {most / 2**30:.3g} "
                "GiB of memory, the most that one person may have here; close tabs, or remove files there"
            )
        _held[person] += data.nbytes
    weakref.finalize(data, _give_back, person, data.nbytes)


def held_by(person: str) -> int:
    """Bytes of the tables that a person has open."""
    return _held[person]


def _give_back(person: str, size: int) -> None:
    with _lock:
        _held[person] -= size
        if not _held[person]:
            del _held[person]
