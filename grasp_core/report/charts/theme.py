"""Colours, shapes and fonts of every chart, and charts as files."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import altair as alt

from grasp_core.model.extras import require
from grasp_core.model.outcome import Significance
from grasp_core.report.words.names import SIGNIFICANCE_NAMES

Theme = Literal["light", "dark"]

FONT = '"Source Sans", "Source Sans Pro", "Helvetica Neue", Arial, sans-serif'
ORDER: tuple[Significance, ...] = ("corrected", "nominal", "none")
SHAPES: Mapping[Significance, str] = {"corrected": "diamond", "nominal": "triangle-up", "none": "circle"}
LEFT, RIGHT = alt.XValue(0), alt.XValue("width")  # type: ignore[no-untyped-call]  # Altair's
UP_TO_RIGHT = alt.X2Value("width")  # type: ignore[no-untyped-call]
"""Edges of the plot. Channels are given as classes: Altair's search for them takes longer than all else."""


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme's colours."""

    background: str
    ink: str
    muted: str
    grid: str
    significance: Mapping[Significance, str]
    text: Mapping[Significance, str]


PALETTES: Mapping[Theme, Palette] = {
    "light": Palette(
        background="#FFFFFF",
        ink="#1C2B27",
        muted="#566460",
        grid="#E2E8E6",
        significance={"corrected": "#006D4E", "nominal": "#D55E00", "none": "#8C8C8C"},
        text={"corrected": "#006D4E", "nominal": "#B34F00", "none": "#566460"},
    ),
    "dark": Palette(
        background="#12181A",
        ink="#E6EDEA",
        muted="#A7B3AF",
        grid="#2B3639",
        significance={"corrected": "#6FE0BD", "nominal": "#E66100", "none": "#8C8C8C"},
        text={"corrected": "#6FE0BD", "nominal": "#FF8A3D", "none": "#A7B3AF"},
    ),
}
"""`text` meets WCAG's 4.5:1 for small type, which the marks' own colours do not all reach."""


def palette(theme: Theme) -> Palette:
    """The theme's colours."""
    if theme not in PALETTES:
        raise ValueError(f"`theme` must be light or dark; found {theme!r}")
    return PALETTES[theme]


def colour(theme: Theme, *, legend: bool = False) -> alt.Color:
    """Colour by the field `significance`."""
    return alt.Color("significance:N", **_by_significance(palette(theme).significance, legend=legend))


def shape(*, legend: bool = False) -> alt.Shape:
    """Shape by the field `significance`."""
    return alt.Shape("significance:N", **_by_significance(SHAPES, legend=legend))


def _by_significance(looks: Mapping[Significance, str], *, legend: bool) -> dict[str, Any]:
    names, range_ = [SIGNIFICANCE_NAMES[key] for key in ORDER], [looks[key] for key in ORDER]
    shown = alt.Legend(title=None, orient="top", direction="horizontal", symbolSize=90, offset=4)
    return {"scale": alt.Scale(domain=names, range=range_), "legend": shown if legend else None}


def as_given(field: str = "colour") -> alt.Color:
    """Colours given by a field of the data."""
    return alt.Color(f"{field}:N", scale=None, legend=None)


def down(field: str, height: float | None = None) -> alt.Y:
    """A position from the top in pixels, without an axis; the first layer sets the height of the plot."""
    if height is None:
        return alt.Y(f"{field}:Q", axis=None)
    return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[0, height], reverse=True, nice=False), axis=None)


def exactly(domain: Sequence[float]) -> alt.Scale:
    """A scale of exactly this domain."""
    return alt.Scale(domain=list(domain), nice=False, zero=False)


def padded(values: Sequence[float], share: float, least: float) -> tuple[float, float]:
    """The range of values with a margin at both ends: a share of the range, or `least` if that is 0."""
    low, high = min(values), max(values)
    margin = share * (high - low) or least
    return low - margin, high + margin


def written(
    base: alt.Chart, field: str, x: Any, y: Any, align: Literal["left", "right"] = "left", **look: Any
) -> alt.Chart:
    """A field as text, vertically centred at its position."""
    text: alt.Chart = base.mark_text(align=align, baseline="middle", **look)
    return text.encode(x=x, y=y, text=alt.Text(f"{field}:N"))


