"""``plan``: how many raters of a group, and how many items, find a difference next time."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

from grasp_core.analysis.planner.make import UNLESS_SAID, PlanTask, assumed_task, make_plan
from grasp_core.analysis.planner.values import GOALS, Assumed, Plan, Target, plan_dict
from grasp_core.cli.items import group_axes, named_group
from grasp_core.cli.options import add_fields, add_reading, given_options
from grasp_core.cli.parser import option
from grasp_core.cli.reading import read, say_data, sort_files
from grasp_core.cli.terminal.messages import Countdown, clear_line, note, say
from grasp_core.cli.terminal.output import (
    add_output,
    check_ending,
    check_output,
    tables_markdown,
    write_bytes,
    write_chart,
    write_output,
)
from grasp_core.cli.terminal.results import fitted
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import one_line
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import json_text, printable
from grasp_core.notebook.plan import pilot_task, plan_spec
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.charts.plan import plan_chart
from grasp_core.report.plan import EXPLANATION, lines_table, recruitment_csv, recruitment_table, sentences
from grasp_core.report.writers.spreadsheet import recruitment_xlsx

_TABLES: Mapping[str, Callable[[Plan], bytes]] = {
    ".csv": lambda plan: recruitment_csv(plan).encode(),
    ".xlsx": recruitment_xlsx,
}
FORMATS = ("json", "csv", "markdown")


def fill_plan(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_plan)
    add_reading(parser)
    group = parser.add_argument_group("plan")
    option(group, "--group AXIS=VALUE,...", "of the pilot, such as race=Black")
    option(group, "--assume", "plan without data", default=None)
    option(group, "--labels K", "with --assume: how many labels (2)", int)
    option(group, "--agreement IRR", "with --assume: within a group (0.4)", float)
    option(group, "--target", "default: labels", choices=get_args(Target), default="labels")
    option(
        group,
        "--size X",
        "of the difference: points of a label, else the statistic's value (default: the pilot's)",
        float,
    )
    option(group, "--more LABEL", "the label that points are of")
    option(group, "--goal", "chance (default: 0.8)", float, choices=GOALS, default=0.8)
    option(group, "--share P", "of the raters, those of the group", float)
    option(group, "--each N", "labels an item; 0: one of every rater", int)
    option(group, "--range-raters LOW:HIGH", "in all", _range)
    option(group, "--range-items LOW:HIGH", kind=_range)
    option(group, "--cost-annotation X", "default: 1", float, default=1.0)
    option(group, "--cost-rater X", "to recruit (default: 0)", float, default=0.0)
    add_fields(group, AnalysisSpec, "min_raters", "level", "seed")
    output = parser.add_argument_group("output")
    add_output(output, FORMATS, "the plan, which names no rater,")
    option(output, "--recruitment FILE", "whom it takes, as .csv or .xlsx", Path)
    option(output, "--chart FILE", "the surface as .svg, .png or .pdf", Path)


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"is written LOW:HIGH, such as 20:400; found {text!r}") from None


def _plan(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    check_ending("--recruitment", chosen.recruitment, _TABLES)
    if chosen.files:
        sort_files(chosen, "plan")
    task, pool, countdown = _asked(chosen), Pool(workers.processes), Countdown()
    try:
        plan = make_plan(
            task,
            pool.each,
            lambda now: countdown.show(
                now.done / max(now.total, 1), f"{now.done:,} of {now.total:,} data sets"
            ),
        )
    finally:
        pool.close()
        clear_line()
    tables = {"Whom it takes": recruitment_table(plan), "Items by raters and chance": lines_table(plan)}
    write_output(
        chosen,
        {
            "json": lambda: json_text(plan_dict(plan)),
            "csv": lambda: recruitment_csv(plan),
            "markdown": lambda: tables_markdown(tables),
        },
    )
    if chosen.recruitment is not None:
        write_bytes(chosen.recruitment, _TABLES[chosen.recruitment.suffix.lower()](plan))
    write_chart(chosen.chart, lambda: plan_chart(plan))
    for sentence in sentences(plan):
        say(f"- {printable(one_line(sentence.plain))}")
    for heading, table in tables.items():
        if not table.empty:
            say(f"\n{heading}\n{fitted(table, 1)}")
    say(f"\n{EXPLANATION}")


def _asked(chosen: argparse.Namespace) -> PlanTask:
    given = given_options(chosen)
    if "each" in given:
        given["each"] = given["each"] or None
    assumed = {name: given[name] for name in ("labels", "agreement") if name in given}
    if chosen.assume:
        if chosen.annotations is not None or chosen.group is not None:
            raise SpecError("--assume plans without data: leave out --annotations and --group")
        return assumed_task(plan_spec(given, {**UNLESS_SAID, "assumed": Assumed(**assumed)}))
    if chosen.annotations is None or chosen.group is None:
        raise SpecError("a plan takes a pilot, --annotations and --group, or --assume without data")
    if assumed:
        raise SpecError("--labels and --agreement go with --assume")
    found = read(given)

    def told(data: Dataset) -> None:
        say_data(data, found.spec)
        for problem in data.problems:
            note(printable(problem.message))

    axes = group_axes(chosen.group)
    return pilot_task(found, axes, lambda groups: named_group(chosen.group, groups), given, told)
