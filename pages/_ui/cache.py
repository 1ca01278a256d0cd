"""Charts of finished runs as Vega-Lite specs, the only caches: keyed by run, viewer and small choices.

The specs are validated in the tests; doing it again for every visitor takes longer than drawing.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import streamlit as st

from grasp_core import charts
from grasp_core.charts import Theme
from grasp_core.report.tables import RowOrder
from grasp_core.result import RunResult

_CHARTS = 128


@st.cache_data(max_entries=_CHARTS, show_spinner=False)
def null_histograms(
    key: str, _result: RunResult, statistic: str, theme: Theme, order: RowOrder
) -> dict[str, Any]:
    """The null histograms of one statistic."""
    return _spec(charts.null_histograms(_result, statistic, theme, order))


@st.cache_data(max_entries=_CHARTS, show_spinner=False)
def cohesion_map(key: str, _result: RunResult, theme: Theme) -> dict[str, Any]:
    """The cohesion map."""
    return _spec(charts.cohesion_map(_result, theme))


@st.cache_data(max_entries=_CHARTS, show_spinner=False)
def dsi_chart(key: str, _result: RunResult, theme: Theme) -> dict[str, Any]:
    """The DSI chart."""
    return _spec(charts.dsi_chart(_result, theme))


def _spec(chart: alt.LayerChart) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict(validate=False)
    if (
        "data" in spec
    ):  # shared by all layers; Streamlit takes it for a frame there, and leaves it alone below
        shared = spec.pop("data")
        for layer in spec["layer"]:
            layer.setdefault("data", shared)
    return spec
