"""``quality``: a report on what the data can and cannot show, before any run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

from grasp_core.cli.on_server import request_for_server_files
from grasp_core.cli.options import add_axes, add_fields, add_reading, axes_given, given_options
from grasp_core.cli.parser import option
from grasp_core.cli.reading import read, sort_files
from grasp_core.cli.terminal.messages import TERMINAL, clearing, counting_down, note, say, say_list, show_line
from grasp_core.cli.terminal.output import add_output, check_output, tables_markdown, write_output
from grasp_core.cli.terminal.results import fitted
from grasp_core.engine.run_request import say_batches, say_data, say_problems, say_shuffles
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import printable_name
from grasp_core.notebook.remote import Api
from grasp_core.permutation.draw import Exchange, exchange_of
from grasp_core.permutation.testing.tail import check_something_moves
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.screens.constant import too_constant
from grasp_core.reading.screens.duplicates import Duplicates, near_duplicates
from grasp_core.reading.screens.random_responders import random_responders
from grasp_core.report import quality as tables
from grasp_core.report.quality import QualityReport, power_of, quality_json, quality_report, report_tables

FORMATS = ("json", "markdown")


def fill_quality(quality: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    quality.set_defaults(command=_quality)
    add_reading(quality)
    looked_at = quality.add_argument_group("quality")
    add_axes(looked_at)
    add_fields(looked_at, AnalysisSpec, "strata", "cluster")
    option(looked_at, "--power", "simulate how large a GAI these raters and items find", default=None)
    option(looked_at, "--show-ids", "print whom the checks of raters mean", default=None)
    add_output(quality.add_argument_group("output"), FORMATS, "the report, which names no rater,")


def _quality(chosen: argparse.Namespace, api: Api | None = None) -> None:
    check_output(chosen, FORMATS)
    if api is not None and (asked := request_for_server_files(chosen, api)) is not None:
        report, notes = _report_of_server(api, asked, chosen)
        for one in notes:
            note(one)
        _tell(chosen, report)
        return
    sort_files(chosen, "quality")
    given = given_options(chosen)
    found = read(given)
    singles, crossed = axes_given({"axis": found.axes, **given})
    shuffled = {"strata": given.get("strata", ()), "cluster": given.get("cluster")}
    analysis = AnalysisSpec(axes=(*singles, *crossed), **shuffled) if singles or crossed else None
    if analysis is None and any(shuffled.values()):
        raise SpecError("--within and --cluster say how groups are shuffled: name an axis with --axis")
    used = () if analysis is None else analysis.columns
    found, dataset = found.formed(used)
    say_data(dataset, found.spec, TERMINAL)
    if chosen.power and analysis is None:
        raise SpecError("--power needs groups: name an axis with --axis")
    if api is not None:
        sent = api.sent(RunSpec(found.spec, analysis or AnalysisSpec(axes=())), found, given)
        _tell(chosen, report := _report_of_server(api, sent, chosen)[0])
    else:
        close = near_duplicates(dataset.annotations)
        exchange = None if analysis is None else _exchange(dataset, analysis)
        report = _looked_at(chosen, dataset, analysis, exchange, close)
        _tell(chosen, report)
        if chosen.show_ids:
            _print_ids(dataset, close)
    say_problems(dataset, TERMINAL)
    say_batches(found, used, dataset, report.warnings, TERMINAL)


def _report_of_server(
    api: Api, asked: Mapping[str, Any], chosen: argparse.Namespace
) -> tuple[QualityReport, tuple[str, ...]]:
    with clearing():
        return api.quality(asked, show_line, power=bool(chosen.power))


def _looked_at(
    chosen: argparse.Namespace,
    dataset: Dataset,
    analysis: AnalysisSpec | None,
    exchange: Exchange | None,
    close: Duplicates,
) -> QualityReport:
    with counting_down() as show:
        power = power_of(
            dataset,
            analysis.axes if chosen.power and analysis is not None else (),
            lambda done, of: show(done / of, f"simulating group {done + 1} of {of}"),
        )
    return quality_report(
        dataset,
        names=None if analysis is None else analysis.tested,
        power=power,
        exchange=exchange,
        duplicates=close.counted,
    )


def _tell(chosen: argparse.Namespace, report: QualityReport) -> None:
    """Write the files that are named, and print the report."""
    write_output(
        chosen,
        {"json": lambda: quality_json(report), "markdown": lambda: tables_markdown(report_tables(report))},
    )
    say_list(tables.findings(report, report.duplicates))
    say(tables.random_sentence(report.random))
    say(tables.duplicates_sentence(report.duplicates))
    for title, table in report_tables(report).items():
        header = list(table.columns) != ["what", "value"]
        say(f"\n{title}\n{fitted(table, 1) if header else table.to_string(index=False, header=False)}")
    for sentence in tables.power_sentences(report.power) if report.power else ():
        say(sentence)
    if report.small and not report.power:
        note("--power simulates how large a difference these raters and items could show")


def _exchange(dataset: Dataset, analysis: AnalysisSpec) -> Exchange:
    """Note how small p can get, and return which raters may exchange their profiles."""
    grouping = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
    check_something_moves(dataset.raters, grouping, analysis)
    say_shuffles(dataset, grouping, analysis, TERMINAL)
    return exchange_of(dataset.raters, analysis)


def _print_ids(dataset: Dataset, close: Duplicates) -> None:
    annotations = dataset.annotations
    names = [printable_name(one) for one in annotations.rater_ids]
    for title, raters in (
        ("Raters at chance", random_responders(annotations).random),
        ("Raters who gave one label always", too_constant(annotations, dataset.raters).named),
    ):
        say("\n".join([f"\n{title}", *(names[rater] for rater in np.flatnonzero(raters))]))
    say("\nNear-duplicates: rater, rater, items in common, equal labels")
    for pair in close.pairs:
        say(f"{names[pair.first]}, {names[pair.second]}, {pair.common:,}, {pair.agreed:,}")
