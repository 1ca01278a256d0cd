"""Slices: each group once more on the items of each value of a column, side by side."""

from __future__ import annotations

from functools import partial

import streamlit as st

from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import LabelUse
from grasp_core.model.result import RunResult, SlicesResult
from grasp_core.model.text import escape_markdown
from grasp_core.report import charts
from grasp_core.report.slices import Found, by_value, slice_sentences, sliced_groups, told_first
from grasp_core.report.tables import ALL_LABELS, label_use_table
from grasp_core.report.words.label_use import format_points
from grasp_core.report.words.names import WORDS, format_p_value, lead_statistic, reported_statistics
from pages._ui.result import cache
from pages._ui.result.figures import page_theme, save_figure
from pages._ui.result.tables import show_groups_table, table_of_groups
from pages._ui.widgets.choices import when_open
from pages._ui.widgets.shown import Shown

_CORRECTED = "q of slices is over all groups and values of the column; that of all items is the run's own."


def has_slices(result: RunResult) -> bool:
    """Whether slices were part of this run."""
    return bool(result.slices)


def is_sliced(result: RunResult, group: Group) -> bool:
    """Whether the group is in some slice."""
    return any(group in sliced_groups(result, found) for found in result.slices)


def show_slices(shown: Shown, group: Group | None = None) -> None:
    """What stands out in which slice, then one group in all of them; with `group` that group alone."""
    result = shown.result
    found = _choose_column(result)
    if found is None:
        return
    for sentence in slice_sentences(result, found, group):
        st.markdown(f"- {sentence.markdown}")
    told = told_first(result, found, group)
    chosen = _choose_group(result, found, told) if group is None else group
    if chosen is None or chosen not in sliced_groups(result, found):
        return
    key = f"slices-measure-{found.column}-{group}"
    labels = list(
        dict.fromkeys(name for row in result.groups if row.label_use for name in row.label_use.labels)
    )
    options = [*((name, False) for name in reported_statistics(result)), *((name, True) for name in labels)]
    first = (lead_statistic(result), False) if told is None else _measure(told)
    what = st.selectbox(
        "What is compared",
        options,
        index=options.index(first) if first in options else 0,
        format_func=lambda one: f"says “{one_line(one[0])}”" if one[1] else WORDS[one[0]].name,
        key=key,
    )
    cache.slices_forest(shown.key, shown.drawn, found.column, chosen, what, page_theme())
    st.caption(_CORRECTED)
    when_open("Slices as a table", partial(_table, result, found, chosen, what), key="slices-table")
    save_figure(
        shown,
        lambda: charts.slices_chart(result, found.column, chosen, what, "light"),
        "slices",
        "chart of these slices",
    )


def _choose_column(result: RunResult) -> SlicesResult | None:
    """The column whose slices are shown; there is no choice of one."""
    if len(result.slices) < 2:
        return next(iter(result.slices), None)
    columns = [found.column for found in result.slices]
    chosen = st.segmented_control(
        "Sliced by",
        range(len(columns)),
        default=0,
        required=True,
        format_func=lambda place: escape_markdown(one_line(columns[place])),
        key="slices-column",
    )
    return result.slices[chosen]


def _choose_group(result: RunResult, found: SlicesResult, told: Found | None) -> Group | None:
    """One of the groups; at first the one that is told of first."""
    groups = sliced_groups(result, found)
    if not groups:
        return None
    names = group_labels(groups)
    return st.selectbox(
        "Group",
        groups,
        index=0 if told is None else groups.index(told.row.group),
        format_func=lambda group: f"{names[groups.index(group)]} ({axis_label(group.axes)})",
        key=f"slices-group-{found.column}",
    )


def _measure(told: Found) -> tuple[str, bool]:
    if isinstance(told.test, LabelUse):
        return told.test.most or "", True
    return told.statistic, False


def _table(result: RunResult, found: SlicesResult, group: Group, what: tuple[str, bool]) -> None:
    name, is_label = what
    view = by_value(result, found, group)
    alt_text = f"{group_label(group)} on the items of each value"
    if not is_label:
        frame = table_of_groups(view, order="axis", statistics=[name])
        show_groups_table(frame, [name], page_theme(), result.permutations, p=True, alt=alt_text)
        return
    table = label_use_table(view)
    shown = table[table["label"] == name][["group", "raters", "shift", "low", "high", "p"]]
    shown["q"] = table[table["label"] == ALL_LABELS]["q"].to_numpy()  # of the same groups
    points = {head: shown[head].map(format_points) for head in ("shift", "low", "high")}
    tests = {
        head: shown[head].map(partial(format_p_value, permutations=result.permutations))
        for head in ("p", "q")
    }
    heads = {"group": "Items", "raters": "Raters", "shift": "Points", "low": "From", "high": "To"}
    st.dataframe(
        shown.assign(**points, **tests).rename(columns={**heads, "q": "q of all labels"}),
        hide_index=True,
        height="content",
        alt=alt_text,
    )
