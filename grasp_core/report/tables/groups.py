"""A result as tables: Table 5's layout, and the DSI table."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from grasp_core.groups import Group
from grasp_core.outcome import Outcome
from grasp_core.report.words.names import (
    FITTED,
    OF_SHARES,
    STARS,
    WORDS,
    arrow,
    axis_label,
    format_interval,
    format_p_value,
    format_value,
    group_label,
    lead_statistic,
    named_group,
    outcome_of,
    reported_statistics,
    signs,
)
from grasp_core.report.words.so_far import MAY_CHANGE, may_change, p_so_far, q_so_far
from grasp_core.result import DsiResult, GroupResult, RunResult

RowOrder = Literal["axis", "effect", "q"]
"""Rows as the run formed them (axis by axis), largest effect first, or smallest q first."""

_OF_STATISTIC = {
    "low": "from",
    "high": "to",
    "interval": "95 % interval",
    "arrow": "↑↓",
    "stars": "*",
    "p": "p",
    "q": "q",
    "form": "form",
    "reason": "why",
}
"""What a results table has beside a statistic's value, with the words of its head."""


def effect(outcome: Outcome) -> float | None:
    """Distance of the value from its null's median; None where either is not estimable."""
    if outcome.value is None or outcome.null_median is None:
        return None
    return abs(outcome.value - outcome.null_median)


def ordered_groups(
    result: RunResult, order: RowOrder = "axis", by: str | None = None
) -> tuple[GroupResult, ...]:
    """The groups in the one row order that tables and figures share.

    Parameters
    ----------
    result : RunResult
    order : {"axis", "effect", "q"}
        Groups without an effect or q come last.
    by : str, optional
        Statistic whose effect or q decides; by default the run's lead statistic, so that the
        order is the same whichever statistic is shown.

    Raises
    ------
    ValueError
        If `order` is none of the three.
    """
    statistic = by or lead_statistic(result)
    if order == "axis":
        return result.groups
    if order == "effect":
        return tuple(sorted(result.groups, key=lambda row: _last(effect(outcome_of(row, statistic)), -1)))
    if order == "q":
        return tuple(sorted(result.groups, key=lambda row: _significance_key(outcome_of(row, statistic))))
    raise ValueError(f"`order` must be axis, effect or q; found {order!r}")


def _last(number: float | None, sign: int) -> tuple[bool, float]:
    return (True, 0.0) if number is None else (False, sign * number)


def _significance_key(outcome: Outcome) -> tuple[bool, float, bool, float]:
    return (*_last(outcome.q, 1), *_last(outcome.p, 1))


def results_table(result: RunResult, *, order: RowOrder = "axis", by: str | None = None) -> pd.DataFrame:
    """Table 5 with numbers: one row per group.

    Returns
    -------
    DataFrame
        Columns `axis`, `group`, `raters`, `annotations`, then per reported statistic s:
        `s`, `s_low` and `s_high` (float, NaN where there is none), `s_interval` (both as a text), `s_arrow`,
        `s_stars`, `s_p`, `s_q`, `s_form` (a sign where a distance is that of shares), `s_reason`.
        :func:`column_label` gives the words for a column's head. Of a provisional result `s_p` and `s_q` are
        texts with their interval, and `s_unsure` marks what may still change.
    """
    columns = ["axis", "group", "raters", "annotations"]
    for name in reported_statistics(result):
        columns += [name, *(f"{name}_{part}" for part in _OF_STATISTIC)]
        columns += [f"{name}_unsure"] if result.provisional else []
        columns += [f"{name}_fitted"] if result.spec.analysis.tail else []
    statistics, so_far = reported_statistics(result), result.provisional
    rows = [_results_row(row, statistics, so_far=so_far) for row in ordered_groups(result, order, by)]
    return pd.DataFrame(rows, columns=columns)


def _results_row(row: GroupResult, statistics: tuple[str, ...], *, so_far: bool) -> dict[str, Any]:
    cells: dict[str, Any] = {
        "axis": axis_label(row.group.axes),
        "group": group_label(row.group),
        "raters": row.n_raters,
        "annotations": row.n_annotations,
    }
    for name in statistics:
        outcome = outcome_of(row, name)
        cells |= {
            name: or_nan(outcome.value),
            **dict(zip((f"{name}_low", f"{name}_high"), map(or_nan, ends(outcome)), strict=True)),
            f"{name}_interval": format_interval(outcome),
            f"{name}_arrow": arrow(outcome),
            f"{name}_stars": STARS[outcome.significance],
            f"{name}_p": or_nan(outcome.p),
            f"{name}_q": or_nan(outcome.q),
            f"{name}_fitted": FITTED if outcome.fit is not None else "",
            f"{name}_form": OF_SHARES if outcome.of_shares else "",
            f"{name}_reason": str(outcome.reason or ""),
        }
        if so_far:
            cells |= {
                f"{name}_p": p_so_far(outcome),
                f"{name}_q": q_so_far(outcome),
                f"{name}_unsure": MAY_CHANGE if may_change(outcome) else "",
            }
    return cells


