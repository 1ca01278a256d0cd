"""The study's pictures, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import vl_convert

_COLOURS = ("#1f5a96", "#b0560f", "#2e7d4f", "#6b4c9a")
_SHAPES = ("circle", "square", "triangle-up", "diamond")


def power(rows: Sequence[Mapping[str, object]], tests: Sequence[str]) -> str:
    """Draw power against the size of the group, by effect; rows: `effect`, `raters`, `test`, `power`."""
    colour = alt.Color(
        "test:N", title=None, scale=alt.Scale(domain=list(tests), range=list(_COLOURS[: len(tests)]))
    )
    base = alt.Chart().encode(
        x=alt.X(
            "raters:Q",
            title="raters of the group, of 100",
            scale=alt.Scale(type="log", domain=[5, 50]),
            axis=alt.Axis(values=[5, 10, 25, 50], grid=False),
        ),
        y=alt.Y(
            "power:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".1f", tickCount=5)
        ),
        color=colour,
    )
    points = base.mark_point(filled=True, size=50, opacity=1).encode(
        shape=alt.Shape(
            "test:N", title=None, scale=alt.Scale(domain=list(tests), range=list(_SHAPES[: len(tests)]))
        )
    )
    chart = (
        alt.layer(base.mark_line(), points, data=alt.Data(values=list(rows)))
        .properties(width=190, height=130)
        .facet(
            alt.Facet("effect:N", title=None, sort=list(dict.fromkeys(str(row["effect"]) for row in rows))),
            columns=3,
        )
        .configure_view(stroke="#cccccc")
        .configure(background="white", font="sans-serif")
    )
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg


def size(rows: Sequence[Mapping[str, object]]) -> str:
    """Draw rates of false calls of every test, with the acceptable band; rows: `test`, `rate`, `data`."""
    order = list(dict.fromkeys(str(row["test"]) for row in rows))
    band = (
        alt.Chart(alt.Data(values=[{"low": 0.03, "high": 0.06}]))
        .mark_rect(color="#dce6f0")
        .encode(x=alt.X("low:Q"), x2="high:Q")
    )
    ticks = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_point(filled=True, size=28, opacity=0.55, color=_COLOURS[0])
        .encode(
            x=alt.X(
                "rate:Q",
                title="share of data sets with p < .05, nothing planted",
                scale=alt.Scale(domain=[0, 0.12], clamp=True),
            ),
            y=alt.Y("test:N", title=None, sort=order),
        )
    )
    chart = (
        alt.layer(band, ticks)
        .properties(width=420, height=220)
        .configure_view(stroke=None)
        .configure(background="white", font="sans-serif")
    )
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg
