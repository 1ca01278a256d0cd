"""Measure runs as data grow: ``python -m benchmarks.scaling [--rows N]``.

Each size is written to a temporary folder of Parquet files, block by block, and run by the command line in
its own process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.synthetic import AXES, write

ROOT = Path(__file__).resolve().parents[1]
MOST = 10_000_000
PERMUTATIONS = 20
ANNOTATIONS_A_RATER = 100
_LOOK_SECONDS = 0.1
_COLUMNS = ("annotations", "raters", "read, s", "observed, s", "permutations, s", "CPU, s", "GiB", "load")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--rows", type=int, default=MOST, help="measure up to this size, in steps of ten")
    chosen = parser.parse_args()
    subprocess.run([sys.executable, "-m", "grasp_core", "warm"], cwd=ROOT, check=True)
    print(f"{PERMUTATIONS} permutations, {sum(AXES.values())} groups, one core\n")
    print(f"| {' | '.join(_COLUMNS)} |\n|{'--:|' * len(_COLUMNS)}")
    for power in range(5, 10):
        if 10**power <= chosen.rows:
            print(f"| {' | '.join(_measured(10**power))} |", flush=True)


def _measured(rows: int) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="grasp-scaling-") as name:
        folder = Path(name)
        write(folder, rows, max(rows // ANNOTATIONS_A_RATER, 100))
        load, used = os.getloadavg()[0], _cpu_seconds()
        process = subprocess.Popen(_command(folder), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=-1)
        peak = _Peak(process.pid)
        _, said = process.communicate()
        if process.returncode:
            sys.exit(f"the run of {rows:,} annotations failed:\n{said.decode()}")
        result = json.loads((folder / "result.json").read_text())
    timing = result["timing"]
    return [
        f"{result['data']['annotations']:,}",
        f"{result['data']['raters']:,}",
        *(f"{timing[name]:.3g}" for name in ("load_s", "observed_s", "permutations_s")),
        f"{_cpu_seconds() - used:.3g}",
        f"{peak.gib():.2f}",
        f"{load:.1f}",
    ]


def _command(folder: Path) -> list[str]:
    files = [f"--annotations={folder / 'votes'}", f"--raters={folder / 'raters.parquet'}"]
    columns = [f"--{name}={name}" for name in ("item", "rater", "label")]
    size = [f"--permutations={PERMUTATIONS}", "--workers=1", "--engine=local", "--no-pairs"]
    axes = [f"--axis={name}" for name in AXES]
    return [
        *(sys.executable, "-m", "grasp_core", "run"),
        *(*files, *columns, *axes, *size, f"--out={folder / 'result.json'}"),
    ]


def _cpu_seconds() -> float:
    """Return the processor time of all child processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


class _Peak:
    """The most memory that a process and its children had together; Linux only."""

    def __init__(self, pid: int) -> None:
        self._pid, self._pages = pid, 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def gib(self) -> float:
        """Wait for the process to end, and return its peak in GiB."""
        self._thread.join()
        return self._pages * os.sysconf("SC_PAGE_SIZE") / 2**30

    def _watch(self) -> None:
        while pages := sum(map(_resident, _tree(self._pid))):
            self._pages = max(self._pages, pages)
            time.sleep(_LOOK_SECONDS)


def _tree(pid: int) -> Sequence[int]:
    found, waiting = [], [pid]
    while waiting:
        process = waiting.pop()
        found.append(process)
        try:
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        except OSError:
            continue
        waiting += map(int, children)
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    main()
