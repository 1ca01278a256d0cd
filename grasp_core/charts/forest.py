"""Forest plots: each group's value with its interval, of one statistic or of one label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from grasp_core.charts.forest_layers import Measure, layers
from grasp_core.charts.nulls import on_page, shared_domain, within
from grasp_core.charts.theme import (
    Theme,
    finish,
    message,
    title,
)
from grasp_core.report.tables.groups import RowOrder, ends, ordered_groups
from grasp_core.report.words.label_use import format_points, label_outcome
from grasp_core.report.words.names import (
    NOT_ESTIMABLE,
    SIGNIFICANCE_NAMES,
    WORDS,
    axis_label,
    format_value,
    group_labels,
    one_line,
    outcome_of,
    signs,
    verdict,
)
from grasp_core.report.words.so_far import MAY_CHANGE, may_change, p_in_figure, q_in_figure
from grasp_core.result import GroupResult, RunResult
from grasp_core.wording import number

EACH_GROUP = "each group"
_ROW, _HEADING = 36, 26
"""Pixels of a group's two lines, and of an axis heading."""
_TEXT, _MARK = 11, 26
"""Where in a group's row its text and its mark lie."""
_NOTHING: dict[str, float] = {"gai": 1.0, "gap": 0.0, "distance": 0.0, "irr": 0.0, "xrr": 0.0}
"""Values that say "no difference" or "as by chance", where there is such a value."""


def forest_plot(
    result: RunResult,
    statistic: str,
    theme: Theme = "light",
    order: RowOrder = "axis",
    by: str | None = None,
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """Value and 95 % interval of a statistic for each group, beside the middle of its random groupings.

    Parameters
    ----------
    result : RunResult
    statistic : str
        One of :data:`grasp_core.spec.STATISTICS`.
    theme : {"light", "dark"}
    order : {"axis", "effect", "q"}
    by : str, optional
        See :func:`grasp_core.report.tables.groups.ordered_groups`.
    page : int, optional
        See :func:`grasp_core.charts.histograms.null_histograms`.
    of : str
        What its rows are of, for the title.

    Returns
    -------
    LayerChart
        As wide as its container, readable from 320 pixels on; named data set `forest`.

    Raises
    ------
    ValueError
        If the statistic is unknown.
    """
    if statistic not in WORDS:
        raise ValueError(f"`statistic` must be one of {', '.join(WORDS)}; found {statistic!r}")
    words = WORDS[statistic]
    measure = Measure(
        words.name,
        words.axis,
        "Tick: the middle of random groupings.",
        _NOTHING.get(statistic),
        lambda row: outcome_of(row, statistic),
        format_value,
    )
    groups = ordered_groups(result, order, by)
    return _plot(result, measure, groups, theme, headed=order == "axis", page=page, of=of)


def label_forest_plot(
    result: RunResult,
    label: str,
    theme: Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """How much more often each group gives a label than the others do to the same items, with intervals.

    `label` is a key of :class:`~grasp_core.outcome.LabelUse`; groups without label use are left out. The rest
    is as in :func:`forest_plot`.
    """
    groups = [row for row in ordered_groups(result, order) if row.label_use is not None]
    shown = one_line(label)
    measure = Measure(
        f"“{shown}”",
        f"“{shown}”: points more often than the others on the same items",
        "Right of 0: more often than by the others.",
        0.0,
        lambda row: label_outcome(row, label),
        lambda points: NOT_ESTIMABLE if points is None else format_points(points / 100),
    )
    return _plot(result, measure, groups, theme, headed=order == "axis", page=page, of=of)


def _plot(
    result: RunResult,
    measure: Measure,
    groups: Sequence[GroupResult],
    theme: Theme,
    *,
    headed: bool,
    page: int | None,
    of: str,
) -> alt.LayerChart:
    heading = title(
        f"{measure.name} of {of}", ["In brackets: raters. Bar: 95 % interval.", measure.explanation]
    )
    if not groups:
        return message(theme, heading=heading, text="There is no group to show.")
    domain = shared_domain([measure.of(row) for row in groups])
    drawn, headings, height = _rows(result, measure, groups[on_page(page)], domain, headed=headed)
    return finish(
        layers(drawn, headings, measure, domain, height, theme),
        theme,
        heading=heading,
        alt_text=_alt(measure, drawn, number(len(drawn), "group") if of == EACH_GROUP else of),
        height=height,
    )


def _rows(
    result: RunResult,
    measure: Measure,
    groups: Sequence[GroupResult],
    domain: tuple[float, float],
    *,
    headed: bool,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Rows of groups and of axis headings, with their places in pixels from the top, and all pixels."""
    found: list[dict[str, Any]] = []
    headings: list[dict[str, Any]] = []
    top = 0
    axes: tuple[str, ...] | None = None
    names = group_labels([row.group for row in groups])
    for name, row in zip(names, groups, strict=True):
        if headed and row.group.axes != axes:
            axes = row.group.axes
            headings.append({"text": axis_label(axes), "y": top + _HEADING - 9})
            top += _HEADING
        found.append(
            {
                **_figures(result, measure, row, domain),
                "group": name,
                "named": f"{name} ({row.n_raters:,})",
                **_places(top),
            }
        )
        top += _ROW
    return found, headings, top


def _places(top: int) -> dict[str, int]:
    return {"top": top, "text_y": top + _TEXT, "mark_y": top + _MARK, "bottom": top + _ROW}


def _figures(
    result: RunResult, measure: Measure, row: GroupResult, domain: tuple[float, float]
) -> dict[str, Any]:
    outcome = measure.of(row)
    low, high = ends(outcome)
    interval = "" if low is None else f"[{measure.write(low)}, {measure.write(high)}]"
    beside = f"{signs(outcome)}{MAY_CHANGE if may_change(outcome) else ''}"
    return {
        "axis": axis_label(row.group.axes),
        "raters": row.n_raters,
        "x": within(domain, outcome.value),
        "low": within(domain, low),
        "high": within(domain, high),
        "chance": within(domain, outcome.null_median),
        "value": measure.write(outcome.value),
        "interval": interval or str(outcome.no_interval or ""),
        "figures": " ".join(part for part in (measure.write(outcome.value), interval, beside) if part),
        "p": p_in_figure(outcome, result),
        "q": "" if outcome.q is None else q_in_figure(outcome, result),
        "significance": SIGNIFICANCE_NAMES[outcome.significance],
        "verdict": verdict(outcome),
    }


def _alt(measure: Measure, drawn: list[dict[str, Any]], of: str) -> str:
    groups = [
        f"{row['group']} {row['value']} {row['interval'] if row['low'] is not None else ''}".rstrip()
        + (f", {row['significance']}" if row["significance"] != SIGNIFICANCE_NAMES["none"] else "")
        for row in drawn
        if row["x"] is not None
    ]
    missing = [row["group"] for row in drawn if row["x"] is None]
    parts = [f"{measure.name} with its 95 % interval for {of}: {'; '.join(groups)}."]
    if missing:
        parts.append(f"Not estimable: {'; '.join(missing)}.")
    return " ".join(parts)