def valid(base: alt.Chart, field: str) -> alt.Chart:
    """Keep only rows that have a value in this field."""
    chart: alt.Chart = base.transform_filter(f"isValid(datum.{field})")
    return chart


def interval(base: alt.Chart, x: alt.X, y: Any, **look: Any) -> alt.Chart:
    """A line from `low`, placed by `x`, to `high`, if both are known."""
    line: alt.Chart = valid(base, "low").mark_rule(aria=False, **look)
    return line.encode(x=x, x2=alt.X2("high:Q"), y=y)


def from_edge_to_edge(base: alt.Chart, y: alt.Y, theme: Theme) -> alt.Chart:
    """Lines between rows."""
    line: alt.Chart = base.mark_rule(color=palette(theme).grid, aria=False)
    return line.encode(x=LEFT, x2=UP_TO_RIGHT, y=y)


def clickable(base: alt.Chart, **look: Any) -> alt.Chart:
    """Invisible rows as wide as the chart: they react to a pointer anywhere beside their marks."""
    rect: alt.Chart = base.mark_rect(opacity=0, **look)
    return rect.encode(x=LEFT, x2=UP_TO_RIGHT, y=down("top"), y2=alt.Y2("bottom:Q"))


def measured(field: str, domain: Sequence[float], title: str, **axis: Any) -> alt.X:
    """A horizontal axis of a field over exactly this domain, with as many ticks as the width allows."""
    ticks = alt.ExprRef("max(2, floor(width / 70))")
    return alt.X(f"{field}:Q", scale=exactly(domain), axis=alt.Axis(title=title, tickCount=ticks, **axis))


def share(field: str) -> alt.X:
    """A horizontal position, as a share of the width."""
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)


_CALLED = {"interval": "95 % interval", "verdict": "Result", "p": "p", "q": "q"}


def tooltip(*fields: str, **called: str) -> list[alt.Tooltip]:
    """Fields for a mark's tooltip, as text, under their own names unless `called` gives others."""
    names = {field: _CALLED.get(field, field.capitalize()) for field in fields} | called
    # Not as "field:N", which Altair parses again in each layer.
    return [alt.Tooltip(field=field, type="nominal", title=name) for field, name in names.items()]


def rows(values: list[dict[str, Any]], name: str) -> alt.InlineData:
    """Inline data for the first layer that draws them; later ones refer to them with `alt.NamedData`.

    One JSON text instead of a list, because Altair copies and validates lists entry by entry
    (a second per chart); NaN and infinity raise ValueError.
    """
    text = json.dumps(values, allow_nan=False, ensure_ascii=False)
    return alt.InlineData(values=text, format=alt.JsonDataFormat(type="json"), name=name)


def title(text: str, subtitle: str | list[str]) -> alt.TitleParams:
    """A title with a subtitle, flush with the left edge."""
    return alt.TitleParams(text=text, subtitle=subtitle)


def finish(
    layers: Sequence[alt.Chart], theme: Theme, *, heading: alt.TitleParams | None, alt_text: str, height: int
) -> alt.LayerChart:
    """Lay charts over each other and give them their size, heading, description and look."""
    chart = alt.LayerChart(
        width="container",
        height=height,
        title=alt.Undefined if heading is None else heading,
        description=alt_text,
        background=palette(theme).background,
        padding={"left": 8, "top": 8, "right": 8, "bottom": 8},  # Streamlit writes into it
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        config=_config(palette(theme)),
    )
    # Set afterwards: the constructor copies each layer three times to find what they have in common.
    chart.layer = list(layers)
    if all(layer.data is layers[0].data for layer in layers):
        chart.data = layers[0].data
        for layer in layers:
            layer.data = alt.Undefined
    return chart


def spec_of(chart: alt.LayerChart) -> dict[str, Any]:
    """A chart's Vega-Lite, not validated, without the two copies of each layer that Altair would make."""
    layers, chart.layer = chart.layer, []
    whole = chart.to_dict(validate=False)
    chart.layer = layers
    context = {"top_level": False} | ({} if chart.data is alt.Undefined else {"data": chart.data})
    return whole | {"layer": [one.to_dict(validate=False, context=context) for one in layers]}


