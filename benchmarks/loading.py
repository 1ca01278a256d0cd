"""Measure how files become data: ``python -m benchmarks.loading [--rows N] [--json FILE]``.

Ten million annotations are written as CSV (400 MB), again with a stray quotation mark at the end, so that the
file is read row by row, and as Parquet. Each file is read in its own process, and so is DICES-350's long
file, if it is beside the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.figures import DICES, peak_mib, tell
from grasp_core.engine.pools import workers
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table

ROOT = Path(__file__).resolve().parents[1]
ROWS = 10_000_000
_RATERS, _ITEMS = 100_000, 400_000
_STRAY = b'item0000001,rater"x,No,Woman,18-24\n'

T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loading", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="annotations (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.file:
        print(json.dumps(_measured(chosen.file)))
        return
    before = os.getloadavg()[0]
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="grasp-benchmark-") as folder:
        files = _written(Path(folder), chosen.rows)
        if DICES.is_dir():
            files["DICES-350, long"] = DICES / "ratings_long.csv"
        for name, path in files.items():
            figures |= {f"{name}: {what}": value for what, value in _in_fresh_process(path).items()}
    figures["cores"] = workers.available_cores()
    figures["load average before"] = before
    figures["load average after"] = os.getloadavg()[0]
    tell(figures, chosen.json)


def _written(folder: Path, rows: int) -> dict[str, Path]:
    """Write the files; return them by name."""
    plain, stray, parquet = folder / "votes.csv", folder / "stray.csv", folder / "votes.parquet"
    table = _table(rows)
    pyarrow.csv.write_csv(table, plain, pyarrow.csv.WriteOptions(quoting_style="none"))
    pyarrow.parquet.write_table(table, parquet)
    stray.write_bytes(plain.read_bytes() + _STRAY)
    return {
        f"CSV, {plain.stat().st_size / 1e6:.0f} MB": plain,
        "CSV, row by row": stray,
        f"Parquet, {parquet.stat().st_size / 1e6:.0f} MB": parquet,
    }


def _table(rows: int) -> pa.Table:
    """Return annotations in random order, none twice; each rater has a gender and an age."""
    rng = np.random.default_rng(1)
    number = rng.permutation(rows)
    rater = number % _RATERS
    item = (number // _RATERS * 3989 + rater * 4001) % _ITEMS
    return pa.table(
        {
            "item_id": _coded(item, [f"item{item:07d}" for item in range(_ITEMS)]),
            "rater_id": _coded(rater, [f"rater{rater:06d}" for rater in range(_RATERS)]),
            "label": _coded(rng.integers(0, 3, rows), ["No", "Yes", "Unsure"]),
            "gender": _coded(rater * 7919 % 3, ["Woman", "Man", "Nonbinary"]),
            "age": _coded(rater * 104729 % 4, ["18-24", "25-34", "35-44", "45-54"]),
        }
    )


def _coded(codes: np.ndarray, values: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), values).cast(pa.string())


def _in_fresh_process(path: Path) -> dict[str, float]:
    """Return the figures of :func:`_measured` from a process that has read nothing before."""
    command = [sys.executable, "-m", "benchmarks.loading", "--file", str(path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"{path.name} could not be read:\n{said.stderr}")
    figures: dict[str, float] = json.loads(said.stdout)
    return figures


def _measured(path: Path) -> dict[str, float]:
    """Return the seconds of each step from file to data set, and the most memory of the process."""
    figures: dict[str, float] = {}

    def timed(what: str, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        done = work()
        figures[f"{what}, s"] = time.perf_counter() - started
        return done

    table = timed("read", lambda: read_table(path))
    guess = timed("recognise", lambda: recognise(table))
    dataset = timed("load", lambda: load(table, None, guess.spec, guess.axes))
    figures["all, s"] = sum(figures.values())
    figures["annotations"] = dataset.summary.annotations
    figures["peak memory, MiB"] = peak_mib()
    return figures


if __name__ == "__main__":
    main()
