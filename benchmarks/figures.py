"""Helpers of all benchmarks: path of the published data, times, peak memory, and printing of figures."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

DICES = Path(__file__).resolve().parents[2] / "shared" / "data" / "dices350"
"""Folder of the published data, if it is beside the repository."""


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A line of a table: a measured figure, and its ratio to another one."""

    what: str
    ratio: float
    beside: str
    measured: float
    unit: str


def show(subject: str, figures: Sequence[Figure]) -> None:
    """Print the table of one subject, ratios first."""
    print(f"\n{subject}\n{'ratio':>10} {'to':28} {'measured':>19}  what")
    for one in figures:
        measured = f"{one.measured:.4g} {one.unit}"
        print(f"{one.ratio:10.4g} {one.beside:28} {measured:>19}  {one.what}")


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time that a call takes in this process; other programs do not add to it."""
    started = time.process_time()
    work()
    return time.process_time() - started


def medians(sides: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the median of each side's seconds, measured alternately after a round that compiles."""
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(1 + rounds):
        for side, measure in sides.items():
            taken[side].append(measure())
    return {side: median(values[1:]) for side, values in taken.items()}


def peak_mib(process: int | str = "self") -> float:
    """Return the most memory that a process had at one time since its program began; Linux only."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), float("nan"))


def tree_mib(process: int) -> float:
    """Return the memory of a process and everything it started, each shared page counted once; Linux only."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        parents[int(status.parent.name)] = int(fields[1])
    tree = {process}
    while grown := {child for child, parent in parents.items() if parent in tree} - tree:
        tree |= grown
    return sum(map(_shared_out_mib, tree))


def _shared_out_mib(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def tell(figures: Mapping[str, object], target: Path | None) -> None:
    """Print the figures, and write them as JSON too if `target` is given."""
    for key, value in figures.items():
        print(f"{key:48} {value:12.6g}" if isinstance(value, float) else f"{key:48} {value:>12}")
    if target is not None:
        target.write_text(json.dumps(figures, indent=1) + "\n")
