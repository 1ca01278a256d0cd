"""Charts as files, rendered in this process without a browser or the network."""

from __future__ import annotations

from typing import Any

import altair as alt
import vl_convert

EXPORT_WIDTH = 900
"""Pixels that a chart as wide as its page gets in a file."""


def _spec(chart: alt.LayerChart, width: int) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict()
    if spec.get("width") == "container":
        spec["width"] = width
    return spec


def to_png(chart: alt.LayerChart, scale: float = 2, *, width: int = EXPORT_WIDTH) -> bytes:
    """PNG on the chart's own background, `scale` pixels per point."""
    image: bytes = vl_convert.vegalite_to_png(_spec(chart, width), scale=scale)
    return image


def to_svg(chart: alt.LayerChart, *, width: int = EXPORT_WIDTH) -> str:
    """SVG with its text as text."""
    image: str = vl_convert.vegalite_to_svg(_spec(chart, width))
    return image


def to_pdf(chart: alt.LayerChart, *, width: int = EXPORT_WIDTH) -> bytes:
    """PDF, one page of the figure's size."""
    image: bytes = vl_convert.vegalite_to_pdf(_spec(chart, width))
    return image
