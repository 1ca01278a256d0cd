"""``compare``: two results held against each other."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.cli.terminal.told import in_width
from grasp_core.model.text import printable, safe_cell
from grasp_core.notebook.comparing import Compared, compare

_HEADS = {
    "group": "Group",
    "axis": "Axis",
    "model": "Model",
    "statistic": "Statistic",
    "a": "A",
    "b": "B",
    "moved_interval": "95 % interval of B − A",
}


def fill_compare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_compare)
    parser.add_argument("one", metavar="A", help="a result that `run --out` or the page wrote as JSON")
    parser.add_argument("other", metavar="B", help="the result that is held against it")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="every value of both, pairs and slices too")


def _compare(chosen: argparse.Namespace) -> None:
    check_target(chosen.csv)
    found = compare(Path(chosen.one), Path(chosen.other))
    print(f"\n{_safe(found.answer())}")
    for title, table in (
        ("What was asked differently", found.asked()),
        ("How the data differ", found.data()),
    ):
        if not table.empty:
            print(f"\n{title}\n{_printed(table.rename(columns={'what': '', 'a': 'A', 'b': 'B'}))}")
    moved = found.moved()
    if not moved.empty:
        shown = moved[[name for name in _HEADS if name in moved]].rename(columns=_HEADS)
        print(f"\nMoved further than noise explains, or marked otherwise\n{_printed(shown, names=3)}")
    write_text(chosen.csv, _csv(found))


def _printed(table: pd.DataFrame, names: int = 1) -> str:
    return in_width(table.map(lambda cell: printable(str(cell))), names)


def _safe(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def _csv(found: Compared) -> str:
    """All rows, behind what they are of: a group, a pair or a slice."""
    frames = [frame for frame in (found.table(), found.pairs(), found.slices()) if not frame.empty]
    if not frames:
        return ""
    every = pd.concat(frames, ignore_index=True)
    first = [name for name in ("slice", "pair", "group") if name in every]
    every = every[[*first, *(name for name in every if name not in first)]]
    return every.map(lambda cell: safe_cell(cell) if isinstance(cell, str) else cell).to_csv(index=False)
