"""``plan``: how many raters of a group, and how many items, find a difference next time."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from grasp_core.analysis.planner.make import UNLESS_SAID, PlanTask, assumed_task, make_plan, task_of, usual
from grasp_core.analysis.planner.values import GOALS, Assumed, Plan, PlanSpec, Target, plan_dict
from grasp_core.cli.data.options import add_reading
from grasp_core.cli.data.reading import read, say_data, sort_files
from grasp_core.cli.items import group_axes, named_group
from grasp_core.cli.terminal.messages import Countdown, clear_line, note, say
from grasp_core.cli.terminal.output import (
    add_output,
    check_output,
    check_target,
    tables_markdown,
    write_bytes,
    write_output,
)
from grasp_core.cli.terminal.results import fitted
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.model import spec
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups, one_line
from grasp_core.model.text import json_text, printable
from grasp_core.reading.dataset.load import load
from grasp_core.report import charts
from grasp_core.report.charts.plan import plan_chart
from grasp_core.report.plan import (
    EXPLANATION,
    lines_table,
    recruitment_csv,
    recruitment_table,
    sentences,
)
from grasp_core.report.writers.plan import recruitment_xlsx

_TABLES: Mapping[str, Callable[[Plan], bytes]] = {
    ".csv": lambda plan: recruitment_csv(plan).encode(),
    ".xlsx": recruitment_xlsx,
}


FORMATS = ("json", "csv", "markdown")


def fill_plan(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_plan)
    add_reading(parser)
    _add_question(parser.add_argument_group("plan"))
    output = parser.add_argument_group("output")
    add_output(output, FORMATS, "the plan, which names no rater,")
    output.add_argument("--recruitment", type=Path, metavar="FILE", help="whom it takes, as .csv or .xlsx")
    output.add_argument("--chart", type=Path, metavar="FILE", help="the surface as .svg, .png or .pdf")


def _add_question(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--group", metavar="AXIS=VALUE,...", help="of the pilot, such as race=Black")
    group.add_argument("--assume", action="store_true", default=None, help="plan without data")
    group.add_argument("--labels", type=int, metavar="K", help="with --assume: how many labels (2)")
    group.add_argument("--agreement", type=float, metavar="IRR", help="with --assume: within a group (0.4)")
    group.add_argument("--target", choices=get_args(Target), default="labels", help="default: labels")
    group.add_argument(
        "--size",
        type=float,
        metavar="X",
        help="of the difference: points of a label, else the statistic's value (default: the pilot's)",
    )
    group.add_argument("--more", metavar="LABEL", help="the label that points are of")
    group.add_argument("--goal", type=float, choices=GOALS, default=0.8, help="chance (default: 0.8)")
    group.add_argument("--share", type=float, metavar="P", help="of the raters, those of the group")
    group.add_argument("--each", type=int, metavar="N", help="labels an item; 0: one of every rater")
    group.add_argument("--range-raters", type=_range, metavar="LOW:HIGH", help="in all")
    group.add_argument("--range-items", type=_range, metavar="LOW:HIGH")
    group.add_argument("--cost-annotation", type=float, metavar="X", default=1.0, help="default: 1")
    group.add_argument("--cost-rater", type=float, metavar="X", default=0.0, help="to recruit (default: 0)")
    group.add_argument("--min-raters", type=int, metavar="N", default=2, help="smallest group shown")
    group.add_argument("--level", choices=get_args(spec.Level), help="of measurement (default: nominal)")
    group.add_argument("--seed", type=int)


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"is written LOW:HIGH, such as 20:400; found {text!r}") from None


def _plan(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    for target in (chosen.recruitment, chosen.chart):
        check_target(target)
    _check_ending("--recruitment", chosen.recruitment, _TABLES)
    _check_ending("--chart", chosen.chart, charts.IMAGES)
    if chosen.chart is not None:
        charts.check_can_draw(chosen.chart.suffix[1:].upper())
    if chosen.files:
        sort_files(chosen, "plan")
    task = _assumed(chosen) if chosen.assume else _from_pilot(chosen)
    plan = _made(task)
    makers: dict[str, Callable[[], str]] = {
        "json": lambda: json_text(plan_dict(plan)),
        "csv": lambda: recruitment_csv(plan),
        "markdown": lambda: tables_markdown(_tables(plan)),
    }
    write_output(chosen, makers)
    if chosen.recruitment is not None:
        write_bytes(chosen.recruitment, _TABLES[chosen.recruitment.suffix](plan))
    if chosen.chart is not None:
        write_bytes(chosen.chart, charts.IMAGES[chosen.chart.suffix](plan_chart(plan)))
    _print(plan)


def _check_ending(option: str, path: Path | None, known: Mapping[str, Any]) -> None:
    if path is not None and path.suffix not in known:
        raise SpecError(f"{option} takes a file that ends in {', '.join(known)}; found {path.name}")


def _asked(chosen: argparse.Namespace, usual_fields: Mapping[str, Any]) -> PlanSpec:
    fields: dict[str, Any] = {
        **usual_fields,
        "target": chosen.target,
        "size": chosen.size,
        "label": chosen.more,
        "goal": chosen.goal,
        "per_annotation": chosen.cost_annotation,
        "per_rater": chosen.cost_rater,
    }
    given = {
        "share": chosen.share,
        "raters": chosen.range_raters,
        "items": chosen.range_items,
        "level": chosen.level,
        "seed": chosen.seed,
    }
    fields |= {name: value for name, value in given.items() if value is not None}
    if chosen.each is not None:
        fields["each"] = chosen.each or None
    return PlanSpec(**fields)


def _assumed(chosen: argparse.Namespace) -> PlanTask:
    if chosen.annotations is not None or chosen.group is not None:
        raise SpecError("--assume plans without data: leave out --annotations and --group")
    given = {"labels": chosen.labels, "agreement": chosen.agreement}
    assumed = Assumed(**{name: value for name, value in given.items() if value is not None})
    return assumed_task(_asked(chosen, {**UNLESS_SAID, "assumed": assumed}))


def _from_pilot(chosen: argparse.Namespace) -> PlanTask:
    if chosen.annotations is None or chosen.group is None:
        raise SpecError("a plan takes a pilot, --annotations and --group, or --assume without data")
    if chosen.labels is not None or chosen.agreement is not None:
        raise SpecError("--labels and --agreement go with --assume")
    found = read({name: value for name, value in vars(chosen).items() if value is not None})
    axes = group_axes(chosen.group)
    dataset = load(found.annotations, found.raters, found.spec, axes)
    grouping = form_groups(dataset.raters, [axes], min_raters=chosen.min_raters)
    group = named_group(chosen.group, grouping.groups)
    say_data(dataset, found.spec)
    for problem in dataset.problems:
        note(printable(problem.message))
    g, annotations = grouping.groups.index(group), dataset.annotations
    known = int(grouping.known[grouping.known_of[g]].sum())
    pilot = int(grouping.n_raters[g]), known, annotations.n_items, annotations.n_annotations
    asked = _asked(chosen, usual(*pilot))
    return task_of(dataset, group, asked, min_raters=chosen.min_raters)


def _made(task: PlanTask) -> Plan:
    pool, countdown = Pool(workers.processes), Countdown()

    def tell(plan: Plan) -> None:
        countdown.show(plan.done / max(plan.total, 1), f"{plan.done:,} of {plan.total:,} data sets")

    try:
        return make_plan(task, pool.each, tell)
    finally:
        pool.close()
        clear_line()


def _tables(plan: Plan) -> dict[str, pd.DataFrame]:
    return {"Whom it takes": recruitment_table(plan), "Items by raters and chance": lines_table(plan)}


def _print(plan: Plan) -> None:
    for sentence in sentences(plan):
        say(f"- {printable(one_line(sentence.plain))}")
    for heading, table in _tables(plan).items():
        if not table.empty:
            say(f"\n{heading}\n{fitted(table, 1)}")
    say(f"\n{EXPLANATION}")
