"""The study's measurements, in parallel on all cores, each stored once it is complete."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.study import all_cells
from benchmarks.study.cells import Cell
from benchmarks.study.measure import Measured, joined, measure
from benchmarks.study.store import keep, kept, path
from grasp_core.engine.pools.workers import available_cores

AT_A_TIME = 50
"""Data sets stored together: no more are lost when the study is interrupted."""


def run(folder: Path, cells: Sequence[Cell], sets: int) -> None:
    """Measure everything not stored yet: so many data sets of each cell, times its weight."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(cell, start) for cell in cells for start in starts(cell, sets)]
    left = [(cell, start) for cell, start in wanted if not path(folder, cell, start).exists()]
    print(f"{len(wanted):,} pieces of {AT_A_TIME} data sets, {len(left):,} to measure", flush=True)
    started = told = time.monotonic()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(available_cores(), mp_context=spawn) as pool:
        pieces = [pool.submit(_piece, folder, cell.section, cell.name, start) for cell, start in left]
        for done, piece in enumerate(as_completed(pieces), 1):
            piece.result()
            if (now := time.monotonic()) - told > 60:
                told = now
                minutes = (now - started) / done * (len(left) - done) / 60
                print(f"{done:,} of {len(left):,}; about {minutes:.0f} minutes left", flush=True)


def starts(cell: Cell, sets: int) -> range:
    """Return the first seeds of a cell's pieces."""
    return range(0, round(sets * cell.weight), AT_A_TIME)


def measured(folder: Path, cell: Cell, sets: int) -> Measured:
    """Return the stored measurements of a cell's first so many data sets."""
    return joined([kept(path(folder, cell, start)) for start in starts(cell, sets)])


def _piece(folder: Path, section: str, name: str, start: int) -> None:
    (cell,) = (one for one in all_cells.all_cells() if (one.section, one.name) == (section, name))
    keep(path(folder, cell, start), measure(cell, range(start, start + AT_A_TIME)))
