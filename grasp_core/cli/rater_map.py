"""``rater-map``: raters placed by how they agree, and whether that follows an axis."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import rater_map_dict
from grasp_core.cli.analysis import add_axes, add_shuffles, analysis_fields
from grasp_core.cli.data.options import add_reading
from grasp_core.cli.data.reading import read, say_data, sort_files
from grasp_core.cli.terminal.messages import VOICE, note
from grasp_core.cli.terminal.output import (
    add_output,
    check_output,
    check_target,
    tables_markdown,
    write_bytes,
    write_output,
    write_text,
)
from grasp_core.cli.terminal.results import map_tables, say_map
from grasp_core.engine.request.analysis import say_shuffles
from grasp_core.engine.run import checked_groups
from grasp_core.model import spec
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import json_text, printable
from grasp_core.model.wording import listed, quoted
from grasp_core.reading.dataset.load import load
from grasp_core.report import charts
from grasp_core.report.charts.rater_map import rater_map_chart
from grasp_core.report.rater_map import map_csv

FORMATS = ("json", "csv", "markdown")


def fill_rater_map(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_rater_map)
    add_reading(parser)
    group = parser.add_argument_group("map")
    add_axes(group)
    group.add_argument("--permutations", type=int, metavar="B", help="at most (default: 10,000)")
    group.add_argument("--seed", type=int)
    group.add_argument("--min-raters", type=int, metavar="N", help="smallest group shown")
    add_shuffles(group)
    group.add_argument("--correction", choices=get_args(spec.Correction))
    group.add_argument("--level", choices=get_args(spec.Level), help="of measurement (default: nominal)")
    output = parser.add_argument_group("output")
    add_output(output, FORMATS, "the map, which names no rater,")
    output.add_argument("--csv", type=Path, metavar="FILE", help="the tables, a row per group")
    output.add_argument("--chart", type=Path, metavar="FILE", help="the map as .svg, .png or .pdf")
    output.add_argument(
        "--colour",
        type=lambda text: tuple(text.split(":")),
        metavar="COLUMN[:COLUMN...]",
        help="axis or intersection by which the chart is coloured (default: the first)",
    )


def _rater_map(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    for target in (chosen.csv, chosen.chart):
        check_target(target)
    if chosen.chart is not None:
        if chosen.chart.suffix not in charts.IMAGES:
            endings = ", ".join(charts.IMAGES)
            raise SpecError(f"--chart takes a file that ends in {endings}; found {chosen.chart.name}")
        charts.check_can_draw(chosen.chart.suffix[1:].upper())
    sort_files(chosen, "rater-map")
    given = {name: value for name, value in vars(chosen).items() if value is not None}
    found = read(given, several=True)
    asked = RunSpec(found.spec, AnalysisSpec(**analysis_fields(given, found)))
    colour = _colour(chosen.colour, asked.analysis)
    dataset = load(found.annotations, found.raters, found.spec, asked.analysis.columns)
    say_data(dataset, found.spec)
    say_shuffles(dataset, checked_groups(dataset, asked), asked.analysis, VOICE)
    made = rater_map(MapTask.of(dataset, asked.analysis))
    makers: dict[str, Callable[[], str]] = {
        "json": lambda: json_text(rater_map_dict(made, asked, dataset.summary.sha256)),
        "csv": lambda: map_csv(made),
        "markdown": lambda: tables_markdown(map_tables(made, asked.analysis.level)),
    }
    write_output(chosen, makers)
    write_text(chosen.csv, map_csv(made))
    if chosen.chart is not None:
        write_bytes(chosen.chart, charts.IMAGES[chosen.chart.suffix](rater_map_chart(made, colour)))
    say_map(made, asked.analysis.level)
    for problem in dataset.problems:
        note(printable(problem.message))


def _colour(asked: AxisSet | None, analysis: AnalysisSpec) -> AxisSet:
    if asked is None:
        return analysis.axes[0]
    if asked not in analysis.axes:
        known = listed([":".join(names) for names in analysis.axes])
        raise SpecError(f"--colour takes an axis of the map, {known}; found {quoted(':'.join(asked))}")
    return asked
