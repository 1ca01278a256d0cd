"""Results as tables: groups, label use, DSI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd

from grasp_core.model.groups import Group, axis_label, group_label, named_group, one_line
from grasp_core.model.outcome import LabelUse, Outcome, Shift
from grasp_core.model.result import DsiResult, GroupResult, RunResult
from grasp_core.report.columns import or_nan
from grasp_core.report.words import names
from grasp_core.report.words.label_use import foremost, format_points, format_points_interval

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
_HEADS = ("axis", "group", "raters", "annotations")
_HEADS_IN_WORDS = ("Axis", "Group", "Raters", "Annotations")


def effect(outcome: Outcome) -> float | None:
    """Distance of the value from its null's median; None where either is not estimable."""
    if outcome.value is None or outcome.null_median is None:
        return None
    return abs(outcome.value - outcome.null_median)


def ordered_groups(
    result: RunResult, order: RowOrder = "axis", by: str | None = None
) -> tuple[GroupResult, ...]:
    """The groups in the one row order that tables and figures share."""
    statistic = by or names.lead_statistic(result)
    if order == "axis":
        return result.groups
    if order == "effect":
        return tuple(
            sorted(result.groups, key=lambda row: _last(effect(names.outcome_of(row, statistic)), -1))
        )
    if order == "q":
        tests = {row.group: names.outcome_of(row, statistic) for row in result.groups}

        def evidence(row: GroupResult) -> tuple[bool, float, bool, float]:
            return (*_last(tests[row.group].q, 1), *_last(tests[row.group].p, 1))

        return tuple(sorted(result.groups, key=evidence))
    raise ValueError(f"`order` must be axis, effect or q; found {order!r}")


def _last(number: float | None, sign: int) -> tuple[bool, float]:
    return (True, 0.0) if number is None else (False, sign * number)


def results_table(result: RunResult, *, order: RowOrder = "axis", by: str | None = None) -> pd.DataFrame:
    """Table 5 with numbers: one row per group."""
    rows = []
    for row in ordered_groups(result, order, by):
        cells: dict[str, Any] = dict(zip(_HEADS, _head(row), strict=True))
        for name in names.reported_statistics(result):
            found = _of_outcome(names.outcome_of(row, name), result)
            cells |= {f"{name}_{part}" if part else name: cell for part, cell in found.items()}
        rows.append(cells)
    parts = ["", *_OF_STATISTIC]
    parts += ["unsure"] if result.provisional else []
    parts += ["fitted"] if result.spec.analysis.tail else []
    columns = [
        f"{name}_{part}" if part else name for name in names.reported_statistics(result) for part in parts
    ]
    return pd.DataFrame(rows, columns=[*_HEADS, *columns])


def _of_outcome(outcome: Outcome, result: RunResult) -> dict[str, Any]:
    so_far = result.provisional
    return {
        "": or_nan(outcome.value),
        **dict(zip(("low", "high"), map(or_nan, ends(outcome)), strict=True)),
        "interval": names.format_interval(outcome),
        "arrow": names.arrow(outcome),
        "stars": names.STARS[outcome.significance],
        "p": names.p_so_far(outcome) if so_far else or_nan(outcome.p),
        "q": names.q_so_far(outcome) if so_far else or_nan(outcome.q),
        "unsure": names.MAY_CHANGE if names.may_change(outcome) else "",
        "fitted": names.FITTED if outcome.fit is not None else "",
        "form": names.OF_SHARES if outcome.of_shares else "",
        "reason": str(outcome.reason or ""),
    }


def _head(row: GroupResult) -> tuple[str, str, int, int]:
    return axis_label(row.group.axes), group_label(row.group), row.n_raters, row.n_annotations


def column_label(column: str) -> str:
    """The head of a :func:`results_table` column in words."""
    heads = {name.lower(): name for name in _HEADS_IN_WORDS}
    for name, words in names.WORDS.items():
        heads |= {name: words.name}
        heads |= {f"{name}_{part}": f"{words.name} {label}" for part, label in _OF_STATISTIC.items()}
    return heads[column]


