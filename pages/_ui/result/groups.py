"""Groups in numbers: all of them as tables and charts, or everything that was found of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from grasp_core.model.groups import axis_label
from grasp_core.model.outcome import LabelUse, Significance
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import escape_markdown, number
from grasp_core.report import slices
from grasp_core.report.account import least_of
from grasp_core.report.charts.bars import dsi_chart, label_use_chart
from grasp_core.report.charts.groups import forest_plot, label_forest_plot
from grasp_core.report.charts.histograms import group_histograms, null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.theme import Theme
from grasp_core.report.contents import marks_legend
from grasp_core.report.document import means_in_numbers
from grasp_core.report.findings.advice import doubted
from grasp_core.report.findings.findings import evidence, named_groups
from grasp_core.report.findings.sentences import axes_to_watch, verdict_sentence
from grasp_core.report.tables import RowOrder, cell_text, with_label_use
from grasp_core.report.words import names as words
from grasp_core.report.words.label_use import format_points_interval, mean_words
from grasp_core.report.words.names import WORDS, format_p_value, lead_statistic, reported_statistics
from grasp_core.report.writers.registry import safe_name
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.widgets import Shown
from pages._ui.result import cache
from pages._ui.result.answers import has_items, has_rater_map, show_items, show_rater_map
from pages._ui.result.comparisons import show_pairs, show_slices

Chart = Callable[[RunResult, Theme], alt.LayerChart]
_PER_PAGE = {"persist_state": "page"}


def _figure(
    shown: Shown, what: str, make: Chart, table: Callable[[], object], named: tuple[str, str, str, str]
) -> None:
    """A chart with its numbers; `named`: the table's label and key, the file and what a menu calls it."""
    label, key, file, called = named
    cache.chart(shown.key, what, shown.drawn, make)
    ui.when_open(label, table, key=key)
    ui.save_figure(shown, lambda: make(shown.result, "light"), file, called)


def _show_null_histograms(shown: Shown, order: RowOrder) -> None:
    """One statistic of all groups, against random groupings or with its intervals."""
    result = shown.result
    reported = reported_statistics(result)
    names, first = {name: WORDS[name].name for name in reported}, reported.index(lead_statistic(result))
    statistic = ui.pick("Statistic", names, index=first, key="null-statistic", **_PER_PAGE)
    st.caption(WORDS[statistic].explanation)
    ways = ("Random groupings", "Intervals")
    as_forest = ui.switch("Drawn with", ways, key="null-way", **_PER_PAGE) == "Intervals"
    page = ui.choose_page(result, "null-page")
    chart = forest_plot if as_forest else null_histograms

    def draw(drawn: RunResult, theme: Theme) -> alt.LayerChart:
        return chart(drawn, statistic, theme, order, page=page)

    cache.chart(shown.key, f"{chart.__name__} {statistic} {order} {page}", shown.drawn, draw)
    kind, called = ("forest", "intervals") if as_forest else ("null", "histograms")
    file, what = f"{kind}-{statistic.replace('_', '-')}", f"{names[statistic]} {called}"
    ui.save_figure(shown, lambda: chart(result, statistic, "light", order), file, what)


_SIDE_BY_SIDE = 8
"""Labels from which they are chosen from a list."""


def _show_labels(shown: Shown) -> None:
    result = shown.result
    st.header("Who says what more often")
    st.caption(words.LABEL_USE_EXPLANATION)
    cache.show_label_table(result, ui.page_theme())
    st.caption("p and q: of all labels of a group together, by the one that lies furthest from chance.")
    show_means(result)
    st.header("One label in every group")
    label, page = _choose_label(result), ui.choose_page(result, "label-page")

    def draw(drawn: RunResult, theme: Theme) -> alt.LayerChart:
        return label_forest_plot(drawn, label, theme, page=page)

    cache.chart(shown.key, f"label forest {label} {page}", shown.drawn, draw)
    what = "chart of this label"
    ui.save_figure(shown, lambda: label_forest_plot(result, label, "light"), "label-use", what)


def show_means(result: RunResult) -> None:
    """How far each group's mean is shifted, where labels are ordered or numbers."""
    means = means_in_numbers(result)
    if means.empty or result.provisional:
        return
    st.header("Whose labels lie higher")
    st.caption(f"{words.MEAN_SHIFT_EXPLANATION} p is of this group alone, not corrected.")
    ui.show_table(means, "Shift of the mean of every group", height="content")


