"""Bars and lollipops: DSI of each axis, a group's label use, and how well all raters agree on each label."""

from typing import Any

import altair as alt

from grasp_core.model.groups import axis_label, group_label, one_line
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.result import DsiResult, GroupResult, RunResult
from grasp_core.report.charts import theme as draw
from grasp_core.report.charts.histograms import on_axis
from grasp_core.report.everybody import least_agreed
from grasp_core.report.tables import told_axes
from grasp_core.report.words import names
from grasp_core.report.words.label_use import format_points, format_points_interval, p_and_q, shift_outcome

_DSI_ROW, _DSI_LINE = 58, 18
"""Pixels of an axis, and from its lollipop up to its name and down to how it was tested."""


def dsi_chart(result: RunResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """Lollipops from GAI 1 to each axis's DSI, largest first: which axis recruitment should watch."""
    told = ["DSI: the largest GAI among an axis’s groups.", "p and q: against the largest that"]
    heading = draw.title("Diversity sensitivity by axis", [*told, "the groups of random groupings reach."])
    if not result.dsi:
        return draw.message(theme, heading=heading, text="This run reports no DSI.")
    ranked = told_axes(result)
    data = [_of_axis(result, row, place) for place, row in enumerate(ranked)]
    said = "; ".join(_axis_in_words(result, row) for row in ranked)
    alt_text = f"Diversity sensitivity index by axis, largest first: {said}."
    height = _DSI_ROW * len(data)
    return draw.finish(_lollipops(data, theme), theme, heading=heading, alt_text=alt_text, height=height)


def _of_axis(result: RunResult, row: DsiResult, place: int) -> dict[str, Any]:
    outcome, known = row.outcome, row.outcome.value is not None
    p, q = names.in_figure(outcome, result)
    of_group = (
        "" if row.p_group is None else names.format_p_value(row.p_group, permutations=result.permutations)
    )
    return {
        "axis": axis_label(row.axes),
        "group": "" if row.group is None else group_label(row.group),
        "middle": place + 0.5,
        "x": on_axis(outcome).value,
        "value": f"{names.format_value(outcome.value)}{names.form(outcome)}" if known else "",
        "p": "" if outcome.p is None else p,
        "q": "" if outcome.q is None else q,
        "p_group": of_group,
        "significance": names.SIGNIFICANCE_NAMES[outcome.significance],
        "significance_group": names.SIGNIFICANCE_NAMES[row.significance_group],
        "tested": _tested(outcome, result) if known else "",
        "note": "" if known else f"{names.NOT_ESTIMABLE}: {outcome.reason or 'no reason given'}",
    }


def _tested(outcome: Outcome, result: RunResult) -> str:
    if outcome.p is None:
        return names.NOT_YET if names.not_yet(outcome, result) else names.format_p(None)
    if result.provisional:
        return f"p {names.p_so_far(outcome)}{f', {names.MAY_CHANGE}' if names.may_change(outcome) else ''}"
    many = result.permutations
    q = names.format_p(outcome.q, name="q", permutations=many)
    return ", ".join(
        filter(None, (names.p_words(outcome, permutations=many), q, draw.badge(outcome.significance)))
    )


def _axis_in_words(result: RunResult, row: DsiResult) -> str:
    if row.outcome.value is None:
        return f"{axis_label(row.axes)} not estimable"
    group = "" if row.group is None else f", attained by {group_label(row.group)}"
    tested = names.p_words(row.outcome, permutations=result.permutations)
    mark = names.SIGNIFICANCE_NAMES[row.outcome.significance]
    value = f"{names.format_value(row.outcome.value)}{names.form(row.outcome)}"
    return f"{axis_label(row.axes)} {value}{group} ({tested}, {mark})"


def _lollipops(data: list[dict[str, Any]], theme: draw.Theme) -> list[alt.Chart]:
    colours, base = draw.palette(theme), alt.Chart(draw.rows(data, "dsi"))
    drawn = draw.valid(base, "x")
    known = [1.0, *(row["x"] for row in data if row["x"] is not None)]
    heading = "DSI (GAI; 1: agrees with itself as with others)"
    x = draw.measured("x", draw.padded(known, 0.06, 0.05), heading, format=".2f", grid=False)
    y, half = draw.down("middle", len(data)), alt.expr("width / 2 - 30")
    told = draw.tooltip(
        axis="Axis",
        value="DSI",
        group="Attained by",
        p="p (against the largest of random groupings)",
        q="q",
        significance="Result",
        p_group="p of that group’s GAI",
        significance_group="Result for that group",
    )
    above: dict[str, Any] = {"dy": -_DSI_LINE}
    return [
        drawn.mark_rule(strokeWidth=3, opacity=0.55).encode(
            x=x, x2=alt.X2Datum(1), y=y, color=draw.colour(theme)
        ),
        draw.tick(drawn, alt.XDatum(1), y, theme, size=16),
        draw.marked(drawn, x, y, theme, size=150).encode(tooltip=told),
        # Above an axis's lollipop its name, its DSI and the group that attains it; below, how it was tested.
        draw.written(base, "axis", draw.LEFT, y, limit=half, fontSize=13, **above).encode(tooltip=told),
        draw.written(base, "group", draw.RIGHT, y, "right", limit=half, **above),
        draw.written(base, "value", draw.LEFT, y, dx=alt.expr("width / 2 - 20"), fontWeight=600, **above),
        *draw.by_mark(base, "tested", draw.LEFT, y, theme, dy=_DSI_LINE, fontSize=11),
        draw.written(
            base, "note", draw.LEFT, y, fontStyle="italic", color=colours.muted, limit=alt.expr("width")
        ),
    ]


_LABEL_ROW = 44
_TEXT, _BAR = 0.22, 0.68
"""Where in a label's row its text and its bar lie."""
_MOST_LABELS = 40
"""Labels that are drawn, those that differ most; the table beside the chart has all."""


def label_use_chart(result: RunResult, row: GroupResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A bar per label to the left or right of 0, in percentage points, with its interval across it."""
    use = row.label_use
    told = ["How much more or less often than the others", "on the same items, in percentage points."]
    heading = draw.title("Label use", told if use is None else [*told, _of_all_labels(use, result)])
    if use is None or not any(shift.value is not None for shift in use.labels.values()):
        reason = "not part of this run" if use is None or use.reason is None else str(use.reason)
        return draw.message(theme, heading=heading, text=f"There is no label use to show: {reason}.")
    found = {label: shift for label, shift in use.labels.items() if shift.value is not None}
    most = sorted(found, key=lambda label: -abs(found[label].value or 0.0))[:_MOST_LABELS]
    shown = [label for label in found if label in most]
    drawn = [_of_label(use, label, place) for place, label in enumerate(shown)]
    said = "; ".join(f"{one['label']} {one['value']} {one['interval']}".rstrip() for one in drawn)
    alt_text = f"Label use of {group_label(row.group)}, beside the others on the same items: {said}."
    height = _LABEL_ROW * len(drawn)
    return draw.finish(_bars_from_0(drawn, theme), theme, heading=heading, alt_text=alt_text, height=height)


def _of_all_labels(use: LabelUse, result: RunResult) -> str:
    """The one test of all bars."""
    tested = f"p {names.p_so_far(use)}" if result.provisional else p_and_q(use, result)
    return f"All labels together: {tested}."


def _of_label(use: LabelUse, label: str, place: int) -> dict[str, Any]:
    shift = use.labels[label]
    ends = {"x": shift.value, "low": shift.low, "high": shift.high}
    return {
        "label": label,
        **{name: None if share is None else 100 * share for name, share in ends.items()},
        "value": format_points(shift.value),
        "interval": format_points_interval(shift),
        "significance": names.SIGNIFICANCE_NAMES[shift_outcome(use, label).significance],
        "text": place + _TEXT,
        "bar": place + _BAR,
    }


def _bars_from_0(drawn: list[dict[str, Any]], theme: draw.Theme) -> list[alt.Chart]:
    colours = draw.palette(theme)
    ends = [0.0, *(one[end] for one in drawn for end in ("x", "low", "high") if one[end] is not None)]
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=list(draw.padded(ends, 0.06, 1.0)), nice=False),
        axis=alt.Axis(
            title="percentage points more often than the others", tickCount=draw.ticks(), grid=False
        ),
    )
    bar, text = (draw.down(at, len(drawn)) for at in ("bar", "text"))
    base = alt.Chart(draw.rows(drawn, "labels")).encode(
        tooltip=draw.tooltip("label", "value", "interval", value="Difference")
    )
    told = base.transform_calculate(told="datum.value + '  ' + datum.interval")
    return [
        draw.from_edge_to_edge(base, bar, theme),
        base.mark_bar(size=15, opacity=0.75).encode(x=x, x2=alt.X2Datum(0), y=bar, color=draw.colour(theme)),
        draw.tick(base, alt.XDatum(0), bar, theme, size=22),
        draw.interval(base, alt.X("low:Q"), bar, color=colours.ink, strokeWidth=1.8, strokeCap="round"),
        draw.written(base, "label", draw.LEFT, text, limit=alt.expr("width - 215")),
        draw.written(told, "told", draw.RIGHT, text, "right"),
    ]


SHOWN = 12
"""Labels that are drawn, those given most often."""
_ROW, _HEAD = 54, 26
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
            "y": _HEAD + _ROW * (place + 0.5),
        }
        for place, one in enumerate(shown)
    ]
    height = _HEAD + _ROW * len(data)
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
