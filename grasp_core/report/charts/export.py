"""Charts as files, rendered in this process without a browser or the network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import altair as alt

from grasp_core.model.extras import require
from grasp_core.report.charts.theme import spec_of

EXPORT_WIDTH = 900
"""Pixels that a chart as wide as its page gets in a file."""


def _spec(chart: alt.LayerChart, width: int) -> dict[str, Any]:
    spec = spec_of(chart)
    if spec.get("width") == "container":
        spec["width"] = width
    return spec


def check_can_draw(kind: str) -> None:
    """Refuse, before any work, a kind of file such as "PNG" where charts cannot be drawn.

    Raises MissingPackageError.
    """
    require(kind, "figures")


def to_png(chart: alt.LayerChart, scale: float = 2, *, width: int = EXPORT_WIDTH) -> bytes:
    """PNG on the chart's own background, `scale` pixels per point."""
    return _png(_spec(chart, width), scale)


def to_svg(chart: alt.LayerChart, *, width: int = EXPORT_WIDTH) -> str:
    """SVG with its text as text."""
    return _svg(_spec(chart, width))


def to_pdf(chart: alt.LayerChart, *, width: int = EXPORT_WIDTH) -> bytes:
    """PDF, one page of the figure's size."""
    return _pdf(_spec(chart, width))


def chart_text(chart: alt.LayerChart) -> str:
    """What a file of a chart is drawn from, elsewhere: its Vega-Lite as JSON."""
    return json.dumps(_spec(chart, EXPORT_WIDTH))


def drawn(text: str, kind: str) -> bytes:
    """A file drawn from what :func:`chart_text` gave."""
    spec = json.loads(text)
    return _svg(spec).encode() if kind == "svg" else {"png": _png, "pdf": _pdf}[kind](spec)


def _png(spec: dict[str, Any], scale: float = 2) -> bytes:
    image: bytes = _drawing("PNG").vegalite_to_png(spec, scale=scale)
    return image


def _svg(spec: dict[str, Any]) -> str:
    image: str = _drawing("SVG").vegalite_to_svg(spec)
    return image


def _pdf(spec: dict[str, Any]) -> bytes:
    image: bytes = _drawing("PDF").vegalite_to_pdf(spec)
    return image


def _drawing(kind: str) -> Any:
    check_can_draw(kind)
    import vl_convert  # of the extra figures

    return vl_convert


IMAGES: Mapping[str, Callable[[alt.LayerChart], bytes]] = MappingProxyType(
    {".svg": lambda chart: to_svg(chart).encode(), ".png": to_png, ".pdf": to_pdf}
)
"""What draws a chart, by the end of its file's name."""
