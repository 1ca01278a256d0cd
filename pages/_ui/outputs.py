"""Files to take away; made when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable

import altair as alt
import streamlit as st

from grasp_core import charts
from grasp_core.report.tables import table_csv
from grasp_core.result import RunResult


def result_downloads(run_id: str, result: RunResult) -> None:
    """The table as CSV and everything as JSON."""
    st.download_button(
        "Table (CSV)",
        lambda: table_csv(result),
        file_name=f"grasp-{run_id[:12]}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        help="Every number of every group and statistic at full precision.",
    )
    st.download_button(
        "Full result (JSON)",
        lambda: json.dumps(result.to_dict(), indent=1),
        file_name=f"grasp-{run_id[:12]}.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
        help="Everything on this page, without any annotation; open it on Start, now or in years.",
    )


def figure_downloads(chart: Callable[[], alt.LayerChart], file_name: str, what: str) -> None:
    """One figure as PNG and as SVG, always on white."""
    with st.container(horizontal=True):
        st.download_button(
            f"{what} (PNG)",
            lambda: charts.to_png(chart()),
            file_name=f"{file_name}.png",
            mime="image/png",
            icon=":material/image:",
            type="tertiary",
            on_click="ignore",
        )
        st.download_button(
            f"{what} (SVG)",
            lambda: charts.to_svg(chart()),
            file_name=f"{file_name}.svg",
            mime="image/svg+xml",
            icon=":material/polyline:",
            type="tertiary",
            on_click="ignore",
        )
