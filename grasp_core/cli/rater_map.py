"""``rater-map``: raters placed by how they agree, and whether that follows an axis."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import rater_map_dict
from grasp_core.cli.options import add_axes, add_fields, add_reading, analysis_fields, given_options
from grasp_core.cli.parser import option
from grasp_core.cli.reading import read, say_data, sort_files
from grasp_core.cli.terminal.messages import VOICE, note
from grasp_core.cli.terminal.output import (
    add_output,
    check_ending,
    check_output,
    tables_markdown,
    write_bytes,
    write_output,
)
from grasp_core.cli.terminal.results import map_tables, say_map
from grasp_core.engine.request.analysis import say_shuffles
from grasp_core.engine.run import checked_groups
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import json_text, listed, printable, quoted
from grasp_core.reading.dataset.load import load
from grasp_core.report import charts
from grasp_core.report.charts.maps import rater_map_chart
from grasp_core.report.rater_map import map_csv

FORMATS = ("json", "csv", "markdown")


def fill_rater_map(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_rater_map)
    add_reading(parser)
    group = parser.add_argument_group("map")
    add_axes(group)
    option(group, "--permutations B", "at most (default: 10,000)", int)
    add_fields(group, AnalysisSpec, "seed", "min_raters", "strata", "cluster", "correction", "level")
    output = parser.add_argument_group("output")
    words = {"csv": "the tables, a row per group", "chart": "the map as .svg, .png or .pdf"}
    add_output(output, FORMATS, "the map, which names no rater,", **words)
    option(
        output,
        "--colour COLUMN[:COLUMN...]",
        "axis or intersection by which the chart is coloured (default: the first)",
        lambda text: tuple(text.split(":")),
    )


def _rater_map(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    if chosen.chart is not None:
        check_ending("--chart", chosen.chart, charts.IMAGES)
        charts.check_can_draw(chosen.chart.suffix[1:].upper())
    sort_files(chosen, "rater-map")
    given = given_options(chosen)
    found = read(given, several=True)
    asked = RunSpec(found.spec, AnalysisSpec(**analysis_fields(given, found)))
    analysis = asked.analysis
    colour = analysis.axes[0] if chosen.colour is None else chosen.colour
    if colour not in analysis.axes:
        known = listed([":".join(names) for names in analysis.axes])
        raise SpecError(f"--colour takes an axis of the map, {known}; found {quoted(':'.join(colour))}")
    dataset = load(found.annotations, found.raters, found.spec, analysis.columns)
    say_data(dataset, found.spec)
    say_shuffles(dataset, checked_groups(dataset, asked), analysis, VOICE)
    made = rater_map(MapTask.of(dataset, analysis))
    makers: dict[str, Callable[[], str]] = {
        "json": lambda: json_text(rater_map_dict(made, asked, dataset.summary.sha256)),
        "csv": lambda: map_csv(made),
        "markdown": lambda: tables_markdown(map_tables(made, analysis.level)),
    }
    write_output(chosen, makers)
    if chosen.chart is not None:
        write_bytes(chosen.chart, charts.IMAGES[chosen.chart.suffix.lower()](rater_map_chart(made, colour)))
    say_map(made, analysis.level)
    for problem in dataset.problems:
        note(printable(problem.message))
