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
    return _drawn("png", _spec(chart, width), scale=scale)


def to_svg(chart: alt.LayerChart, *, width: int = EXPORT_WIDTH) -> str:
    """SVG with its text as text."""
    return _drawn("svg", _spec(chart, width)).decode()


def to_pdf(chart: alt.LayerChart, *, width: int = EXPORT_WIDTH) -> bytes:
    """PDF, one page of the figure's size."""
    return _drawn("pdf", _spec(chart, width))


def chart_text(chart: alt.LayerChart) -> str:
    """What a file of a chart is drawn from, elsewhere: its Vega-Lite as JSON."""
    return json.dumps(_spec(chart, EXPORT_WIDTH))


def drawn(text: str, kind: str) -> bytes:
    """A file drawn from what :func:`chart_text` gave."""
    return _drawn(kind, json.loads(text), **({"scale": 2} if kind == "png" else {}))


def _drawn(kind: str, spec: dict[str, Any], **options: float) -> bytes:
    check_can_draw(kind.upper())
    import vl_convert  # of the extra figures

    image: bytes | str = getattr(vl_convert, f"vegalite_to_{kind}")(spec, **options)
    return image.encode() if isinstance(image, str) else image


IMAGES: Mapping[str, Callable[[alt.LayerChart], bytes]] = MappingProxyType(
    {".svg": lambda chart: to_svg(chart).encode(), ".png": to_png, ".pdf": to_pdf}
)
"""What draws a chart, by the end of its file's name."""
