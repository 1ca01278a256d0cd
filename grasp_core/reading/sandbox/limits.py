"""Limits of memory and time for reading a file, and of memory for the tables that a person has open."""

import os
import resource
import threading
import weakref
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.errors import DataError
from grasp_core.model.settings import read_settings
from grasp_core.model.text import number
from grasp_core.model.turns import asking
from grasp_core.reading.table.table import Parsed

_SHARE = 3
"""Divisor of the machine's memory for one file: two at a time leave the rest to the process that asked."""
_SETTINGS = ("GRASP_READ_MEMORY_MB", "GRASP_READ_SECONDS")
CONTROL_GROUPS = Path("/sys/fs/cgroup")

DONE, NO_MEMORY, FAULTY = 0, 3, 4  # exit codes of a process that reads


@dataclass(frozen=True, slots=True)
class Limits:
    """Most bytes of memory that a file's parsing and its table may take, and seconds of processor time."""

    memory: int
    seconds: int


def current_limits() -> Limits:
    """Return the limits from the settings, or from the machine if these set none."""
    settings = read_settings({name: os.environ[name] for name in _SETTINGS if name in os.environ})
    return Limits(settings.read_memory_mb * 2**20 or machine_memory() // _SHARE, settings.read_seconds)


def limit_process(memory: int, written: int, *further: tuple[int, int, int]) -> None:
    """Limit this process: bytes of memory and of files written; `further`: kinds, soft and hard limits."""
    for what, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),  # a core file would contain the data
        (resource.RLIMIT_FSIZE, written, written),
        *further,
        (resource.RLIMIT_DATA, memory, memory),
    ):
        with suppress(ValueError, OSError):  # some systems know no limit of memory
            resource.setrlimit(what, (soft, hard))


def machine_memory(control_groups: Path = CONTROL_GROUPS) -> int:
    """Return the bytes of memory of this machine, or of the container."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _control_files(control_groups):
        try:
            sizes.append(int(path.read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return min(sizes)


def _control_files(groups: Path) -> list[Path]:
    """List files that may have the limit of this process's control groups, of versions 2 and 1."""
    files = [groups / "memory.max", groups / "memory" / "memory.limit_in_bytes"]
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return files
    for line in lines:
        _, names, path = line.split(":", 2)
        inside = Path(path.lstrip("/"))
        for group in (inside, *inside.parents):
            if not names:
                files.append(groups / group / "memory.max")
            elif "memory" in names.split(","):
                files.append(groups / "memory" / group / "memory.limit_in_bytes")
    return files


_ROW_BYTES = 35
_TEXT_BYTES = 220  # bytes for each distinct text in the column with the most, usually the items
_CELL_BYTES, _ANNOTATION_BYTES = 12, 100
"""Bytes for each cell of a matrix, and for each cell that becomes an annotation."""


def check_weight(parsed: Parsed, limits: Limits, name: str) -> None:
    """Refuse a table whose rows would take more memory than one file may."""
    rows = parsed.data.num_rows
    plain = parsed.data.nbytes + _ROW_BYTES * rows
    if plain + _TEXT_BYTES * rows <= limits.memory:
        return  # however many texts are distinct
    distinct = max(map(_distinct, parsed.data.columns), default=0)
    _check(plain + _TEXT_BYTES * distinct, limits, name, rows, "row")


def check_matrix(cells: int, filled: int, name: str) -> None:
    """Refuse a matrix whose cells would take too much memory; `filled` is 0 if it is not known yet."""
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


def count_open_table(data: pa.Table, name: str) -> None:
    """Count a table's memory while it exists, for the person who asks, if several share this program."""
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
    """Return the bytes of the tables that a person has open."""
    return _held[person]


def _give_back(person: str, size: int) -> None:
    with _lock:
        _held[person] -= size
        if not _held[person]:
            del _held[person]