def wide_table(result: RunResult) -> pd.DataFrame:
    """Table 5 as printed in the paper: one text cell per group and statistic, such as ``0.540 ↓*``."""
    statistics = names.reported_statistics(result)
    rows = [
        [*_head(row), *(cell_text(names.outcome_of(row, name)) for name in statistics)]
        for row in result.groups
    ]
    return pd.DataFrame(rows, columns=[*_HEADS_IN_WORDS, *(names.WORDS[name].name for name in statistics)])


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
                "p": names.format_p_value(verdict.p),
                "q": names.format_p_value(verdict.q),
            }
        )
    return pd.DataFrame(rows)


def lead_table(result: RunResult) -> pd.DataFrame:
    """A provisional result for narrow places: the lead statistic with its p so far, then the others."""
    lead = names.lead_statistic(result)
    titles = [lead, *(name for name in names.reported_statistics(result) if name != lead)]
    rows = []
    for row in result.groups:
        first, *others = (cell_text(names.outcome_of(row, name)) for name in titles)
        rows.append([*_head(row)[:3], first, names.p_so_far(names.outcome_of(row, lead)), *others])
    first, *others = (names.WORDS[name].name for name in titles)
    heads = [*_HEADS_IN_WORDS[:3], first, "p", *others]
    return pd.DataFrame(rows, columns=heads) if rows else pd.DataFrame()


def cell_text(outcome: Outcome) -> str:
    """Value, arrow and stars in one cell, with a question mark where these may still change."""
    unsure = names.MAY_CHANGE if names.may_change(outcome) else ""
    return (
        f"{names.format_value(outcome.value)} {names.arrow(outcome)}{names.signs(outcome)}{unsure}".rstrip()
    )


def ordered_dsi(result: RunResult) -> tuple[DsiResult, ...]:
    """The axes, largest DSI first."""
    return tuple(sorted(result.dsi, key=lambda row: _last(row.outcome.value, -1)))