def _config(colours: Palette) -> alt.Config:
    return alt.Config(
        font=FONT,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            domain=False,
            ticks=False,
            gridColor=colours.grid,
            labelColor=colours.muted,
            labelFontSize=12,
            labelPadding=6,
            titleColor=colours.muted,
            titleFontSize=12,
            titleFontWeight="normal",
            titleLimit=alt.expr("width"),
            titlePadding=8,
        ),
        title=alt.TitleConfig(
            anchor="start",
            frame="bounds",
            color=colours.ink,
            fontSize=16,
            fontWeight=600,
            subtitleColor=colours.muted,
            subtitleFontSize=13,
            subtitlePadding=5,
            offset=12,
        ),
        legend=alt.LegendConfig(
            labelColor=colours.ink, labelFontSize=12, symbolStrokeWidth=0, columnPadding=24
        ),
        text=alt.MarkConfig(font=FONT, fontSize=12, color=colours.ink),
    )


def message(theme: Theme, *, heading: alt.TitleParams | None, text: str) -> alt.LayerChart:
    """A chart of one sentence that says why there is nothing to draw."""
    words = (
        alt.Chart(rows([{"text": text}], "message"))
        .mark_text(align="left", baseline="middle", color=palette(theme).muted, fontSize=13, limit=640)
        .encode(text=alt.Text("text:N"), x=LEFT, y=alt.value(20))
    )
    return finish([words], theme, heading=heading, alt_text=text, height=40)


def on_halo(text: alt.Chart, theme: Theme, *, weight: Literal[400, 600] = 400) -> list[alt.Chart]:
    """Texts beside points, placed by `dx`, `dy` and `align`; a halo keeps them readable across marks."""
    at: dict[str, Any] = {name: alt.expr(f"datum.{name}") for name in ("dx", "dy", "align")}
    written = partial(text.mark_text, **at, baseline="middle", fontWeight=weight)
    return [
        written(stroke=palette(theme).background, strokeWidth=3.5, strokeJoin="round"),
        written(color=palette(theme).ink),
    ]


_KINDS = ("svg", "png", "pdf")
EXPORT_WIDTH = 900
"""Width in pixels, in a file, of a chart that is as wide as its page."""


def check_can_draw(kind: str) -> None:
    """Raise an error, before any work, if charts cannot be drawn here; it names the kind, such as "PNG"."""
    require(kind, "figures")


def chart_text(chart: alt.LayerChart) -> str:
    """A chart's Vega-Lite as JSON, from which a file is drawn in this process or another."""
    spec = spec_of(chart)
    if spec.get("width") == "container":
        spec["width"] = EXPORT_WIDTH
    return json.dumps(spec)


def drawn(text: str, kind: str) -> bytes:
    """Draw a file from the text of :func:`chart_text`; a PNG has two pixels per point."""
    check_can_draw(kind.upper())
    import vl_convert  # part of the extra `figures`

    options = {"scale": 2} if kind == "png" else {}
    image: bytes | str = getattr(vl_convert, f"vegalite_to_{kind}")(json.loads(text), **options)
    return image.encode() if isinstance(image, str) else image


_CLIP = re.compile(r'(?:(?<=\bid=")|(?<=url\(#))clip\d+')


def to_svg(chart: alt.LayerChart) -> str:
    """SVG with text as text, the same for equal charts: clips, which the renderer counts, are renumbered."""
    ids: dict[str, str] = {}
    text = drawn(chart_text(chart), "svg").decode()
    return _CLIP.sub(lambda found: ids.setdefault(found[0], f"clip{len(ids)}"), text)


IMAGES: Mapping[str, Callable[[alt.LayerChart], bytes]] = MappingProxyType(
    {f".{kind}": partial(lambda kind, chart: drawn(chart_text(chart), kind), kind) for kind in _KINDS}
)
"""Functions that draw a chart, by file extension; PNG and PDF have the chart's own background."""