def or_nan(value: float | None) -> float:
    """The number; NaN where there is none."""
    return float("nan") if value is None else value


def column_label(column: str) -> str:
    """The head of a :func:`results_table` column in words."""
    for name, words in WORDS.items():
        if column == name:
            return words.name
        for part, label in _OF_STATISTIC.items():
            if column == f"{name}_{part}":
                return f"{words.name} {label}"
    return {"axis": "Axis", "group": "Group", "raters": "Raters", "annotations": "Annotations"}[column]


def wide_table(result: RunResult) -> pd.DataFrame:
    """Table 5 as printed in the paper: one text cell per group and statistic, such as ``0.540 ↓*``."""
    statistics = reported_statistics(result)
    rows = [
        [
            axis_label(row.group.axes),
            group_label(row.group),
            row.n_raters,
            row.n_annotations,
            *(cell_text(outcome_of(row, name)) for name in statistics),
        ]
        for row in result.groups
    ]
    heads = ["Axis", "Group", "Raters", "Annotations", *(WORDS[name].name for name in statistics)]
    return pd.DataFrame(rows, columns=heads)


def verdict_table(result: RunResult) -> pd.DataFrame:
    """Groups that are clear, explained by another one, or a hint: a row each, the two of an axis together."""
    rows, told = [], set[Group]()
    for row in result.groups:
        verdict = row.verdict
        if verdict is None or verdict.code in ("none", "untestable") or row.group in told:
            continue
        both = [row.group] if verdict.other is None else [row.group, verdict.other]
        told |= set(both)
        rows.append(
            {
                "Axis": axis_label(row.group.axes),
                "Group": " and ".join(map(group_label, both)),
                "Verdict": verdict.code,
                "By": "" if verdict.by is None else named_group(verdict.by),
                "Kinds": ", ".join(verdict.kinds),
                "p": format_p_value(verdict.p),
                "q": format_p_value(verdict.q),
            }
        )
    return pd.DataFrame(rows)


def lead_table(result: RunResult) -> pd.DataFrame:
    """A provisional result for narrow places: the lead statistic with its p so far, then the others."""
    lead = lead_statistic(result)
    others = [name for name in reported_statistics(result) if name != lead]
    rows = []
    for row in result.groups:
        outcome = outcome_of(row, lead)
        rows.append(
            {
                "Axis": axis_label(row.group.axes),
                "Group": group_label(row.group),
                "Raters": row.n_raters,
                WORDS[lead].name: cell_text(outcome),
                "p": p_so_far(outcome),
                **{WORDS[name].name: cell_text(outcome_of(row, name)) for name in others},
            }
        )
    return pd.DataFrame(rows)


def cell_text(outcome: Outcome) -> str:
    """Value, arrow and stars in one cell, with a question mark where these may still change."""
    unsure = MAY_CHANGE if may_change(outcome) else ""
    return f"{format_value(outcome.value)} {arrow(outcome)}{signs(outcome)}{unsure}".rstrip()


def ordered_dsi(result: RunResult) -> tuple[DsiResult, ...]:
    """The axes, largest DSI first."""
    return tuple(sorted(result.dsi, key=lambda row: _last(row.outcome.value, -1)))


def dsi_table(result: RunResult) -> pd.DataFrame:
    """Diversity sensitivity index per axis, largest first.

    Returns
    -------
    DataFrame
        `axis`, `dsi`, `low` and `high` (its 95 % interval), `group` (the one that attains it), `p`, `q`,
        `stars` (test against the largest of random groupings), `p_group`, `stars_group` (that group's own
        GAI, the paper's convention), `reason`.
    """
    columns = ["axis", "dsi", "low", "high", "group", "p", "q", "stars", "p_group", "stars_group", "reason"]
    return pd.DataFrame(
        [
            {
                "axis": axis_label(row.axes),
                "dsi": or_nan(row.outcome.value),
                **dict(zip(("low", "high"), map(or_nan, ends(row.outcome)), strict=True)),
                "group": "" if row.group is None else group_label(row.group),
                "p": p_so_far(row.outcome) if result.provisional else or_nan(row.outcome.p),
                "q": q_so_far(row.outcome) if result.provisional else or_nan(row.outcome.q),
                "stars": signs(row.outcome),
                "p_group": or_nan(row.p_group),
                "stars_group": STARS[row.significance_group],
                "reason": str(row.outcome.reason or ""),
            }
            for row in ordered_dsi(result)
        ],
        columns=columns,
    )


def ends(outcome: Outcome) -> tuple[float | None, float | None]:
    """An outcome's interval as two numbers."""
    interval = outcome.interval
    return (None, None) if interval is None else (interval.low, interval.high)