def dsi_table(result: RunResult) -> pd.DataFrame:
    """Diversity sensitivity index per axis, largest first."""
    columns = ["axis", "dsi", "low", "high", "group", "p", "q", "stars", "p_group", "stars_group", "reason"]
    return pd.DataFrame(
        [
            {
                "axis": axis_label(row.axes),
                "dsi": or_nan(row.outcome.value),
                **dict(zip(("low", "high"), map(or_nan, ends(row.outcome)), strict=True)),
                "group": "" if row.group is None else group_label(row.group),
                "p": names.p_so_far(row.outcome) if result.provisional else or_nan(row.outcome.p),
                "q": names.q_so_far(row.outcome) if result.provisional else or_nan(row.outcome.q),
                "stars": names.signs(row.outcome),
                "p_group": or_nan(row.p_group),
                "stars_group": names.STARS[row.significance_group],
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


_MOST_COLUMNS = 6
"""Labels that a table has room for side by side; of more, each group has the one that differs most."""
ALL_LABELS, MEAN = "all labels", "mean"


def with_label_use(result: RunResult) -> tuple[tuple[GroupResult, LabelUse], ...]:
    """The groups whose label use was computed."""
    return tuple((row, row.label_use) for row in result.groups if row.label_use is not None)


def drawn_labels(result: RunResult) -> tuple[str, ...]:
    """Labels worth a figure each: all where they are few, else those that set a marked group apart most."""
    found = with_label_use(result)
    labels = dict.fromkeys(label for _, use in found for label in use.labels)
    if len(labels) == 2:  # what one gains the other loses
        return tuple(labels)[1:]
    if len(labels) <= _MOST_COLUMNS:
        return tuple(labels)
    foremost_of = {use.most for _, use in found if use.significance != "none"}
    return tuple(label for label in labels if label in foremost_of)[:_MOST_COLUMNS]


def label_use_table(result: RunResult) -> pd.DataFrame:
    """Rows for each group: all labels together, each label, and the mean where labels have one."""
    columns = ["axis", "group", "raters", "label", "shift", "low", "high", "p", "q", "stars"]
    none, rows = float("nan"), []
    for row, use in with_label_use(result):
        rows.append(
            [*_head(row)[:3], ALL_LABELS, none, none, none, or_nan(use.p), or_nan(use.q), names.signs(use)]
        )
        for label, one in (*use.labels.items(), *([] if use.mean is None else [(MEAN, use.mean)])):
            numbers = map(or_nan, (one.value, one.low, one.high, one.p))
            rows.append([*_head(row)[:3], label, *numbers, none, ""])
    return pd.DataFrame(rows, columns=columns)


def label_use_by_group(result: RunResult, *, intervals: bool = False) -> pd.DataFrame:
    """One row for each group, with texts: points for each label, or for the label that differs most."""
    found, labels = with_label_use(result), _labels(result)
    few = len(labels) <= _MOST_COLUMNS
    heads = _apart([one_line(label) for label in labels]) if few else ["Label", "Points", "95 % interval"]
    rows = []
    for row, use in found:
        foremost_of = foremost(use)
        if few:
            shifts = [use.labels.get(label, Shift(None)) for label in labels]
            within = [f" {format_points_interval(shift)}" if intervals else "" for shift in shifts]
            cells = [
                f"{format_points(one.value)}{more}".rstrip() for one, more in zip(shifts, within, strict=True)
            ]
        elif foremost_of is None:
            cells = ["", names.NOT_ESTIMABLE, ""]
        else:
            label, shift = foremost_of
            cells = [one_line(label), format_points(shift.value), format_points_interval(shift)]
        tested = p_and_starred_q(use, result)
        if result.provisional:
            tested = [
                names.p_so_far(use),
                f"{names.q_so_far(use)}{names.MAY_CHANGE if names.may_change(use) else ''}",
            ]
        rows.append([*_head(row)[:3], *cells, *tested])
    return pd.DataFrame(rows, columns=[*_HEADS_IN_WORDS[:3], *heads, "p", "q"])


def label_use_numbers(result: RunResult) -> tuple[pd.DataFrame, list[str]]:
    """The table of :func:`label_use_by_group` with numbers in place of texts, and the heads of its points."""
    table, labels = label_use_by_group(result), _labels(result)
    uses = [use for _, use in with_label_use(result)]
    few = len(labels) <= _MOST_COLUMNS
    heads = list(table.columns[3:-2]) if few else ["Points"]
    shifts = [
        [use.labels.get(label) for label in labels] if few else [(foremost(use) or ("", None))[1]]
        for use in uses
    ]
    for head, of_groups in zip(heads, zip(*shifts, strict=True), strict=True):
        table[head] = [100 * or_nan(None if shift is None else shift.value) for shift in of_groups]
    table["p"] = [or_nan(use.p) for use in uses]
    table["q"] = [or_nan(use.q) for use in uses]
    marks = {**names.SIGNIFICANCE_NAMES, "none": ""}
    table["Marked"] = [f"{marks[use.significance]} {names.FITTED if use.fit else ''}".strip() for use in uses]
    return table, heads


def _labels(result: RunResult) -> list[str]:
    return list(dict.fromkeys(label for _, use in with_label_use(result) for label in use.labels))


def _apart(labels: Sequence[str]) -> list[str]:
    """Heads that differ from each other and from the table's own, in quotation marks where they would not."""
    own = {"Axis", "Group", "Raters", "p", "q", "Marked"}
    plain = own.isdisjoint(labels) and len(set(labels)) == len(labels)
    return list(labels) if plain else [f"{place} “{label}”" for place, label in enumerate(labels, start=1)]


def p_and_starred_q(test: Outcome | LabelUse, result: RunResult) -> list[str]:
    """Cells of a test: p, and q with its stars."""
    q = names.format_p_value(test.q, permutations=result.permutations)
    return [
        names.p_text(test, permutations=result.permutations),
        f"{q} {names.STARS[test.significance]}".rstrip(),
    ]
