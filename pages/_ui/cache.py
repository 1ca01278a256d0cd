"""Charts of finished runs as Vega-Lite specs, the only caches: keyed by a run's id and small choices.

The specs are validated in the tests; doing it again for every visitor takes longer than drawing.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from grasp_core import charts
from grasp_core.charts import Theme
from grasp_core.report.tables import RowOrder
from grasp_core.result import RunResult

_CHARTS = 128


@st.cache_data(max_entries=_CHARTS, show_spinner=False)
def null_histograms(
    run_id: str, _result: RunResult, statistic: str, theme: Theme, order: RowOrder
) -> dict[str, Any]:
    """The null histograms of one statistic."""
    return charts.null_histograms(_result, statistic, theme, order).to_dict(validate=False)


@st.cache_data(max_entries=_CHARTS, show_spinner=False)
def cohesion_map(run_id: str, _result: RunResult, theme: Theme) -> dict[str, Any]:
    """The cohesion map."""
    return charts.cohesion_map(_result, theme).to_dict(validate=False)


@st.cache_data(max_entries=_CHARTS, show_spinner=False)
def dsi_chart(run_id: str, _result: RunResult, theme: Theme) -> dict[str, Any]:
    """The DSI chart."""
    return charts.dsi_chart(_result, theme).to_dict(validate=False)
