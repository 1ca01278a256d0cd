"""The group that the address names, and everything that was found of it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from grasp_core.model.groups import axis_label
from grasp_core.model.outcome import LabelUse
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import escape_markdown, number
from grasp_core.report import charts
from grasp_core.report.account import least_of
from grasp_core.report.findings.advice import doubted
from grasp_core.report.findings.findings import evidence, named_groups
from grasp_core.report.findings.sentences import verdict_sentence
from grasp_core.report.tables import cell_text
from grasp_core.report.words.label_use import format_points_interval, mean_words
from grasp_core.report.words.names import (
    WORDS,
    format_interval,
    format_p_value,
    outcome_of,
    p_so_far,
    p_text,
    q_so_far,
    reported_statistics,
)
from grasp_core.report.writers.registry import safe_name
from pages._ui.helpers.outputs import save_figure
from pages._ui.helpers.widgets import Shown, follow_address, put_in_address, show_table, when_open
from pages._ui.result import cache
from pages._ui.result.comparisons import is_sliced, show_pairs, show_slices
from pages._ui.result.items import has_items, show_items
from pages._ui.result.rater_map import has_rater_map, show_rater_map

_GROUP = "group"
"""Under this name the group stands in the address."""
_LIST = "list-of-groups"


def named_group(result: RunResult) -> str | None:
    """The group that the address names, if there is such a one."""
    asked: str | None = st.query_params.get(_GROUP)
    return asked if asked in named_groups(result) else None


def open_group(name: str | None) -> None:
    """Go to a group's view, or back to all groups; a callback."""
    put_in_address(_GROUP, name)


def choose_group(result: RunResult) -> None:
    """A list of all groups that leads to the one chosen, or back."""
    follow_address(_LIST, named_group(result))
    st.selectbox(
        "Look at one group",
        list(named_groups(result)),
        index=None,
        placeholder="Look at one group",
        label_visibility="collapsed",
        key=_LIST,
        on_change=lambda: open_group(st.session_state[_LIST]),
    )


def show_group(shown: Shown, name: str) -> None:
    """What a group says differently, then every statistic of it against chance."""
    row = named_groups(shown.result)[name]
    st.set_page_config(page_title=f"{name} · {shown.title} · GRASP")
    st.header(escape_markdown(name))
    facts = (
        axis_label(row.group.axes),
        number(row.n_raters, "rater"),
        number(row.n_annotations, "annotation"),
    )
    st.markdown(escape_markdown(" · ".join(facts)))
    if row.least_p is not None:
        st.caption(
            f"So few regroupings are left of it that {least_of(row.least_p, shown.result.spec.analysis)}."
        )
    if not shown.result.provisional:
        found = [doubted(one, shown.result) for one in evidence(row, name)]
        marked = [one for key in ("corrected", "nominal") for one in found if one.outcome.significance == key]
        verdict = verdict_sentence(row)
        if verdict is not None:
            st.markdown(verdict.markdown)
            if marked:
                st.caption("Single statistics, each corrected by itself:")
        for finding in marked:
            st.markdown(f"- {finding.tested_sentence.markdown}")
        if not marked:
            st.markdown(
                "Nothing of this group is marked: random groupings of its size reach as far. That does not "
                "show that it sees the items as everybody does."
            )
    if row.label_use is not None:
        st.header("Label use")
        cache.chart(
            shown.key,
            f"label use of {name}",
            shown.drawn,
            lambda drawn, theme: charts.label_use_chart(drawn, named_groups(drawn)[name], theme),
        )
        st.caption("Coloured: p < 0.05 of this label alone. Line across: 95 % interval.")
        mean = "" if shown.result.provisional else mean_words(row.label_use, shown.result)
        if mean:
            st.markdown(escape_markdown(mean))
        when_open("Label use as a table", lambda: _labels_table(row.label_use), key="group-labels")
        save_figure(
            shown,
            lambda: charts.label_use_chart(shown.result, row, "light"),
            f"label-use-{safe_name(name)}",
            "label use of this group",
        )
    st.header("Against chance")
    cache.chart(
        shown.key,
        f"histograms of {name}",
        shown.drawn,
        lambda drawn, theme: charts.group_histograms(drawn, named_groups(drawn)[name], theme),
    )
    when_open("Every statistic as a table", lambda: _table(shown.result, row), key="group-table")
    save_figure(
        shown,
        lambda: charts.group_histograms(shown.result, row, "light"),
        f"group-{safe_name(name)}",
        "histograms of this group",
    )
    if any(row.group in (pair.a, pair.b) for pair in shown.result.pairs):
        st.header("Beside each other group")
        show_pairs(shown, row.group)
    if has_items(shown):
        st.header("Which items cause the difference?")
        show_items(shown, row.group)
    if has_rater_map(shown):
        st.header("On the map of raters")
        show_rater_map(shown, row.group)
    if is_sliced(shown.result, row.group):
        st.header("On the items of each value")
        show_slices(shown, row.group)


def _labels_table(use: LabelUse) -> None:
    rows = [
        {
            "Label": label,
            "Points": None if shift.value is None else round(100 * shift.value, 1),
            "95 % interval": format_points_interval(shift),
            "p": "" if shift.p is None else format_p_value(shift.p),
        }
        for label, shift in use.labels.items()
    ]
    show_table(pd.DataFrame(rows), "How much more often the group gives each label")


def _table(result: RunResult, row: GroupResult) -> None:
    rows = []
    for name in reported_statistics(result):
        outcome = outcome_of(row, name)
        p, q = (
            (p_so_far(outcome), q_so_far(outcome))
            if result.provisional
            else (
                p_text(outcome, permutations=result.permutations),
                format_p_value(outcome.q, permutations=result.permutations),
            )
        )
        rows.append(
            {
                "Statistic": WORDS[name].name,
                "Value": cell_text(outcome),
                "95 % interval": format_interval(outcome),
                "p": p,
                "q": q,
                "Why not": str(outcome.reason or outcome.no_fit or ""),
            }
        )
    show_table(pd.DataFrame(rows), "Every statistic of the group with p and q")
