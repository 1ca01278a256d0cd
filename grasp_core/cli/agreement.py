"""``agreement``, ``raters`` and ``rater-map``: raters' agreement, as a whole, by rater, and on a map."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from grasp_core.analysis.models.labels import read_model_column
from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import RaterMap, rater_map_dict
from grasp_core.cli.on_server import run_on_server
from grasp_core.cli.options import add_axes, add_fields, add_reading, analysis_fields, given_options
from grasp_core.cli.parser import option
from grasp_core.cli.reading import read, sort_files
from grasp_core.cli.terminal.messages import TERMINAL, emphasised, note, say, say_list
from grasp_core.cli.terminal.output import (
    add_output,
    check_output,
    records,
    safe_csv,
    tables_markdown,
    write_chart,
    write_output,
)
from grasp_core.cli.terminal.results import SHOWN, fitted, is_brief, map_tables, say_map, say_tables
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run import agreement_alone, checked_groups
from grasp_core.engine.run_request import levelled, say_data, say_order, say_problems, say_shuffles
from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import SpecError, raise_stopping
from grasp_core.model.groups import AxisSet
from grasp_core.model.json_values import to_json
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import json_text, listed, printable, quoted
from grasp_core.notebook.remote import Api
from grasp_core.reading.dataset.checks import no_column
from grasp_core.reading.dataset.load import Dataset, unused
from grasp_core.report import agreement
from grasp_core.report.everybody import agreement_sentences, agreement_tables, agreement_title, in_one_line
from grasp_core.report.rater_map import map_csv
from grasp_core.report.words.printable import printable_result

FORMATS = ("json", "csv", "markdown")
_PERIODS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
MOST_PERIODS = 24
"""Most periods, if no option names them; the shortest periods within this number are used."""
_NO_AXES: dict[str, tuple[str, ...]] = {"axis": ()}
"""Option that forms no groups, so that no notes on recognised axes are needed."""
_OF_NAMES = (
    "Kappa, AC1 and percent agreement take labels as names; of labels in an order, alpha with --level "
    "tells more."
)


def fill_agreement(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``agreement``."""
    parser.set_defaults(command=_agreement)
    add_reading(parser, items=True)
    group = parser.add_argument_group("agreement")
    add_fields(group, AnalysisSpec, "level")
    option(
        group,
        "--by COLUMN",
        "agreement in each batch, which this column of the annotations or of --items names; repeat for "
        "several",
        action="append",
    )
    option(
        group, "--over COLUMN", "agreement over time: items by the date of their first label in this column"
    )
    option(group, "--every", "with --over (default: as fits the dates)", choices=_PERIODS)
    output = parser.add_argument_group("output")
    add_output(output, FORMATS)
    option(output, "--brief", "print the coefficients alone", action=argparse.BooleanOptionalAction)


