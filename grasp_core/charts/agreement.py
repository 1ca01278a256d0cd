"""How often another rater gives the same label, beside chance."""

from __future__ import annotations

from functools import partial

import altair as alt

from grasp_core.charts.theme import LEFT, Theme, finish, message, palette, rows, tooltip
from grasp_core.report.everybody import least_agreed
from grasp_core.report.words.names import one_line
from grasp_core.result import RunResult

SHOWN = 12
"""Labels that are drawn, those given most often."""
_ROW, _HEAD = 54, 26
_LEFT, _WIDE = 0.3, 0.62
"""Shares of the width that names, and a bar of 100, have."""
_HEADING = "When one rater says it, another says so too (of 100). Mark: by chance."


def agreement_chart(result: RunResult, theme: Theme = "light") -> alt.LayerChart:
    """A bar per label: of 100 answers of other raters to the same item how many are this label too.

    A tick says how many would be by chance; the label that raters agree on least is grey. Named data set
    `labels`.
    """
    found = result.everybody
    known = [one for one in found.labels if one.again is not None] if found is not None else []
    if found is None or not known:
        return message(theme, heading=None, text="There is no label to be drawn.")
    shown = sorted(known, key=lambda one: -one.annotations)[:SHOWN]
    weakest, colours = least_agreed(found), palette(theme)
    data = [
        {
            "label": one_line(one.label),
            "answers": f"{one.annotations:,} answers",
            "from": _across(0.0),
            "to": _across(one.again or 0.0),
            "chance": _across(one.by_chance or 0.0),
            "said": f"{100 * (one.again or 0.0):.0f}",
            "by_chance": f"{100 * (one.by_chance or 0.0):.0f}",
            "colour": colours.muted if one is weakest else colours.significance["corrected"],
            "y": _HEAD + _ROW * (place + 0.5),
        }
        for place, one in enumerate(shown)
    ]
    height = _HEAD + _ROW * len(data)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], reverse=True, nice=False), axis=None)
    whole = alt.Scale(domain=[0, 1], nice=False)
    base = alt.Chart(rows(data, "labels"))
    head = alt.Chart(rows([{"y": 8, "words": _HEADING}], "heading"))
    told = tooltip(label="Label", answers="Answers", said="Another says so too", by_chance="By chance")
    named = partial(base.mark_text, align="left", baseline="middle")
    layers = [
        base.mark_bar(height=20).encode(
            x=alt.X("from:Q", scale=whole, axis=None),
            x2="to:Q",
            y=y,
            color=alt.Color("colour:N", scale=None),
            tooltip=told,
        ),
        base.mark_tick(orient="vertical", size=34, thickness=2, color=colours.ink).encode(
            x=alt.X("chance:Q", scale=whole, axis=None), y=y
        ),
        named(dx=8, color=colours.ink).encode(x=alt.X("to:Q", scale=whole, axis=None), y=y, text="said:N"),
        named(dy=-8, color=colours.ink, limit=alt.expr(f"{_LEFT} * width - 12")).encode(
            x=LEFT, y=y, text="label:N"
        ),
        named(dy=9, fontSize=11, color=colours.muted).encode(x=LEFT, y=y, text="answers:N"),
        head.mark_text(align="left", fontSize=11, color=colours.muted, baseline="middle").encode(
            x=LEFT, y=y, text="words:N"
        ),
    ]
    parts = [f"{row['label']}: {row['said']} of 100, by chance {row['by_chance']}" for row in data]
    alt_text = f"How often another rater says the same, by label. {'; '.join(parts)}."
    return finish(layers, theme, heading=None, alt_text=alt_text, height=height)


def _across(share: float) -> float:
    """Where a share lies across the chart, of whose width names have the first part."""
    return _LEFT + _WIDE * share
