"""Label use of one group: how much more or less often it gives each label than the others do."""

from __future__ import annotations

from typing import Any

import altair as alt

from grasp_core.charts.theme import (
    LEFT,
    RIGHT,
    UP_TO_RIGHT,
    Theme,
    finish,
    message,
    palette,
    rows,
    ticks,
    title,
    tooltip,
)
from grasp_core.outcome import LabelUse, Shift
from grasp_core.report.words.label_use import format_points, format_points_interval
from grasp_core.report.words.names import format_p, group_label
from grasp_core.report.words.so_far import NOT_YET
from grasp_core.result import GroupResult, RunResult
from grasp_core.spec import LEVEL

_ROW = 44
_TEXT, _BAR = 0.22, 0.68
_LABELS = 40
"""Labels that are drawn, those that differ most; the table beside the chart has all."""


def label_use_chart(result: RunResult, row: GroupResult, theme: Theme = "light") -> alt.LayerChart:
    """A bar per label to the left or right of 0, in percentage points, with its interval across it."""
    name = group_label(row.group)
    heading = title(
        "Label use",
        ["How much more or less often than the others", "on the same items, in percentage points."],
    )
    use = row.label_use
    if use is None or not any(shift.value is not None for shift in use.labels.values()):
        reason = "not part of this run" if use is None or use.reason is None else str(use.reason)
        return message(theme, heading=heading, text=f"There is no label use to show: {reason}.")
    drawn = [
        _row(result, label, shift, float(place)) for place, (label, shift) in enumerate(_drawn(use).items())
    ]
    said = "; ".join(f"{one['label']} {one['value']} {one['interval']}".rstrip() for one in drawn)
    alt_text = f"Label use of {name}, beside the others on the same items: {said}."
    layers = _layers(drawn, theme)
    return finish(layers, theme, heading=heading, alt_text=alt_text, height=_ROW * len(drawn))


def _drawn(use: LabelUse) -> dict[str, Shift]:
    """The labels with a value, in the run's order; of many, those that differ most."""
    found = {label: shift for label, shift in use.labels.items() if shift.value is not None}
    most = sorted(found, key=lambda label: -abs(found[label].value or 0.0))[:_LABELS]
    return {label: shift for label, shift in found.items() if label in most}


def _row(result: RunResult, label: str, shift: Shift, place: float) -> dict[str, Any]:
    untested = NOT_YET if result.provisional else format_p(None)
    p = untested if shift.p is None else format_p(shift.p, permutations=result.permutations)
    return {
        "label": label,
        "x": None if shift.value is None else 100 * shift.value,
        "low": None if shift.low is None else 100 * shift.low,
        "high": None if shift.high is None else 100 * shift.high,
        "value": format_points(shift.value),
        "interval": format_points_interval(shift),
        "p": p,
        "marked": shift.p is not None and shift.p < LEVEL,
        "text": place + _TEXT,
        "bar": place + _BAR,
    }


def _layers(drawn: list[dict[str, Any]], theme: Theme) -> list[alt.Chart]:
    colours = palette(theme)
    ends = [0.0, *(one[end] for one in drawn for end in ("x", "low", "high") if one[end] is not None)]
    margin = 0.06 * (max(ends) - min(ends)) or 1.0
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[min(ends) - margin, max(ends) + margin], nice=False),
        axis=alt.Axis(title="percentage points more often than the others", tickCount=ticks(), grid=False),
    )
    bar, text = (
        alt.Y(f"{at}:Q", scale=alt.Scale(domain=[0, len(drawn)], reverse=True, nice=False), axis=None)
        for at in ("bar", "text")
    )
    base = alt.Chart(rows(drawn, "labels")).encode(
        tooltip=tooltip(label="Label", value="Difference", interval="95 % interval", p="p of this label")
    )
    shade = alt.condition(
        "datum.marked",
        alt.value(colours.significance["nominal"]),
        alt.value(colours.significance["none"]),
    )
    written = base.transform_calculate(told="datum.value + '  ' + datum.interval + '  ' + datum.p")
    return [
        base.mark_rule(color=colours.grid).encode(x=LEFT, x2=UP_TO_RIGHT, y=bar),
        base.mark_bar(size=15, opacity=0.75).encode(x=x, x2=alt.X2Datum(0), y=bar, color=shade),
        base.mark_tick(orient="vertical", size=22, color=colours.muted).encode(x=alt.XDatum(0), y=bar),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=colours.ink, strokeWidth=1.8, strokeCap="round", aria=False)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=bar),
        base.mark_text(align="left", baseline="middle", limit=alt.expr("width - 215")).encode(
            x=LEFT, y=text, text=alt.Text("label:N")
        ),
        written.mark_text(align="right", baseline="middle").encode(x=RIGHT, y=text, text=alt.Text("told:N")),
    ]
