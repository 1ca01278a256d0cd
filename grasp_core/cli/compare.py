"""``compare``: two results held against each other."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from grasp_core.cli.parser import option
from grasp_core.cli.terminal.messages import say
from grasp_core.cli.terminal.output import (
    add_output,
    check_output,
    records,
    safe_csv,
    tables_markdown,
    write_output,
)
from grasp_core.cli.terminal.results import in_width
from grasp_core.model.text import json_text, printable
from grasp_core.notebook.opening import compare
from grasp_core.report.comparison import changes_table

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
    option(parser, "--csv FILE", "the same as CSV", Path)


def _compare(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    found = compare(Path(chosen.one), Path(chosen.other))
    say("\n" + "\n".join(map(printable, found.answer().split("\n"))))
    for title, table in (
        ("What was asked differently", found.asked()),
        ("How the data differ", found.data()),
    ):
        if not table.empty:
            say(f"\n{title}\n{_printed(table.rename(columns={'what': '', 'a': 'A', 'b': 'B'}))}")
    moved = changes_table(one for one in found.comparison.changes if one.beyond_noise)
    if moved.empty:
        say("\nNothing moved further than noise explains, and no mark changed.")
    else:
        shown = moved[[name for name in _HEADS if name in moved]].rename(columns=_HEADS)
        say(f"\nMoved further than noise explains, or marked otherwise\n{_printed(shown, names=3)}")
    frames = [frame for frame in (found.table(), found.pairs(), found.slices()) if not frame.empty]
    every = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    first = [name for name in ("slice", "pair", "group") if name in every]
    every = every[[*first, *(name for name in every if name not in first)]]
    write_output(
        chosen,
        {
            "csv": lambda: "" if every.empty else safe_csv(every),
            "json": lambda: json_text(records(every)),
            "markdown": lambda: tables_markdown({"Moved": moved}),
        },
    )


def _printed(table: pd.DataFrame, names: int = 1) -> str:
    return in_width(table.map(lambda cell: printable(str(cell))), names)
