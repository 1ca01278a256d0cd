"""A plan as it is shown: the answer in words, the surface, whom it takes, and files."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from grasp_core.charts.plan import plan_chart
from grasp_core.export.plan import recruitment_xlsx
from grasp_core.planner.values import Plan, plan_dict
from grasp_core.planner.words import (
    EXPLANATION,
    answer,
    details,
    lines_table,
    recruitment_csv,
    recruitment_table,
    surface_table,
)
from grasp_core.report.words.printable import json_text
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.widgets.outputs import download, drawn
from pages._ui.widgets.sections import when_open
from pages._ui.widgets.shown import always

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def draw_plan(key: str, plan: Plan, *, going_on: bool = False, check: Callable[[], None] = always) -> None:
    """Draw a plan.

    Parameters
    ----------
    key : str
        What its chart is cached under.
    plan : Plan
    going_on : bool
        Whether it is still being made; there are then no files.
    check : callable
        As in :class:`~pages._ui.widgets.shown.Shown`.
    """
    for sentence in answer(plan):
        st.markdown(sentence.markdown)
    cache.plan_chart(key, plan, page_theme())
    st.dataframe(lines_table(plan), hide_index=True, alt="Items that each number of raters takes")
    table = recruitment_table(plan)
    if not table.empty:
        st.subheader("Whom it takes")
        st.dataframe(table, hide_index=True, alt="Raters to recruit, by group")
    st.subheader("How this was found out")
    st.write(EXPLANATION)
    for sentence in details(plan):
        st.markdown(f"- {sentence.markdown}")
    if going_on:
        return
    when_open(
        "Every design as a table",
        lambda: st.dataframe(surface_table(plan), hide_index=True, alt="The chance of every design"),
        key=f"plan-table-{key}",
    )
    _files(plan, check)


def _files(plan: Plan, check: Callable[[], None]) -> None:
    with st.container(horizontal=True):
        for label, make, name, kind in (
            ("recruitment (CSV)", lambda: recruitment_csv(plan), "recruitment.csv", "text/csv"),
            ("recruitment (XLSX)", lambda: recruitment_xlsx(plan), "recruitment.xlsx", _XLSX),
            ("surface (SVG)", lambda: drawn(plan_chart(plan), "svg"), "plan.svg", "image/svg+xml"),
            ("plan (JSON)", lambda: json_text(plan_dict(plan)), "plan.json", "application/json"),
        ):
            download(check, label, make, file_name=name, media_type=kind, type="tertiary")
