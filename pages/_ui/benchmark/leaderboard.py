"""The leaderboard: own systems beside published ones, as a chart, a table and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from grasp_core import charts
from grasp_core.benchmark.jobs import compare_predictions
from grasp_core.benchmark.leaderboard import OVERALL, Entry, leaderboard_dict, leaderboard_table, ranked
from grasp_core.report.words.names import format_p
from grasp_core.report.words.printable import json_text
from pages._ui.benchmark.benchmark import benchmark, entries, in_a_worker, tasks
from pages._ui.benchmark.taking_off import offer_taking_off
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.session.projects import here
from pages._ui.share.sharing import share_leaderboard
from pages._ui.widgets.outputs import download, drawn
from pages._ui.widgets.shown import always


def show_leaderboard() -> None:
    """Every system, best first by the task chosen."""
    found = entries()
    if not found:
        st.info("No system has been scored here yet. Hand in predictions under Submit.")
        return
    with st.container(horizontal=True):
        share_leaderboard(lambda: leaderboard_dict(ranked(entries()), list(tasks())))
        offer_taking_off()
    best = draw_leaderboard(found, list(tasks()))
    own = [entry for entry in best if entry.own]
    if own:
        st.caption(
            "Which rows a system labels wrongly is not shown: it would tell their gold labels. Whoever holds "
            "these sees the rows, and which classes are confused, with the command `raft score --errors`."
        )
    _compare(own)


def draw_leaderboard(
    found: Sequence[Entry], names: Sequence[str], check: Callable[[], None] = always
) -> list[Entry]:
    """Chart, table and files; returns the systems, best first by the task chosen.

    Parameters
    ----------
    found : sequence of Entry
    names : sequence of str
        Of the tasks.
    check : callable
        See :class:`~pages._ui.widgets.shown.Shown`.
    """
    column = st.selectbox(
        "Sort by",
        [OVERALL, *names],
        format_func=lambda name: "All tasks (mean)" if name == OVERALL else name,
        key="leaderboard-column",
        bind="query-params",
    )
    best = ranked(found, column)
    content = json_text(leaderboard_dict(best, names))
    cache.leaderboard_chart(content, best, column, page_theme())
    table = leaderboard_table(best, names)
    _draw_table(table, names)
    chart = partial(charts.leaderboard_chart, best, column)
    files: Sequence[tuple[str, str, str, Callable[[], str | bytes]]] = (
        ("Table (CSV)", "csv", "text/csv", lambda: table.to_csv(index=False)),
        ("All figures (JSON)", "json", "application/json", lambda: content),
        ("Chart (PNG)", "png", "image/png", lambda: drawn(chart(), "png")),
        ("Chart (SVG)", "svg", "image/svg+xml", lambda: drawn(chart(), "svg")),
    )
    with st.container(horizontal=True):
        for label, extension, media_type, make in files:
            download(check, label, make, file_name=f"leaderboard.{extension}", media_type=media_type)
    return best


def _draw_table(table: pd.DataFrame, names: Sequence[str]) -> None:
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "system": "System",
            "scored": st.column_config.TextColumn("Scored", help="Here, or the figures’ publication"),
            OVERALL: st.column_config.NumberColumn("All tasks", format="%.3f"),
            **{name: st.column_config.NumberColumn(name, format="%.3f") for name in names},
        },
        placeholder="–",
        alt="Macro-F1 of every system, overall and by task",
    )
    st.caption(
        "Macro-F1 over the classes that occur, as on RAFT's leaderboard. An overall figure needs every task. "
        "Published figures come without intervals and are not ours."
    )


def _compare(own: list[Entry]) -> None:
    if len(own) < 2:
        return
    st.subheader("Is one better than the other?")
    shown = {entry.id: entry.name for entry in own}
    left, right = st.columns(2)
    first = left.selectbox("System", list(shown), format_func=shown.__getitem__, key="compare-first")
    second = right.selectbox(
        "Against", list(shown), index=1, format_func=shown.__getitem__, key="compare-second"
    )
    if first == second or not st.button("Compare", icon=":material/compare_arrows:"):
        return
    store, held = here().submissions, benchmark()
    one, other = store.predictions(first), store.predictions(second)
    if held is None or one is None or other is None:
        st.error("The gold labels or one of the submissions is no longer on this server.")
        return
    found = in_a_worker(compare_predictions, (held, one, other), "Comparing")
    if found is None:
        return
    rows = {**found.tasks, **({OVERALL: found.overall} if found.overall else {})}
    st.dataframe(
        [
            {
                "Task": "All tasks" if name == OVERALL else name,
                "Difference": f"{one.difference:+.3f}",
                "95 % interval": f"{one.ci95[0]:+.3f} to {one.ci95[1]:+.3f}",
                "p": format_p(one.p),
                "Items": f"{one.n:,}",
            }
            for name, one in rows.items()
        ],
        hide_index=True,
        alt="Difference in macro-F1 by task, with interval and p",
    )
    st.caption("Paired permutation test over items: under chance, each item's two labels may change places.")
