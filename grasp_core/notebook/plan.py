"""``plan``: how many raters of a group, and how many items, find a difference next time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

import altair as alt
import numpy as np
import pandas as pd

from grasp_core.analysis.planner import simulation
from grasp_core.analysis.planner.values import Assumed, Plan, PlanSpec, Target, plan_dict
from grasp_core.engine.frontend import Frontend
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run_request import say_data, say_problems
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Group, form_groups, one_line
from grasp_core.model.spec import Level
from grasp_core.model.text import json_text
from grasp_core.notebook._shown import ProgressBar, Saved, page, shown_table
from grasp_core.notebook.analysis import on
from grasp_core.notebook.data import reading, tables_of
from grasp_core.notebook.options import Python, ReadingOptions, Whole, group_of, takes, texts
from grasp_core.report import plan as words
from grasp_core.report.charts.plan import plan_chart
from grasp_core.report.tables import numbers
from grasp_core.report.writers.spreadsheet import recruitment_xlsx

_FIELDS = {
    "more": "label",
    "range_raters": "raters",
    "range_items": "items",
    "cost_annotation": "per_annotation",
    "cost_rater": "per_rater",
}
"""Options named unlike their fields, because columns of the pilot or its frames have the fields' names."""


class PlanOptions(ReadingOptions, total=False):
    """Options for reading a pilot, and fields of :class:`~grasp_core.analysis.planner.values.PlanSpec`."""

    target: Target | None
    size: float | None
    more: str | None
    goal: float | None
    share: float | None
    each: Whole | None
    cost_annotation: float | None
    cost_rater: float | None
    range_raters: tuple[int, int] | None
    range_items: tuple[int, int] | None
    level: Level | None
    seed: Whole | np.random.Generator | None
    min_raters: Whole | None


@dataclass(frozen=True, slots=True, repr=False)
class Planned(Saved):
    """A plan: the raters and items that find a difference.

    It is saved as ``.json``, or its recruitment table as ``.csv`` or ``.xlsx``.

    Parameters
    ----------
    plan : Plan
        All values, immutable, as in the saved file.
    notes : tuple of str
        How the pilot was read.
    """

    plan: Plan
    notes: tuple[str, ...] = field(default=(), compare=False)

    def answer(self) -> str:
        """Return the cheapest design and its range, a line each."""
        return "\n".join(f"- {one_line(sentence.plain)}" for sentence in words.sentences(self.plan))

    def table(self) -> pd.DataFrame:
        """Return the items that each number of raters needs, by chance of finding the difference.

        Returns
        -------
        DataFrame
            `raters`, `chance`, `items` (NaN outside of the range), `reason` ("over 1400", "under 87").
        """
        return words.lines_numbers(self.plan)

    def recruitment(self) -> pd.DataFrame:
        """Return the raters that the cheapest design needs; no rows if no design of the range is enough.

        Returns
        -------
        DataFrame
            `group`, `have`, `needed`, `recruit`, `annotations`, `cost`.
        """
        return numbers(words.RECRUITMENT, words.recruitment_rows(self.plan))

    def chart(self, *, theme: Any = "light") -> alt.LayerChart:
        """Draw the chances over raters and items, the same figure as on the page."""
        return plan_chart(self.plan, theme)

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {
            ".json": lambda: json_text(plan_dict(self.plan)),
            ".csv": lambda: words.recruitment_csv(self.plan),
            ".xlsx": lambda: recruitment_xlsx(self.plan),
        }

    def _repr_html_(self) -> str:
        table = shown_table(words.lines_table(self.plan), words.EXPLANATION)
        return page(None, words.sentences(self.plan), table, {"How the pilot was read": self.notes})


@takes(PlanOptions)
def plan(
    annotations: Any = None,
    raters: Any = None,
    *,
    group: Mapping[str, object] | None = None,
    assumed: Assumed | None = None,
    progress: bool = True,
    **options: Unpack[PlanOptions],
) -> Planned:
    """Plan how many raters of a group, and how many items, find a difference next time.

    Parameters
    ----------
    annotations, raters : data frame, Table, str or Path, optional
        A pilot, as in :func:`analyse`.
    group : mapping from axis to value, optional
        The pilot's group to plan for, such as ``{"race": "Black"}``.
    assumed : Assumed, optional
        In place of a pilot: the number of labels, and the agreement within a group.
    progress : bool
        Whether to show a progress bar.

    Other Parameters
    ----------------
    target : {"labels", "distance", "gap", "gai", "dsi"}
        Kind of difference to find; by default one in label use.
    size, more
        Size of it: points of the label `more`, else the value of the statistic; by default the pilot's.
    goal, share, each
        Chance of finding it, the group's share of the raters, labels per item (None: one from every rater);
        as in :class:`~grasp_core.analysis.planner.values.PlanSpec`.
    range_raters, range_items
        Fewest and most raters or items to consider.
    cost_annotation, cost_rater
        Costs that decide which design is the cheapest.

    Returns
    -------
    Planned

    Raises
    ------
    UnsureError, DataError, SpecError
        As :func:`analyse`; also if the pilot is too small, or no design is in the range.
    """
    frontend = Python()
    if assumed is not None:
        if annotations is not None or group is not None:
            raise SpecError("a plan takes a pilot or assumed figures, not both")
        task = simulation.assumed_task(plan_spec(options, {**simulation.UNLESS_SAID, "assumed": assumed}))
    elif annotations is None or group is None:
        raise SpecError("a plan takes a pilot's annotations and a group of it, or assumed figures")
    else:
        given = {name: value for name, value in options.items() if name in ReadingOptions.__annotations__}
        found = reading(tables_of(annotations, raters, None, given), given, frontend, axes_named=False)

        def named(groups: Iterable[Group]) -> Group:
            return group_of(group, dict.fromkeys(groups))

        task, _ = pilot_task(found, texts(group), named, options, frontend)
    pool, bar = Pool(workers.threads), ProgressBar("data sets", shown=progress)
    made = on(
        pool, bar, lambda: simulation.make_plan(task, pool.each, lambda one: bar.tell(one.done, one.total))
    )
    return Planned(made, tuple(frontend.notes))


def pilot_task(
    found: Reading,
    axes: AxisSet,
    named: Callable[[Iterable[Group]], Group],
    options: Mapping[str, Any],
    frontend: Frontend,
) -> tuple[simulation.PlanTask, Reading]:
    """Return the planning task for the pilot's group that `named` picks, and how the pilot was read."""
    found, data = found.formed(axes)
    least = options.get("min_raters", 2)
    group = named(form_groups(data.raters, [axes], min_raters=least).groups)
    say_data(data, found.spec, frontend)
    say_problems(data, frontend)
    fields = simulation.suggested(data, group, least)
    return simulation.task_of(data, group, plan_spec(options, fields), min_raters=least), found


def plan_spec(options: Mapping[str, Any], unless_said: Mapping[str, Any]) -> PlanSpec:
    """Return the spec that the options give."""
    return PlanSpec(**{"target": "labels", **unless_said, **given_fields(options)})


def given_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a :class:`PlanSpec` that the options give."""
    own = PlanOptions.__annotations__.keys() - ReadingOptions.__annotations__.keys() - {"min_raters"}
    return {_FIELDS.get(name, name): value for name, value in options.items() if name in own}
