"""Simulate error rates, and write docs/validity.md from them: ``python -m benchmarks.study``."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from benchmarks.study.all_cells import all_cells
from benchmarks.study.document import write
from benchmarks.study.run import measured, run
from benchmarks.study.store import of_these_sources

SETS = {"full": 500, "quick": 50}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    parser.add_argument("--scale", choices=SETS, default="full", help="how many data sets")
    parser.add_argument("--folder", type=Path, default=Path(".study"), help="where measurements are kept")
    parser.add_argument("--to", type=Path, default=Path("docs"), help="where validity.md is written")
    chosen = parser.parse_args()
    sets = SETS[chosen.scale]
    cells = all_cells()
    folder = of_these_sources(chosen.folder)
    run(folder, cells, sets)
    write(chosen.to, partial(measured, folder, sets=sets), sets)


if __name__ == "__main__":
    main()