def _choose_label(result: RunResult) -> str:
    """The label that most marked groups differ in, at first."""
    uses = [use for _, use in with_label_use(result)]
    labels = list(dict.fromkeys(label for use in uses for label in use.labels))
    most = [use.most for use in uses if use.significance == "corrected" and use.most is not None]
    first = max(labels, key=lambda label: (most.count(label), -labels.index(label)))
    looks = {"key": "one-label", **_PER_PAGE}
    if len(labels) <= _SIDE_BY_SIDE:
        return str(ui.switch("Label", labels, default=first, format_func=escape_markdown, **looks))
    return str(st.selectbox("Label", labels, index=labels.index(first), **looks))


_MARKED: Mapping[str, tuple[Significance, ...]] = {
    "All groups": (),
    "Marked, even where it may be luck": ("nominal", "corrected"),
    "Marked after correction": ("corrected",),
}


def show_groups(shown: Shown, *, at_once: bool = False) -> None:
    """Table, histograms and map, which filters redraw alone unless `at_once`; then label use and DSI."""
    result = shown.result
    draw = _draw_groups if at_once else st.fragment(_draw_groups)
    draw(shown)
    if with_label_use(result):  # results of earlier versions lack it
        _show_labels(shown)
    if result.dsi:
        st.header("Along which axis does it matter most who is asked?")
        if not result.provisional:
            for sentence in axes_to_watch(result):
                st.markdown(sentence.markdown)
        st.caption(words.DSI_EXPLANATION)
        table = partial(cache.kept, shown.key, "dsi table", result, partial(cache.show_dsi_table, result))
        named = ("DSI as a table", "dsi-table", "dsi", "DSI chart")
        _figure(shown, "dsi", dsi_chart, table, named)


def _draw_groups(shown: Shown) -> None:
    result, lead = shown.result, WORDS[lead_statistic(shown.result)].name
    orders: Mapping[RowOrder, str] = {
        "axis": "Axis by axis",
        "effect": f"Largest {lead} effect first",
        "q": f"Smallest {lead} q first",
    }
    reported = reported_statistics(result)
    axes = list(dict.fromkeys(axis_label(row.group.axes) for row in result.groups))
    first, second, third, last = st.columns([1, 1, 1, 2])
    order = ui.pick("Order of the groups", orders, place=first, key="order", **_PER_PAGE)
    of_axes = second.multiselect("Axes", axes, placeholder="All axes", key="table-axes", **_PER_PAGE)
    marked = third.selectbox("Significance", list(_MARKED), key="table-marked", **_PER_PAGE)
    named = {"format_func": lambda name: WORDS[name].name, "key": "table-statistics", **_PER_PAGE}
    columns = last.multiselect("Statistics in the table", reported, default=reported, **named)
    table, histograms = st.columns([3, 2], gap="medium")
    with table:
        st.header("Table of groups")
        statistics = [name for name in reported if name in columns]
        if statistics:
            _groups_table(shown, statistics, order, axes=of_axes, marked=_MARKED[marked])
        else:
            st.info("Choose at least one statistic.")
    with histograms:
        st.header("One statistic in every group")
        _show_null_histograms(shown, order)
    st.header("Agreement inside and across groups")
    pair = [name for name in (*result.spec.analysis.gai, "gai") if name in reported]
    looks = {"alt": "In-group and cross-group agreement by group", "name": "cohesion"}
    cohesion = partial(cache.groups_table, shown.key, result, pair, **looks)
    named = ("Cohesion map as a table", "cohesion-table", "cohesion-map", "cohesion map")
    _figure(shown, "cohesion", cohesion_map, cohesion, named)


def _groups_table(shown: Shown, statistics: list[str], order: RowOrder, **rows: Any) -> None:
    p = st.toggle("Show intervals, p and q", key="table-p", **_PER_PAGE)
    looks = {"p": p, "alt": "Every group's statistics, with arrows and stars", "name": "groups"}
    missing = cache.groups_table(shown.key, shown.result, statistics, order, **rows, **looks)
    if missing is None:
        st.info("No group passes these filters.")
        return
    for line in (marks_legend(shown.result.spec.analysis), *missing):
        ui.caption(line)


_GROUP = "group"
"""Under this name the group stands in the address."""
_LIST = "list-of-groups"


def named_group(result: RunResult) -> str | None:
    """The group that the address names, if there is such a one."""
    asked: str | None = st.query_params.get(_GROUP)
    return asked if asked in named_groups(result) else None


def open_group(name: str | None) -> None:
    """Go to a group's view, or back to all groups; a callback."""
    ui.put_in_address(_GROUP, name)


