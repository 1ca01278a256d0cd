"""Forest plots of slices: one group on all items and on those of each value."""

from __future__ import annotations

import altair as alt

from grasp_core.charts.forest import forest_plot, label_forest_plot
from grasp_core.charts.theme import Theme
from grasp_core.groups import Group
from grasp_core.report.slices import by_value
from grasp_core.report.words.names import group_label, one_line
from grasp_core.result import RunResult


def slices_chart(
    result: RunResult, column: str, group: Group, what: tuple[str, bool], theme: Theme = "light"
) -> alt.LayerChart:
    """Values and intervals of one group, a row for all items and one for each value.

    Parameters
    ----------
    result : RunResult
    column : str
        Of one of its slices.
    group : Group
    what : (str, bool)
        A statistic, or a label, and whether it is a label.
    theme : {"light", "dark"}
    """
    found = next(one for one in result.slices if one.column == column)
    view, of = by_value(result, found, group), f"{group_label(group)} by {one_line(column)}"
    name, is_label = what
    if is_label:
        return label_forest_plot(view, name, theme, of=of)
    return forest_plot(view, name, theme, of=of)
