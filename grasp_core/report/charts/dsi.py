"""Diversity sensitivity index by axis: which axis recruitment should watch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from grasp_core.model.groups import axis_label, group_label
from grasp_core.model.outcome import Outcome
from grasp_core.model.result import DsiResult, RunResult
from grasp_core.report.charts.theme import (
    LEFT,
    ORDER,
    RIGHT,
    Theme,
    badge,
    colour,
    down,
    exactly,
    finish,
    message,
    padded,
    palette,
    rows,
    shape,
    ticks,
    title,
    tooltip,
    written,
)
from grasp_core.report.tables import ordered_dsi
from grasp_core.report.words.names import (
    MAY_CHANGE,
    NOT_ESTIMABLE,
    NOT_YET,
    SIGNIFICANCE_NAMES,
    format_p,
    format_p_value,
    format_value,
    may_change,
    not_yet,
    p_in_figure,
    p_so_far,
    p_words,
    q_in_figure,
)

_ROW = 58
_LINE = 18
"""Pixels from the lollipop up to its axis's name, and down to how it was tested."""


def dsi_chart(result: RunResult, theme: Theme = "light") -> alt.LayerChart:
    """Lollipops from GAI 1 to each axis's DSI, largest first."""
    heading = title(
        "Diversity sensitivity by axis",
        [
            "DSI: the largest GAI among an axis’s groups.",
            "p and q: against the largest that",
            "the groups of random groupings reach.",
        ],
    )
    if not result.dsi:
        return message(theme, heading=heading, text="This run reports no DSI.")
    ranked = ordered_dsi(result)
    data = [_row(result, row, float(position)) for position, row in enumerate(ranked)]
    return finish(
        _layers(data, theme), theme, heading=heading, alt_text=_alt(result, ranked), height=_ROW * len(data)
    )


def _row(result: RunResult, row: DsiResult, position: float) -> dict[str, Any]:
    outcome = row.outcome
    permutations = result.permutations
    estimable = outcome.value is not None
    return {
        "axis": axis_label(row.axes),
        "group": "" if row.group is None else group_label(row.group),
        "middle": position + 0.5,
        "x": outcome.value,
        "value": format_value(outcome.value) if estimable else "",
        "p": "" if outcome.p is None else p_in_figure(outcome, result),
        "q": "" if outcome.q is None else q_in_figure(outcome, result),
        "p_group": "" if row.p_group is None else format_p_value(row.p_group, permutations=permutations),
        "significance": SIGNIFICANCE_NAMES[outcome.significance],
        "significance_group": SIGNIFICANCE_NAMES[row.significance_group],
        "tested": _tested(outcome, result) if estimable else "",
        "note": "" if estimable else f"{NOT_ESTIMABLE}: {outcome.reason or 'no reason given'}",
    }


def _tested(outcome: Outcome, result: RunResult) -> str:
    permutations = result.permutations
    if outcome.p is None:
        return NOT_YET if not_yet(outcome, result) else format_p(None)
    if result.provisional:
        unsure = f", {MAY_CHANGE}" if may_change(outcome) else ""
        return f"p {p_so_far(outcome)}{unsure}"
    figures = [
        p_words(outcome, permutations=permutations),
        format_p(outcome.q, name="q", permutations=permutations),
        badge(outcome.significance),
    ]
    return ", ".join(words for words in figures if words)


def _layers(data: list[dict[str, Any]], theme: Theme) -> list[alt.Chart]:
    colours = palette(theme)
    base = alt.Chart(rows(data, "dsi"))
    drawn = base.transform_filter("isValid(datum.x)")
    known = [1.0, *(row["x"] for row in data if row["x"] is not None)]
    x = alt.X(
        "x:Q",
        scale=exactly(padded(known, 0.06, 0.05)),
        axis=alt.Axis(
            title="DSI (GAI; 1: agrees with itself as with others)",
            tickCount=ticks(),
            format=".2f",
            grid=False,
        ),
    )
    y, half = down("middle", len(data)), alt.expr("width / 2 - 30")
    told = tooltip(
        axis="Axis",
        value="DSI",
        group="Attained by",
        p="p (against the largest of random groupings)",
        q="q",
        significance="Result",
        p_group="p of that group’s GAI",
        significance_group="Result for that group",
    )
    return [
        drawn.mark_rule(strokeWidth=3, opacity=0.55).encode(x=x, x2=alt.X2Datum(1), y=y, color=colour(theme)),
        drawn.mark_tick(orient="vertical", size=16, color=colours.muted).encode(x=alt.XDatum(1), y=y),
        drawn.mark_point(filled=True, size=150, opacity=1).encode(
            x=x, y=y, color=colour(theme), shape=shape(), tooltip=told
        ),
        # Above an axis's lollipop its name, its DSI and the group that attains it; below, how it was tested.
        written(base, "axis", LEFT, y, dy=-_LINE, limit=half, fontSize=13).encode(tooltip=told),
        written(base, "group", RIGHT, y, "right", dy=-_LINE, limit=half),
        written(base, "value", LEFT, y, dx=alt.expr("width / 2 - 20"), dy=-_LINE, fontWeight=600),
        *(
            written(
                base.transform_filter(alt.datum.significance == SIGNIFICANCE_NAMES[key]),
                "tested",
                LEFT,
                y,
                dy=_LINE,
                fontSize=11,
                color=colours.text[key],
            )
            for key in ORDER
        ),
        written(base, "note", LEFT, y, fontStyle="italic", color=colours.muted, limit=alt.expr("width")),
    ]


def _alt(result: RunResult, ranked: Sequence[DsiResult]) -> str:
    permutations = result.permutations
    parts = []
    for row in ranked:
        if row.outcome.value is None:
            parts.append(f"{axis_label(row.axes)} not estimable")
            continue
        group = "" if row.group is None else f", attained by {group_label(row.group)}"
        parts.append(
            f"{axis_label(row.axes)} {format_value(row.outcome.value)}{group} "
            f"({p_words(row.outcome, permutations=permutations)}, "
            f"{SIGNIFICANCE_NAMES[row.outcome.significance]})"
        )
    return f"Diversity sensitivity index by axis, largest first: {'; '.join(parts)}."
