"""Bars and points from 0 to 1: how well all raters agree on each label, and the leaderboard."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from grasp_core.benchmark.leaderboard import OVERALL, Entry, ranked
from grasp_core.model.groups import one_line
from grasp_core.model.result import RunResult
from grasp_core.report.charts import theme as draw
from grasp_core.report.everybody import least_agreed

SHOWN = 12
"""Labels that are drawn, those given most often."""
_LABEL, _HEAD = 54, 26
_LEFT, _WIDE = 0.3, 0.62
"""Shares of the width that names, and a bar of 100, have."""
_HEADING = "When one rater says it, another says so too (of 100). Mark: by chance."


def agreement_chart(result: RunResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A bar per label: of 100 answers of other raters to the same item how many are this label too."""
    found = result.everybody
    known = [one for one in found.labels if one.again is not None] if found is not None else []
    if found is None or not known:
        return draw.message(theme, heading=None, text="There is no label to be drawn.")
    shown = sorted(known, key=lambda one: -one.annotations)[:SHOWN]
    weakest, colours = least_agreed(found), draw.palette(theme)
    data = [
        {
            "label": one_line(one.label),
            "answers": f"{one.annotations:,} answers",
            "from": _LEFT,
            "to": _LEFT + _WIDE * (one.again or 0.0),
            "chance": _LEFT + _WIDE * (one.by_chance or 0.0),
            "said": f"{100 * (one.again or 0.0):.0f}",
            "by_chance": f"{100 * (one.by_chance or 0.0):.0f}",
            "colour": colours.muted if one is weakest else colours.significance["corrected"],
            "y": _HEAD + _LABEL * (place + 0.5),
        }
        for place, one in enumerate(shown)
    ]
    height = _HEAD + _LABEL * len(data)
    y = draw.down("y", height)
    start, end, chance = map(draw.share, ("from", "to", "chance"))
    base = alt.Chart(draw.rows(data, "labels"))
    head = alt.Chart(draw.rows([{"y": 8, "words": _HEADING}], "heading"))
    told = draw.tooltip(label="Label", answers="Answers", said="Another says so too", by_chance="By chance")
    small: dict[str, Any] = {"fontSize": 11, "color": colours.muted}
    layers = [
        base.mark_bar(height=20).encode(
            x=start, x2="to:Q", y=y, color=alt.Color("colour:N", scale=None), tooltip=told
        ),
        draw.tick(base, chance, y, theme, size=34, thickness=2, color=colours.ink),
        draw.written(base, "said", end, y, dx=8, color=colours.ink),
        draw.written(
            base, "label", draw.LEFT, y, dy=-8, color=colours.ink, limit=alt.expr(f"{_LEFT} * width - 12")
        ),
        draw.written(base, "answers", draw.LEFT, y, dy=9, **small),
        draw.written(head, "words", draw.LEFT, y, **small),
    ]
    parts = [f"{row['label']}: {row['said']} of 100, by chance {row['by_chance']}" for row in data]
    alt_text = f"How often another rater says the same, by label. {'; '.join(parts)}."
    return draw.finish(layers, theme, heading=None, alt_text=alt_text, height=height)


_ROW = 30
_NAMES_WIDTH = 170
HERE, PUBLISHED = "Scored here", "Published"


def leaderboard_chart(
    entries: Sequence[Entry], column: str = OVERALL, theme: draw.Theme = "light"
) -> alt.LayerChart:
    """A point per system, best first: filled where it was scored here, hollow where it was published."""
    name = "all tasks (mean)" if column == OVERALL else column
    data: list[dict[str, Any]] = []
    for place, entry in enumerate(ranked(entries, column)):
        score, (low, high) = entry.score(column), entry.ci95.get(column, (None, None))
        if score is not None:
            data.append(
                {
                    "system": entry.name,
                    "score": score,
                    "shown": f"{score:.3f}",
                    "low": low,
                    "high": high,
                    "scored": HERE if entry.own else PUBLISHED,
                    "source": entry.source or "this server",
                    "middle": place + 0.5,
                }
            )
    interval = ", with a 95 % interval" if any(row["low"] is not None for row in data) else ""
    heading = draw.title(f"Macro-F1: {name}", f"Filled: scored here{interval}. Hollow: published.")
    if not data:
        return draw.message(theme, heading=heading, text="No system has a score here yet.")
    alt_text = "; ".join(f"{row['system']} {row['score']:.3f} ({row['scored']})" for row in data)
    alt_text = f"Macro-F1 of {name}, best first: {alt_text}."
    return draw.finish(
        _layers(data, theme), theme, heading=heading, alt_text=alt_text, height=_ROW * len(data)
    )


def _layers(data: list[dict[str, Any]], theme: draw.Theme) -> list[alt.Chart]:
    colours = draw.palette(theme)
    base = alt.Chart(draw.rows(data, "systems"))
    x = alt.X(
        "score:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(title="Macro-F1", tickCount=draw.ticks(), tickMinStep=0.1, format=".1f"),
    )
    y = draw.down("middle", len(data))
    told = draw.tooltip("system", "shown", "scored", "source", shown="Macro-F1")
    here, elsewhere = (base.transform_filter(alt.datum.scored == name) for name in (HERE, PUBLISHED))
    ink = colours.significance["corrected"]
    points = {
        HERE: here.mark_point(filled=True, shape="diamond", size=130, color=ink, opacity=1),
        PUBLISHED: elsewhere.mark_point(
            filled=False, shape="circle", size=80, color=colours.muted, opacity=1
        ),
    }
    scored = {row["scored"] for row in data}
    return [
        draw.interval(here, alt.X("low:Q"), y, strokeWidth=2, color=ink),
        # Marks that are not there would be a picture without a name to a screen reader.
        *(mark.encode(x=x, y=y, tooltip=told) for name, mark in points.items() if name in scored),
        draw.written(base, "system", draw.LEFT, y, "right", dx=-10, limit=_NAMES_WIDTH, fontSize=13).encode(
            tooltip=told
        ),
        draw.written(base, "shown", draw.RIGHT, y, dx=12, fontWeight=600),
    ]
