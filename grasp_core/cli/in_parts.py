"""Runs on a folder of Parquet files that is too large to be read whole, and how such a folder is written."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from grasp_core.cli.terminal.lines import note, show_rows
from grasp_core.connectors.source import is_source
from grasp_core.errors import DataError
from grasp_core.io.archives.containers import MAX_BYTES
from grasp_core.io.parts.partitions import Parts, find_parts, is_folder
from grasp_core.io.parts.repartition import FILE_ROWS, repartition
from grasp_core.wording import number

WHOLE_ROWS = 20_000_000
"""A folder on this machine with more rows is read part by part."""


def add_in_parts(run: argparse.ArgumentParser) -> None:
    """Add the options of a run in parts."""
    group = run.add_argument_group(
        "large data",
        f"a Parquet folder with more than {WHOLE_ROWS:,} rows, or at an address, is read part by part",
    )
    group.add_argument(
        "--in-parts", action="store_true", default=None, help="read any Parquet folder part by part"
    )
    group.add_argument(
        "--scratch",
        metavar="FOLDER",
        help="folder or address for what workers share; all of a cluster have to reach it "
        "(default: a temporary folder; 20 bytes an annotation). A run that was interrupted goes on from "
        "there when it is started again",
    )


def parts_of(source: str, in_parts: bool | None) -> Parts | None:
    """The parts of a folder that is read part by part; None for whatever is read whole."""
    if is_source(source) or not is_folder(source):
        if in_parts:
            raise DataError(
                f"{source} is no folder of Parquet files, which --in-parts needs; name a folder, or leave "
                "--in-parts out"
            )
        return None
    here = "://" not in source
    if here and not in_parts and next(Path(source).rglob("*.parquet"), None) is None:
        return None
    parts = find_parts(source)
    if here and not in_parts and parts.rows <= WHOLE_ROWS and parts.bytes <= MAX_BYTES:
        return None
    note(f"{parts.rows:,} rows are read in {number(len(parts.parts), 'part')}")
    return parts


def fill_partition(command: argparse.ArgumentParser) -> None:
    """Add the command that writes a folder by item."""
    command.set_defaults(command=_partition)
    command.add_argument("source", metavar="FOLDER", help="Parquet files in any order of rows")
    command.add_argument("target", type=Path, metavar="NEW_FOLDER", help="must not exist yet")
    command.add_argument("--item", required=True, metavar="COLUMN")
    command.add_argument(
        "--rows", type=int, default=FILE_ROWS, metavar="N", help="rows per file (default: %(default)s)"
    )


def _partition(chosen: argparse.Namespace) -> None:
    if not is_folder(chosen.source):
        raise DataError(f"{chosen.source} is not a folder of Parquet files; name one")
    if chosen.rows < 1:
        raise DataError(f"--rows must be 1 or more; found {chosen.rows}")
    parts = find_parts(chosen.source, max_rows=sys.maxsize)
    watch = partial(show_rows, total=parts.rows)
    written = repartition(parts, chosen.target, chosen.item, file_rows=chosen.rows, watch=watch)
    print(f"{number(parts.rows, 'row')} in {number(written, 'file')}: {chosen.target}")