def choose_group(result: RunResult) -> None:
    """A list of all groups that leads to the one chosen, or back."""
    ui.follow_address(_LIST, named_group(result))
    label, names = "Look at one group", list(named_groups(result))
    looks = {"placeholder": label, "label_visibility": "collapsed", "key": _LIST}
    st.selectbox(label, names, None, on_change=lambda: open_group(st.session_state[_LIST]), **looks)


def show_group(shown: Shown, name: str) -> None:
    """What a group says differently, then every statistic of it against chance."""
    row, result = named_groups(shown.result)[name], shown.result
    st.set_page_config(page_title=f"{name} · {shown.title} · GRASP")
    st.header(escape_markdown(name))
    sizes = number(row.n_raters, "rater"), number(row.n_annotations, "annotation")
    st.markdown(escape_markdown(" · ".join([axis_label(row.group.axes), *sizes])))
    if row.least_p is not None:
        least = least_of(row.least_p, result.spec.analysis)
        st.caption(f"So few regroupings are left of it that {least}.")
    if not result.provisional:
        _say_marked(result, row, name)
    if row.label_use is not None:
        _show_label_use(shown, row, row.label_use, name)
    st.header("Against chance")
    _figure(
        shown,
        f"histograms of {name}",
        lambda drawn, theme: group_histograms(drawn, named_groups(drawn)[name], theme),
        lambda: _statistics_table(result, row),
        ("Every statistic as a table", "group-table", f"group-{safe_name(name)}", "histograms of this group"),
    )
    if any(row.group in (pair.a, pair.b) for pair in result.pairs):
        st.header("Beside each other group")
        show_pairs(shown, row.group)
    if has_items(shown):
        st.header("Which items cause the difference?")
        show_items(shown, row.group)
    if has_rater_map(shown):
        st.header("On the map of raters")
        show_rater_map(shown, row.group)
    if any(row.group in slices.sliced_groups(result, found) for found in result.slices):
        st.header("On the items of each value")
        show_slices(shown, row.group)


def _say_marked(result: RunResult, row: GroupResult, name: str) -> None:
    found = [doubted(one, result) for one in evidence(row, name)]
    marked = [one for key in ("corrected", "nominal") for one in found if one.outcome.significance == key]
    verdict = verdict_sentence(row)
    if verdict is not None:
        st.markdown(verdict.markdown)
        if marked:
            st.caption("Single statistics, each corrected by itself:")
    ui.bullets(finding.tested_sentence for finding in marked)
    if not marked:
        st.markdown(
            "Nothing of this group is marked: random groupings of its size reach as far. That does not "
            "show that it sees the items as everybody does."
        )


def _show_label_use(shown: Shown, row: GroupResult, use: LabelUse, name: str) -> None:
    st.header("Label use")

    def make(drawn: RunResult, theme: Theme) -> alt.LayerChart:
        return label_use_chart(drawn, named_groups(drawn)[name], theme)

    cache.chart(shown.key, f"label use of {name}", shown.drawn, make)
    st.caption("Coloured: p < 0.05 of this label alone. Line across: 95 % interval.")
    mean = "" if shown.result.provisional else mean_words(use, shown.result)
    if mean:
        st.markdown(escape_markdown(mean))
    rows = [
        {
            "Label": label,
            "Points": None if shift.value is None else round(100 * shift.value, 1),
            "95 % interval": format_points_interval(shift),
            "p": "" if shift.p is None else format_p_value(shift.p),
        }
        for label, shift in use.labels.items()
    ]
    alt_text = "How much more often the group gives each label"
    table = partial(ui.show_table, pd.DataFrame(rows), alt_text)
    ui.when_open("Label use as a table", table, key="group-labels")
    file = f"label-use-{safe_name(name)}"
    ui.save_figure(shown, lambda: make(shown.result, "light"), file, "label use of this group")


def _statistics_table(result: RunResult, row: GroupResult) -> None:
    rows = []
    for name in reported_statistics(result):
        outcome = words.outcome_of(row, name)
        if result.provisional:
            p, q = words.p_so_far(outcome), words.q_so_far(outcome)
        else:
            p = words.p_text(outcome, permutations=result.permutations)
            q = format_p_value(outcome.q, permutations=result.permutations)
        known = {"95 % interval": words.format_interval(outcome), "p": p, "q": q}
        why = str(outcome.reason or outcome.no_fit or "")
        rows.append({"Statistic": WORDS[name].name, "Value": cell_text(outcome), **known, "Why not": why})
    ui.show_table(pd.DataFrame(rows), "Every statistic of the group with p and q")
