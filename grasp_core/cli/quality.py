"""``quality``: what the data can and cannot show, before any run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from grasp_core.analysis.power import GroupPower, estimate, power_tasks
from grasp_core.cli.analysis import add_axes, add_shuffles
from grasp_core.cli.data.options import add_reading
from grasp_core.cli.data.reading import read, say_data, sort_files
from grasp_core.cli.terminal.messages import VOICE, Countdown, clear_line, note, say
from grasp_core.cli.terminal.output import add_output, check_output, tables_markdown, write_output
from grasp_core.cli.terminal.results import fitted
from grasp_core.engine.request.analysis import say_batches, say_shuffles
from grasp_core.model.annotations import Annotations
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import printable, printable_name
from grasp_core.permutation.draw import Exchange, exchange_of
from grasp_core.permutation.testing.tail import check_something_moves
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.screens.constant import too_constant
from grasp_core.reading.screens.random_responders import random_responders
from grasp_core.report import quality as tables
from grasp_core.report.quality import (
    QualityReport,
    quality_json,
    quality_report,
    report_tables,
)

FORMATS = ("json", "markdown")


def fill_quality(quality: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    quality.set_defaults(command=_quality)
    add_reading(quality)
    looked_at = quality.add_argument_group("quality")
    add_axes(looked_at)
    add_shuffles(looked_at)
    looked_at.add_argument(
        "--power",
        action="store_true",
        default=None,
        help="simulate how large a GAI these raters and items find",
    )
    looked_at.add_argument(
        "--show-ids", action="store_true", default=None, help="print whom the checks of raters mean"
    )
    add_output(quality.add_argument_group("output"), FORMATS, "the report, which names no rater,")


def _quality(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    sort_files(chosen, "quality")
    given = {name: value for name, value in vars(chosen).items() if value is not None}
    found = read(given)
    singles = tuple((name,) for name in given.get("axis", found.axes))
    crossed = tuple(tuple(names.split(":")) for names in given.get("intersect", ()))
    shuffled = {"strata": given.get("within", ()), "cluster": given.get("cluster")}
    analysis = AnalysisSpec(axes=(*singles, *crossed), **shuffled) if singles or crossed else None
    if analysis is None and any(shuffled.values()):
        raise SpecError("--within and --cluster say how groups are shuffled: name an axis with --axis")
    axes = () if analysis is None else analysis.axes
    dataset = load(found.annotations, found.raters, found.spec, () if analysis is None else analysis.columns)
    say_data(dataset, found.spec)
    power: list[GroupPower] = []
    if chosen.power:
        if not axes:
            raise SpecError("--power needs groups: name an axis with --axis")
        power = _power(dataset, axes)
    report = quality_report(
        dataset,
        names=None if analysis is None else analysis.tested,
        power=power,
        exchange=None if analysis is None else _exchange(dataset, analysis),
    )
    makers: dict[str, Callable[[], str]] = {
        "json": lambda: quality_json(report),
        "markdown": lambda: tables_markdown(report_tables(report)),
    }
    write_output(chosen, makers)
    _print(report)
    if chosen.show_ids:
        _print_ids(report, dataset.annotations)
    for problem in dataset.problems:
        note(problem.message)
    used = () if analysis is None else analysis.columns
    say_batches(found, used, dataset, report.warnings, VOICE)


def _exchange(dataset: Dataset, analysis: AnalysisSpec) -> Exchange:
    """Who may take whose profile, once it is said what that leaves of p."""
    grouping = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
    check_something_moves(dataset.raters, grouping, analysis)
    say_shuffles(dataset, grouping, analysis, VOICE)
    return exchange_of(dataset.raters, analysis)


def _power(dataset: Dataset, axes: Sequence[tuple[str, ...]]) -> list[GroupPower]:
    found = []
    tasks, countdown = power_tasks(dataset.annotations, dataset.raters, axes), Countdown()
    for number, task in enumerate(tasks, start=1):
        countdown.show((number - 1) / len(tasks), f"simulating group {number} of {len(tasks)}")
        found.append(estimate(task))
    clear_line()
    return found


def _print(report: QualityReport) -> None:
    for sentence in tables.findings(report, report.duplicates):
        say(f"- {printable(sentence)}")
    say(tables.random_sentence(report.random))
    say(tables.duplicates_sentence(report.duplicates))
    for title, table in report_tables(report).items():
        _print_table(title, table)
    for sentence in tables.power_sentences(report.power) if report.power else ():
        say(sentence)


def _print_table(title: str, table: pd.DataFrame) -> None:
    header = list(table.columns) != ["what", "value"]
    say(f"\n{title}\n{fitted(table, 1) if header else table.to_string(index=False, header=False)}")


def _print_ids(report: QualityReport, annotations: Annotations) -> None:
    ids = annotations.rater_ids
    say("\nRaters at chance")
    for rater in np.flatnonzero(random_responders(annotations).random):
        say(printable_name(ids[rater]))
    say("\nRaters who gave one label always")
    for rater in np.flatnonzero(too_constant(annotations).named & bool(report.constant.constant)):
        say(printable_name(ids[rater]))
    say("\nNear-duplicates: rater, rater, items in common, equal labels")
    for pair in report.duplicates.pairs:
        names = f"{printable_name(ids[pair.first])}, {printable_name(ids[pair.second])}"
        say(f"{names}, {pair.common:,}, {pair.agreed:,}")
