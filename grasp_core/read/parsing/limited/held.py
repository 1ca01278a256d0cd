"""Tables that people have open, counted: one person's take no more memory together than one file may."""

from __future__ import annotations

import threading
import weakref
from collections import Counter

import pyarrow as pa

from grasp_core.model.errors import DataError
from grasp_core.model.turns import asking
from grasp_core.read.parsing.limited.limits import current_limits

_held: Counter[str] = Counter()
_lock = threading.Lock()


def count_held(data: pa.Table, name: str) -> None:
    """Count a table as long as it is there, for whoever asks; nothing where nobody shares with others.

    Raises
    ------
    DataError
        If it and the person's other tables take more than the limit.
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
