"""The files that ``run`` writes: result, table, and reports of the kind that a file's name says."""

from __future__ import annotations

import argparse
from pathlib import Path

from grasp_core.cli.terminal.lines import note
from grasp_core.cli.terminal.output import check_target, write_bytes, write_text
from grasp_core.engine.pools.pool import Pool
from grasp_core.errors import MissingPackageError, SpecError
from grasp_core.extras import require
from grasp_core.io.dataset.load import Dataset
from grasp_core.rater_map.values import RaterMap
from grasp_core.report.saved import result_json
from grasp_core.report.table_csv import table_csv
from grasp_core.result import RunResult
from grasp_core.spec import AnalysisSpec

_REPORTS = {".html": "html", ".xlsx": "xlsx", ".tex": "latex", ".md": "markdown"}
"""Exports that are reports, by the ends of files' names."""


def add_files(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files."""
    group.add_argument("--out", type=Path, metavar="FILE", help="the result as JSON")
    group.add_argument("--csv", type=Path, metavar="FILE", help="the table, a row per group and statistic")
    group.add_argument(
        "--report",
        action="append",
        type=Path,
        metavar="FILE",
        help=f"all of the result to read, as {', '.join(_REPORTS)}; repeat for several",
    )
    group.add_argument(
        "--rater-map",
        action="store_true",
        default=None,
        help="place the raters by how they agree, too: printed, and part of every report",
    )


def check_files(chosen: argparse.Namespace) -> None:
    """Refuse, before any work, files that cannot be written and reports of no known kind.

    Raises
    ------
    DataError, SpecError
    """
    reports = chosen.report or []
    for target in (chosen.out, chosen.csv, *reports):
        check_target(target)
    for target in reports:
        if target.suffix.lower() not in _REPORTS:
            raise SpecError(f"--report takes a file that ends in {', '.join(_REPORTS)}; found {target.name}")
        if target.suffix.lower() == ".html":
            try:
                require("SVG", "figures")
            except MissingPackageError as error:
                note(f"{target.name} will describe its figures and not draw them: {error}")


def asked_map(chosen: argparse.Namespace, data: Dataset, spec: AnalysisSpec, pool: Pool) -> RaterMap | None:
    """The map of the raters, where it is asked for."""
    if not chosen.rater_map:
        return None
    from grasp_core.rater_map.make import MapTask, rater_map  # with eigenvectors, as above

    return rater_map(MapTask.of(data, spec), pool.each)


def write_files(chosen: argparse.Namespace, result: RunResult, raters: RaterMap | None) -> None:
    """Write every file that was named; `raters` is the map of raters, where it was asked for."""
    if chosen.out is not None:
        write_text(chosen.out, result_json(result))
    if chosen.csv is not None:
        write_text(chosen.csv, table_csv(result))
    if chosen.report:
        from grasp_core.export.registry import EXPORTS  # with figures, which other runs need not load

        for target in chosen.report:
            write_bytes(target, EXPORTS[_REPORTS[target.suffix.lower()]].make(result, raters))
