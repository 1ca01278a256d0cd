"""Two runs side by side."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from grasp_core import server
from grasp_core.groups import Group
from grasp_core.report.comparison.changes import (
    Comparison,
    Difference,
    changes_table,
    compare,
    differences_table,
    in_words,
)
from grasp_core.report.comparison.pairs import pairs_compared
from grasp_core.report.comparison.slices import slices_compared
from grasp_core.report.words.models import statistic_name
from grasp_core.report.words.names import MINUS, NOT_ESTIMABLE, format_p_value, group_labels
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.session.projects import here
from pages._ui.session.times import told
from pages._ui.shell.links import link_to, link_to_run

_ROWS_IN_FULL = 25


def show_side_by_side(id_a: str, id_b: str) -> None:
    """Differences between two saved results."""
    st.title("Two runs side by side")
    link_to("runs", "All runs")
    runs = [here().runs.get(run_id) for run_id in (id_a, id_b)]
    if not all(run is not None and run.state == "done" for run in runs):
        st.warning("One of the two is not on this server any more, or has no result yet.")
        return
    a, b = runs
    st.query_params.from_dict({"a": a.id, "b": b.id})  # a link within a page shows its query and drops it
    for place, name, run in zip(st.columns(2, border=True), "AB", runs, strict=True):
        with place:
            _introduce(name, run)
    results = server.shared().service.result
    comparison = compare(results(a.id), results(b.id))
    if comparison is None:
        st.info(
            "One of the two is about models and the other about agreement, so there is nothing to hold "
            "against each other."
        )
        return
    st.header("What was asked")
    _show_differences(comparison.spec, "Both runs were asked the same.", "What was asked differently")
    st.header("The data")
    _show_differences(comparison.data, "Both runs used the same data.", "How the data differ")
    st.header("What was found")
    _show_changes(comparison)
    for title, table, name in (
        (
            "Between two groups, of pairs that both have",
            pairs_compared(results(a.id), results(b.id)),
            "Pairs",
        ),
        ("In slices that both have", slices_compared(results(a.id), results(b.id)), "Slices"),
    ):
        if not table.empty:
            st.subheader(title)
            _show_table(table, f"{name} of both runs")


def _introduce(name: str, run: RunRecord) -> None:
    st.markdown(f"**{name}**")
    link_to_run(run.id, run.title)
    st.caption(escape_markdown(f"{told(run.created_at)} · {run.total:,} permutations"))


def _show_differences(differences: tuple[Difference, ...], none: str, alt: str) -> None:
    if not differences:
        st.write(none)
        return
    st.dataframe(
        differences_table(differences),
        hide_index=True,
        height="content",
        column_config={"what": "What", "a": "A", "b": "B"},
        alt=alt,
    )


def _show_changes(comparison: Comparison) -> None:
    for groups, name in ((comparison.only_a, "A"), (comparison.only_b, "B")):
        if groups:
            st.markdown(f"Only {name} shows {escape_markdown(_listed(groups))}.")
    if not comparison.changes:
        st.info("No group and statistic is in both, so there is nothing to hold against each other.")
        return
    st.markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in in_words(comparison)))
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    statistics = left.multiselect(
        "Statistics",
        comparison.statistics,
        default=comparison.statistics,
        format_func=statistic_name,
        key="compared-statistics",
    )
    only_changed = right.toggle(
        "Only where significance changed", value=bool(comparison.changed), key="compared-only"
    )
    rows = [
        change
        for change in (comparison.changed if only_changed else comparison.changes)
        if change.statistic in statistics
    ]
    if rows:
        _show_table(changes_table(rows), "Groups and statistics of both runs")
    else:
        st.info("No group passes these filters.")


def _show_table(table: pd.DataFrame, alt: str) -> None:
    """What became of every test, with the interval of each difference."""
    numbers = ["moved", "q_a", "q_b", "q_moved"]
    table[numbers] = table[numbers].round(4)
    style = table.style.format(_signed, subset=["moved", "q_moved"])
    st.dataframe(
        style.format(format_p_value, subset=["q_a", "q_b"]),
        hide_index=True,
        height="content" if len(table) <= _ROWS_IN_FULL else 900,
        column_config={
            "pair": st.column_config.Column("Pair", pinned=True),
            "slice": st.column_config.Column("Slice", pinned=True),
            "group": st.column_config.Column("Group", pinned=True),
            "axis": "Axis",
            "model": "Model",
            "statistic": "Statistic",
            "a": "A",
            "b": "B",
            "moved": st.column_config.Column("B − A"),
            "moved_interval": st.column_config.Column("95 % interval of B − A"),
            "q_a": "q of A",
            "q_b": "q of B",
            "q_moved": st.column_config.Column("q of B − q of A"),
            "significance": st.column_config.Column("Significance", width="medium"),
        },
        placeholder=NOT_ESTIMABLE,
        alt=alt,
    )


def _signed(number: float) -> str:
    if pd.isna(number):
        return NOT_ESTIMABLE
    return f"{number:+.3f}".replace("-", MINUS)


def _listed(groups: tuple[Group, ...], most: int = 12) -> str:
    names = group_labels(groups)
    more = len(names) - most
    return "; ".join(names[:most]) + (f"; and {more} more" if more > 0 else "")
