"""``items`` and ``plan``: items behind a group's difference, and a design that finds it next time."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from grasp_core.analysis.items.outcomes import texts_of_items
from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.analysis.planner.simulation import UNLESS_SAID, PlanTask, assumed_task, make_plan
from grasp_core.analysis.planner.values import GOALS, Assumed, Plan, Target, plan_dict
from grasp_core.cli import options
from grasp_core.cli.on_server import run_on_server
from grasp_core.cli.parser import option
from grasp_core.cli.reading import note_other_data, read, recorded_spec, sort_files
from grasp_core.cli.terminal.messages import TERMINAL, clearing, counting_down, note, say, say_list, show_line
from grasp_core.cli.terminal.output import (
    add_output,
    check_ending,
    check_output,
    tables_markdown,
    write_bytes,
    write_chart,
    write_output,
)
from grasp_core.cli.terminal.results import fitted, say_tables
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run import checked_groups
from grasp_core.engine.run_request import say_data
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Group, one_line
from grasp_core.model.json_values import to_json
from grasp_core.model.spec import DEFAULT_PERMUTATIONS, AnalysisSpec, RunSpec
from grasp_core.model.text import json_text, printable, quoted
from grasp_core.notebook.remote import Api
from grasp_core.report.items import MEASURES, in_order, items_csv, items_table, sentences
from grasp_core.report.plan import EXPLANATION, RECRUITMENT, lines_table, recruitment_csv, recruitment_rows
from grasp_core.report.plan import sentences as plan_sentences
from grasp_core.report.tables import texts
from grasp_core.report.writers.spreadsheet import recruitment_xlsx

BESIDE_SPEC = ("annotations", "raters", "items", "group", "question", "out", "format", "csv", "top")
FORMATS = ("json", "csv", "markdown")
_AXES = re.compile(r"(?:^|,)\s*([^=,]+?)\s*=")
TOP = 10


def fill_items(items: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    items.set_defaults(command=_items)
    option(items, "--spec FILE", "the group is one of the run of this spec, or of this result", Path)
    option(items, "--group AXIS=VALUE,...", "whose items, such as race=Black,gender=Woman", required=True)
    options.add_reading(items, items=True)
    analysis = items.add_argument_group("analysis")
    options.add_groups_and_test(analysis)
    options.add_fields(analysis, AnalysisSpec, "level")
    option(items, "--question COLUMN", "of several labels, the one that is looked at")
    output = items.add_argument_group("output")
    option(output, "--top N", f"items shown of each measure (default: {TOP})", int)
    add_output(output, FORMATS, csv="the table, a row per item")


def _items(chosen: argparse.Namespace, api: Api | None = None) -> None:
    check_output(chosen, FORMATS)
    if chosen.top is not None and chosen.top < 0:
        raise SpecError(f"--top is a number of items from 0; found {chosen.top}")
    sort_files(chosen, "items")
    recorded = None
    if chosen.spec is not None:
        found, recorded = recorded_spec(chosen, BESIDE_SPEC)
        run_spec, permutations = recorded.spec, recorded.permutations
    else:
        given = options.given_options(chosen)
        found = read(given, several=True)
        fields = options.analysis_fields(given, found)
        if isinstance(given.get("permutations"), options.AtMost):
            raise SpecError("items are looked at under a number of permutations: write --permutations 10000")
        if not given.keys() & {"axis", "intersect"}:  # by default, the group's own axes
            fields["axes"] = (group_axes(chosen.group),)
        run_spec = RunSpec(found.spec, AnalysisSpec(**{"permutations": DEFAULT_PERMUTATIONS, **fields}))
        permutations = run_spec.analysis.permutations
    found, dataset = found.formed(run_spec.analysis.columns)
    run_spec = replace(run_spec, data=found.spec)
    if recorded is not None:
        note_other_data(recorded, dataset)
    group = named_group(chosen.group, checked_groups(dataset, run_spec).groups)
    question = run_spec.data.question_named(chosen.question, " by --question")
    say_data(dataset, run_spec.data, TERMINAL)
    if api is None:
        asked = ItemsRequest(run_spec, group, permutations, question)
        with closing(Pool(workers.threads)) as pool, counting_down() as show:  # the kernel releases the lock
            result = look_at_items(
                dataset, asked, pool.each, lambda share: show(share, f"{share:.0%} of the permutations")
            )
    else:
        run = run_on_server(api, found, options.given_options(chosen), run_spec).run
        label = run_spec.data.questions[question].label if run_spec.data.further else None
        result = api.items(run, group.by_axis, label)
    told = texts_of_items(found.annotations, run_spec.data)
    top = TOP if chosen.top is None else chosen.top
    tables = {
        measure: items_table(result, measure, in_order(result, measure, "part")[:top], told)
        for measure in MEASURES
    }
    write_output(
        chosen,
        {
            "json": lambda: json_text(result.to_dict()),
            "csv": lambda: items_csv(result),
            "markdown": lambda: tables_markdown({MEASURES[one]: table for one, table in tables.items()}),
        },
    )
    for measure, table in tables.items():
        say(f"\n{MEASURES[measure]}")
        say_list(sentences(result, measure))
        if not table.empty:
            say(f"\n{fitted(table, 1)}")
    for warning in result.warnings:
        note(printable(str(warning)))


def group_axes(text: str) -> AxisSet:
    """Return the axes of ``AXIS=VALUE,AXIS=VALUE``."""
    axes = tuple(_AXES.findall(text))
    if not axes:
        raise SpecError(f"--group is written AXIS=VALUE,AXIS=VALUE; found {quoted(text)}")
    return axes


def named_group(text: str, groups: Iterable[Group]) -> Group:
    """Return the group that ``AXIS=VALUE,AXIS=VALUE`` names, in any order of its axes."""

    def plain(text: str) -> str:
        return re.sub(r"\s*([,=])\s*", r"\1", text.strip())

    names: dict[str, Group] = {}
    shown: list[str] = []
    for group in groups:
        pairs = [f"{axis}={value}" for axis, value in group.by_axis.items()]
        shown.append(printable(",".join(pairs)))
        for order in itertools.permutations(pairs):
            names.setdefault(plain(",".join(order)), group)
    found = names.get(plain(text))
    if found is None:
        more = f" and {len(shown) - 12:,} more" if len(shown) > 12 else ""
        raise SpecError(f"the run has no group {quoted(text)}; there are {'; '.join(shown[:12])}{more}")
    return found


_TABLES: Mapping[str, Callable[[Plan], bytes]] = {
    ".csv": lambda plan: recruitment_csv(plan).encode(),
    ".xlsx": recruitment_xlsx,
}


def fill_plan(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_plan)
    options.add_reading(parser)
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
    options.add_fields(group, AnalysisSpec, "min_raters", "level", "seed")
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


def _plan(chosen: argparse.Namespace, api: Api | None = None) -> None:
    check_output(chosen, FORMATS)
    check_ending("--recruitment", chosen.recruitment, _TABLES)
    if chosen.files:
        sort_files(chosen, "plan")
    task, found = _asked(chosen)
    plan = _planned(task) if api is None else _planned_on_server(chosen, api, task, found)
    tables = {
        "Whom it takes": texts(RECRUITMENT, recruitment_rows(plan)),
        "Items by raters and chance": lines_table(plan),
    }
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
    write_chart(chosen.chart, lambda: _chart(plan))
    say_list(one_line(sentence.plain) for sentence in plan_sentences(plan))
    say_tables(tables)
    say(f"\n{EXPLANATION}")


def _planned(task: PlanTask) -> Plan:
    with closing(Pool(workers.processes)) as pool, counting_down() as show:
        return make_plan(
            task,
            pool.each,
            lambda now: show(now.done / max(now.total, 1), f"{now.done:,} of {now.total:,} data sets"),
        )


def _planned_on_server(chosen: argparse.Namespace, api: Api, task: PlanTask, found: Reading | None) -> Plan:
    """Return a plan that a server makes; a pilot is given by a run of it on the server."""
    asked: dict[str, Any] = {"spec": to_json(task.spec)}
    if found is not None and task.group is not None:
        given, group = options.given_options(chosen), task.group
        fields = {name: given[name] for name in ("min_raters", "level", "seed") if name in given}
        run = run_on_server(
            api, found, given, RunSpec(found.spec, AnalysisSpec(axes=(group.axes,), **fields))
        )
        asked |= {"run": run.run, "group": group.by_axis}
    with clearing():
        return api.plan(asked, show_line)


def _chart(plan: Plan) -> Any:
    from grasp_core.report.charts.plan import plan_chart  # with altair

    return plan_chart(plan)


def _asked(chosen: argparse.Namespace) -> tuple[PlanTask, Reading | None]:
    """Return the plan's task, and the reading of the pilot if there is one."""
    from grasp_core.notebook.plan import pilot_task, plan_spec  # loads figures, which `items` does not need

    given = options.given_options(chosen)
    if "each" in given:
        given["each"] = given["each"] or None
    assumed = {name: given[name] for name in ("labels", "agreement") if name in given}
    if chosen.assume:
        if chosen.annotations is not None or chosen.group is not None:
            raise SpecError("--assume plans without data: leave out --annotations and --group")
        return assumed_task(plan_spec(given, {**UNLESS_SAID, "assumed": Assumed(**assumed)})), None
    if chosen.annotations is None or chosen.group is None:
        raise SpecError("a plan takes a pilot, --annotations and --group, or --assume without data")
    if assumed:
        raise SpecError("--labels and --agreement go with --assume")
    found = read(given)
    axes = group_axes(chosen.group)
    return pilot_task(found, axes, lambda groups: named_group(chosen.group, groups), given, TERMINAL)
