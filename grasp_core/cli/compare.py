"""``compare``: two results held against each other."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from grasp_core.cli.terminal.messages import say
from grasp_core.cli.terminal.output import (
    add_output,
    check_output,
    check_target,
    records,
    safe_cells,
    tables_markdown,
    write_output,
    write_text,
)
from grasp_core.cli.terminal.results import in_width
from grasp_core.model.text import json_text, printable
from grasp_core.notebook.comparing import Compared, compare
from grasp_core.report.comparison.changes import changes_table

FORMATS = ("csv", "json", "markdown")
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
    add_output(parser.add_argument_group("output"), FORMATS, "every value of both, pairs and slices too,")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="the same as CSV")


def _compare(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    check_target(chosen.csv)
    found = compare(Path(chosen.one), Path(chosen.other))
    say(f"\n{_safe(found.answer())}")
    for title, table in (
        ("What was asked differently", found.asked()),
        ("How the data differ", found.data()),
    ):
        if not table.empty:
            say(f"\n{title}\n{_printed(table.rename(columns={'what': '', 'a': 'A', 'b': 'B'}))}")
    moved = changes_table(one for one in found.comparison.changes if one.beyond_noise)
    if not moved.empty:
        shown = moved[[name for name in _HEADS if name in moved]].rename(columns=_HEADS)
        say(f"\nMoved further than noise explains, or marked otherwise\n{_printed(shown, names=3)}")
    else:
        say("\nNothing moved further than noise explains, and no mark changed.")
    makers: dict[str, Callable[[], str]] = {
        "csv": lambda: _csv(found),
        "json": lambda: json_text(records(_every(found))),
        "markdown": lambda: tables_markdown({"Moved": moved}),
    }
    write_output(chosen, makers)
    write_text(chosen.csv, _csv(found))


def _printed(table: pd.DataFrame, names: int = 1) -> str:
    return in_width(table.map(lambda cell: printable(str(cell))), names)


def _safe(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def _every(found: Compared) -> pd.DataFrame:
    """All rows, behind what they are of: a group, a pair or a slice."""
    frames = [frame for frame in (found.table(), found.pairs(), found.slices()) if not frame.empty]
    if not frames:
        return pd.DataFrame()
    every = pd.concat(frames, ignore_index=True)
    first = [name for name in ("slice", "pair", "group") if name in every]
    return every[[*first, *(name for name in every if name not in first)]]


def _csv(found: Compared) -> str:
    every = _every(found)
    if every.empty:
        return ""
    return safe_cells(every).to_csv(index=False)
