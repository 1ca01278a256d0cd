"""``items``: which items carry one group's distance and label use."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterable
from pathlib import Path

from grasp_core.analysis.items.outcomes import texts_of_items
from grasp_core.analysis.items.panel import ItemsAsked, look_at_items
from grasp_core.cli.options import (
    AtMost,
    add_fields,
    add_groups_and_test,
    add_reading,
    analysis_fields,
    given_options,
)
from grasp_core.cli.parser import option
from grasp_core.cli.reading import note_other_data, read, recorded_spec, say_data, sort_files
from grasp_core.cli.terminal.messages import Countdown, clear_line, note, say
from grasp_core.cli.terminal.output import add_output, check_output, tables_markdown, write_output
from grasp_core.cli.terminal.results import fitted
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.run import checked_groups
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.spec import DEFAULT_PERMUTATIONS, AnalysisSpec, RunSpec
from grasp_core.model.text import json_text, printable, quoted
from grasp_core.reading.dataset.load import load
from grasp_core.report.items import MEASURES, in_order, items_csv, items_table, sentences

BESIDE_SPEC = ("annotations", "raters", "items", "group", "question", "out", "format", "csv", "top")
FORMATS = ("json", "csv", "markdown")
_AXES = re.compile(r"(?:^|,)\s*([^=,]+?)\s*=")
TOP = 10


def fill_items(items: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    items.set_defaults(command=_items)
    option(items, "--spec FILE", "the group is one of the run of this spec, or of this result", Path)
    option(items, "--group AXIS=VALUE,...", "whose items, such as race=Black,gender=Woman", required=True)
    add_reading(items, items=True)
    analysis = items.add_argument_group("analysis")
    add_groups_and_test(analysis)
    add_fields(analysis, AnalysisSpec, "level")
    option(items, "--question COLUMN", "of several labels, the one that is looked at")
    output = items.add_argument_group("output")
    option(output, "--top N", f"items shown of each measure (default: {TOP})", int)
    add_output(output, FORMATS, csv="the table, a row per item")


def _items(chosen: argparse.Namespace) -> None:
    check_output(chosen, FORMATS)
    if chosen.top is not None and chosen.top < 0:
        raise SpecError(f"--top is a number of items from 0; found {chosen.top}")
    sort_files(chosen, "items")
    recorded = None
    if chosen.spec is not None:
        found, recorded = recorded_spec(chosen, BESIDE_SPEC)
        run_spec, permutations = recorded.spec, recorded.permutations
    else:
        given = given_options(chosen)
        found = read(given, several=True)
        fields = analysis_fields(given, found)
        if isinstance(given.get("permutations"), AtMost):
            raise SpecError("items are looked at under a number of permutations: write --permutations 10000")
        if not given.keys() & {"axis", "intersect"}:  # the group's own
            fields["axes"] = (group_axes(chosen.group),)
        run_spec = RunSpec(found.spec, AnalysisSpec(**{"permutations": DEFAULT_PERMUTATIONS, **fields}))
        permutations = run_spec.analysis.permutations
    axes = run_spec.analysis.columns
    dataset = load(found.annotations, found.raters, run_spec.data, axes, items=found.items)
    if recorded is not None:
        note_other_data(recorded, dataset)
    group = named_group(chosen.group, checked_groups(dataset, run_spec).groups)
    question = _question(chosen.question, run_spec)
    say_data(dataset, run_spec.data)
    pool, countdown = Pool(workers.threads), Countdown()  # the kernel releases the interpreter's lock
    try:
        result = look_at_items(
            dataset,
            ItemsAsked(run_spec, group, permutations, question),
            pool.each,
            lambda share: countdown.show(share, f"{share:.0%} of the permutations"),
        )
    finally:
        pool.close()
        clear_line()
    texts = texts_of_items(found.annotations, run_spec.data)
    top = TOP if chosen.top is None else chosen.top
    tables = {
        measure: items_table(result, measure, in_order(result, measure, "part")[:top], texts)
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
        for sentence in sentences(result, measure):
            say(f"- {printable(sentence.plain)}")
        if not table.empty:
            say(f"\n{fitted(table, 1)}")
    for warning in result.warnings:
        note(printable(str(warning)))


def group_axes(text: str) -> AxisSet:
    """The axes of ``AXIS=VALUE,AXIS=VALUE``."""
    axes = tuple(_AXES.findall(text))
    if not axes:
        raise SpecError(f"--group is written AXIS=VALUE,AXIS=VALUE; found {quoted(text)}")
    return axes


def named_group(text: str, groups: Iterable[Group]) -> Group:
    """The group that ``AXIS=VALUE,AXIS=VALUE`` names, in any order of its axes."""

    def plain(text: str) -> str:
        return re.sub(r"\s*([,=])\s*", r"\1", text.strip())

    names: dict[str, Group] = {}
    shown: list[str] = []
    for group in groups:
        pairs = [f"{axis}={value}" for axis, value in zip(group.axes, group.values, strict=True)]
        shown.append(printable(",".join(pairs)))
        for order in itertools.permutations(pairs):
            names.setdefault(plain(",".join(order)), group)
    found = names.get(plain(text))
    if found is None:
        more = f" and {len(shown) - 12:,} more" if len(shown) > 12 else ""
        raise SpecError(f"the run has no group {quoted(text)}; there are {'; '.join(shown[:12])}{more}")
    return found


def _question(named: str | None, run_spec: RunSpec) -> int:
    labels = [str(question.label) for question in run_spec.data.questions]
    if named is None and len(labels) == 1:
        return 0
    if named not in labels:
        asked = "name one of them" if named is None else f"there is no {quoted(named)}"
        raise SpecError(f"items are looked at by one question; --question: {asked} of {', '.join(labels)}")
    return labels.index(named)