def fill_raters(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``raters``."""
    parser.set_defaults(command=_raters)
    add_reading(parser, items=True)
    add_output(
        parser.add_argument_group("output"), ("csv", "json", "markdown"), "the table, which has raters' ids,"
    )


def _agreement(chosen: argparse.Namespace, api: Api | None = None) -> None:
    check_output(chosen, FORMATS)
    sort_files(chosen, "agreement")
    if chosen.every is not None and chosen.over is None:
        raise SpecError("--every goes with --over, which names the column of dates")
    given = given_options(chosen)
    found = read({**given, **_NO_AXES}, several=True)
    slices = tuple(chosen.by or ())
    if chosen.over is not None:
        given.pop("annotations", None)  # a server takes the table with the periods in place of the file
        found, name = _with_periods(found, chosen.over, chosen.every)
        if unused((chosen.over,), found.spec, slices):  # the periods replace it
            found = dataclasses.replace(found, annotations=found.annotations.without({chosen.over}))
        slices = (*slices, name)
    fields: dict[str, Any] = {} if chosen.level is None else {"level": chosen.level}
    found, data = found.formed(slices=slices)
    run_spec = RunSpec(found.spec, AnalysisSpec(axes=(), slices=slices, **fields))
    say_data(data, run_spec.data, TERMINAL)
    if chosen.level is None:
        data, run_spec = levelled(found, data, run_spec, TERMINAL)
    say_order(data, run_spec, TERMINAL)
    if api is None:
        result = agreement_alone(data, run_spec, 0.0)
    else:
        result = cast("RunResult", run_on_server(api, found, given, run_spec).result)
    everybody = result.everybody
    if everybody is None:  # it is refused before
        return
    questions = [str(one.label) for one in run_spec.data.questions]
    frame = agreement.coefficients_frame(data, everybody, questions, run_spec.analysis.level)
    write_output(
        chosen,
        {
            "json": lambda: json_text(
                {
                    "format": "grasp-agreement",
                    "version": 1,
                    "code_version": result.code_version,
                    "data": to_json(result.data),
                    "spec": result.spec.to_dict(),
                    "coefficients": records(frame),
                    "everybody": to_json(everybody),
                }
            ),
            "csv": lambda: safe_csv(frame, "\r\n"),
            "markdown": lambda: tables_markdown(_tables(result, frame, brief=False)),
        },
    )
    _say_agreement(result, frame, brief=is_brief(chosen.brief))
    say_problems(data, TERMINAL)


def _say_agreement(result: RunResult, frame: pd.DataFrame, *, brief: bool) -> None:
    found = result.everybody
    if found is None:
        return
    say(f"\n{emphasised(agreement_title(result).plain)}\n")
    say_list(() if brief else agreement_sentences(found))
    say_list(filter(None, [in_one_line(result)]))
    say_tables(_tables(result, frame, brief=brief))
    reasons = dict.fromkeys(frame.loc[(frame["why"] != "") & (frame["column"] == ""), "why"])
    for reason in reasons:
        say(f"–: {reason}.")
    if not brief:
        say(f"\n{_OF_NAMES}")


def _tables(result: RunResult, frame: pd.DataFrame, *, brief: bool) -> dict[str, pd.DataFrame]:
    """Return all tables by their headings; only the coefficients if `brief`."""
    shown = printable_result(result).everybody
    tables = {"Coefficients": agreement.coefficients_table(frame)}
    if brief or shown is None:
        return tables
    batches = agreement.batches_table(frame).map(lambda cell: printable(str(cell)))
    return {
        **tables,
        **({} if batches.empty else {"By batch": batches}),
        **dict(agreement_tables(dataclasses.replace(shown, batches=(), raters=()))),
    }


def _with_periods(found: Reading, column: str, every: str | None) -> tuple[Reading, str]:
    """Return the files with a new column of each item's period, and that column's name."""
    table, item = found.annotations, found.spec.item
    if column not in table.columns:
        raise_stopping([no_column(column, (table,))])
    if item is None or found.spec.layout == "raters-by-items":
        raise SpecError("--over takes a file with a row per annotation, or per item, and a column of dates")
    times, ids = table.column(column), table.column(item)
    dates = _dates(times.values)[times.codes]
    if np.isnat(dates).all():
        raise SpecError(
            f"--over: {table.name}, column {quoted(column)} holds no dates such as 2026-11-28 or "
            f"2026-11-28T14:05; found {quoted(times.values[0] if times.values else '')}"
        )
    first = np.full(len(ids.values), np.datetime64("NaT", "s"))
    order = np.argsort(dates, kind="stable")[::-1]  # backwards, so that the first date stays; NaT sorts last
    order = order[~np.isnat(dates[order])]
    first[ids.codes[order]] = dates[order]
    named = every or _fitting(first)
    periods = pd.Series(first).dt.strftime(_PERIODS[named]).fillna("")
    name = f"{column} ({named})"
    data = table.data.append_column(name, pa.array(periods.to_numpy()[ids.codes].tolist(), pa.string()))
    table = dataclasses.replace(table, data=data)
    return dataclasses.replace(found, annotations=table), name


def _dates(texts: tuple[str, ...]) -> np.ndarray[Any, np.dtype[np.datetime64]]:
    """Return the moments that distinct texts name, to the second; NaT for a text that is no date.

    Numbers from 10^8 on are seconds, or milliseconds, since 1970; smaller numbers are no dates.
    """
    series = pd.Series(texts, dtype="str")
    numbers = pd.to_numeric(series, errors="coerce")
    if numbers.notna().any():
        seconds = numbers.where(numbers < 1e11, numbers / 1000).where(numbers >= 1e8)
        moments = pd.to_datetime(seconds, unit="s", errors="coerce", utc=True)
    else:
        moments = pd.to_datetime(series, errors="coerce", utc=True, format="mixed")
    return np.asarray(moments.dt.tz_localize(None), dtype="datetime64[s]")


def _fitting(first: np.ndarray[Any, np.dtype[np.datetime64]]) -> str:
    """Return the name of the shortest periods of which there are few enough."""
    known = pd.Series(first[~np.isnat(first)])
    fitting = (name for name, form in _PERIODS.items() if known.dt.strftime(form).nunique() <= MOST_PERIODS)
    return next(fitting, "year")


def _raters(chosen: argparse.Namespace) -> None:
    check_output(chosen, ("csv", "json", "markdown"))
    sort_files(chosen, "raters")
    given = given_options(chosen)
    if chosen.min_gold is None:
        given.pop("gold", None)  # it leaves nobody out
    found = read({**given, **_NO_AXES}, several=True)
    found, data = found.formed()
    say_data(data, found.spec, TERMINAL)
    frame = agreement.raters_frame(data, None if chosen.gold is None else _gold(chosen.gold, found, data))
    write_output(
        chosen,
        {
            "csv": lambda: safe_csv(frame.assign(copies=frame["copies"].map("; ".join)), "\r\n"),
            "json": lambda: json_text({"format": "grasp-raters", "version": 1, "raters": records(frame)}),
            "markdown": lambda: tables_markdown({"Raters": agreement.raters_table(frame)}),
        },
    )
    say(f"\n{fitted(agreement.raters_table(frame.head(SHOWN)), 1)}")
    if len(frame) > SHOWN:
        say(f"... and {len(frame) - SHOWN:,} more: -o raters.csv has all")
    if frame["at_chance"].isna().any() or frame["constant"].isna().any():
        say("?: too few answers, or too few others, to tell.")
    if chosen.gold is None:
        note("--gold names a column of right labels, in the annotations or the items, to compare raters with")


def _gold(column: str, found: Reading, data: Dataset) -> Int64Array:
    """Return the right category of each item, from a column of the annotations or of the items."""
    table, spec = found.annotations, found.spec
    if found.items is not None and column in found.items.columns and column not in table.columns:
        table, spec = found.items, dataclasses.replace(spec, item=spec.items_id)
    return read_model_column(table, column, "gold", data, spec).labels.astype(np.int64)


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


def _rater_map(chosen: argparse.Namespace, api: Api | None = None) -> None:
    check_output(chosen, FORMATS)
    sort_files(chosen, "rater-map")
    given = given_options(chosen)
    found = read(given, several=True)
    analysis = AnalysisSpec(**analysis_fields(given, found))
    colour = analysis.axes[0] if chosen.colour is None else chosen.colour
    if colour not in analysis.axes:
        known = listed([":".join(names) for names in analysis.axes])
        raise SpecError(f"--colour takes an axis of the map, {known}; found {quoted(':'.join(colour))}")
    found, dataset = found.formed(analysis.columns)
    asked = RunSpec(found.spec, analysis)
    say_data(dataset, found.spec, TERMINAL)
    say_shuffles(dataset, checked_groups(dataset, asked), analysis, TERMINAL)
    if api is None:
        made = rater_map(MapTask.of(dataset, analysis))
    else:
        made, _ = api.rater_map(run_on_server(api, found, given, asked).run)
    write_output(
        chosen,
        {
            "json": lambda: json_text(rater_map_dict(made, asked, dataset.summary.sha256)),
            "csv": lambda: map_csv(made),
            "markdown": lambda: tables_markdown(map_tables(made, analysis.level)),
        },
    )
    write_chart(chosen.chart, lambda: _chart(made, colour))
    say_map(made, analysis.level)
    say_problems(dataset, TERMINAL)


def _chart(made: RaterMap, colour: AxisSet) -> Any:
    from grasp_core.report.charts.maps import rater_map_chart  # with altair

    return rater_map_chart(made, colour)
