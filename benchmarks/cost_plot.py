"""Cost against size, as a picture for docs/scaling.md."""

from __future__ import annotations

import altair as alt
import vl_convert

from benchmarks.costs import Measured, Model, predicted

_COLOURS = {"measured": "#1f5a96", "model": "#b0560f"}


def draw(figures: list[Measured], model: Model) -> str:
    """SVG: seconds per permutation, seconds before them, and memory, of runs that differ in size alone."""
    rows: dict[str, list[dict[str, object]]] = {}
    for run in sorted(filter(_same_but_size, figures), key=lambda run: run.annotations):
        before, permutations, memory = predicted(model, run)
        each = run.permutations
        for what, measured, said in (
            ("seconds per permutation", run.permutations_s / each, permutations / each),
            ("seconds before them", run.load_s + run.observed_s, before),
            ("GiB", run.peak_gib, memory),
        ):
            rows.setdefault(what, []).extend(
                {"annotations": run.annotations, "cost": cost, "side": side}
                for side, cost in (("measured", measured), ("model", said))
            )
    charts = [_chart(of_what, what) for what, of_what in rows.items()]
    chart = alt.hconcat(*charts).configure_view(stroke=None).configure(background="white", font="sans-serif")
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg


def _same_but_size(run: Measured) -> bool:
    small = run.groups == 20 and run.permutations == 20 and run.workers == 1
    return small and run.raters * 99 <= run.annotations


def _chart(rows: list[dict[str, object]], title: str) -> alt.LayerChart:
    colour = alt.Color(
        "side:N", scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())), title=None
    )
    axes = {
        "x": alt.X(
            "annotations:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", tickCount=4, grid=False)
        ),
        "y": alt.Y(
            "cost:Q", scale=alt.Scale(type="log"), title=None, axis=alt.Axis(format="~g", tickCount=4)
        ),
    }
    base = alt.Chart(alt.Data(values=rows)).encode(**axes, color=colour)
    line = base.transform_filter("datum.side == 'model'").mark_line()
    points = base.transform_filter("datum.side == 'measured'").mark_point(filled=True, size=60, opacity=1)
    return (line + points).properties(width=210, height=210, title=title)
