"""Systems by macro-F1, those scored here with their interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from grasp_core.benchmark.leaderboard import OVERALL, Entry, ranked
from grasp_core.charts.theme import LEFT, RIGHT, Theme, finish, message, palette, rows, ticks, title, tooltip

_ROW = 30
_NAMES_WIDTH = 170
HERE, PUBLISHED = "Scored here", "Published"


def leaderboard_chart(
    entries: Sequence[Entry], column: str = OVERALL, theme: Theme = "light"
) -> alt.LayerChart:
    """A point per system, best first: filled where it was scored here, hollow where it was published.

    Parameters
    ----------
    entries : sequence of Entry
    column : str
        A task, or :data:`~grasp_core.benchmark.leaderboard.OVERALL`.
    theme : {"light", "dark"}
    """
    name = "all tasks (mean)" if column == OVERALL else column
    data = [_row(entry, column, place) for place, entry in enumerate(ranked(entries, column))]
    data = [row for row in data if row["score"] is not None]
    interval = ", with a 95 % interval" if any(row["low"] is not None for row in data) else ""
    heading = title(f"Macro-F1: {name}", f"Filled: scored here{interval}. Hollow: published.")
    if not data:
        return message(theme, heading=heading, text="No system has a score here yet.")
    alt_text = "; ".join(f"{row['system']} {row['score']:.3f} ({row['scored']})" for row in data)
    return finish(
        _layers(data, theme),
        theme,
        heading=heading,
        alt_text=f"Macro-F1 of {name}, best first: {alt_text}.",
        height=_ROW * len(data),
    )


def _row(entry: Entry, column: str, place: int) -> dict[str, Any]:
    low, high = entry.ci95.get(column, (None, None))
    return {
        "system": entry.name,
        "score": entry.score(column),
        "shown": "" if entry.score(column) is None else f"{entry.score(column):.3f}",
        "low": low,
        "high": high,
        "scored": HERE if entry.own else PUBLISHED,
        "source": entry.source or "this server",
        "middle": place + 0.5,
    }


def _layers(data: list[dict[str, Any]], theme: Theme) -> list[alt.Chart]:
    colours = palette(theme)
    base = alt.Chart(rows(data, "systems"))
    x = alt.X(
        "score:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(title="Macro-F1", tickCount=ticks(), tickMinStep=0.1, format=".1f"),
    )
    y = alt.Y("middle:Q", scale=alt.Scale(domain=[0, len(data)], reverse=True, nice=False), axis=None)
    told = tooltip(system="System", shown="Macro-F1", scored="Scored", source="Source")
    here = base.transform_filter(alt.datum.scored == HERE)
    elsewhere = base.transform_filter(alt.datum.scored == PUBLISHED)
    ink = colours.significance["corrected"]
    points = {
        HERE: here.mark_point(filled=True, shape="diamond", size=130, color=ink, opacity=1),
        PUBLISHED: elsewhere.mark_point(
            filled=False, shape="circle", size=80, color=colours.muted, opacity=1
        ),
    }
    scored = {row["scored"] for row in data}
    return [
        here.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, color=ink, aria=False)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y),
        # Marks that are not there would be a picture without a name to a screen reader.
        *(mark.encode(x=x, y=y, tooltip=told) for name, mark in points.items() if name in scored),
        base.mark_text(align="right", baseline="middle", dx=-10, limit=_NAMES_WIDTH, fontSize=13).encode(
            x=LEFT, y=y, text=alt.Text("system:N"), tooltip=told
        ),
        base.mark_text(align="left", baseline="middle", dx=12, fontWeight=600).encode(
            x=RIGHT, y=y, text=alt.Text("shown:N")
        ),
    ]
