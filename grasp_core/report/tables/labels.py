"""Label use as tables: rows for each group and label, and a row for each group."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from grasp_core.outcome import LabelUse, Shift
from grasp_core.report.tables.groups import or_nan
from grasp_core.report.words.label_use import foremost, format_points, format_points_interval
from grasp_core.report.words.names import (
    FITTED,
    NOT_ESTIMABLE,
    SIGNIFICANCE_NAMES,
    STARS,
    axis_label,
    format_p_value,
    group_label,
    one_line,
    p_text,
    signs,
)
from grasp_core.report.words.so_far import MAY_CHANGE, may_change, p_so_far, q_so_far
from grasp_core.result import GroupResult, RunResult

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
    """Rows for each group: all labels together, each label, and the mean where labels are ordered or numbers.

    Returns
    -------
    DataFrame
        `axis`, `group`, `raters`, `label`, `shift`, `low` and `high` (float; a share, of the mean on its
        scale; NaN where there is none), `p`, `q` and `stars`. The test is that of all labels together: its
        row alone has `q` and `stars`, and `p` of a label or of the mean is not corrected.
    """
    columns = ["axis", "group", "raters", "label", "shift", "low", "high", "p", "q", "stars"]
    none = float("nan")
    rows = [
        [axis_label(row.group.axes), group_label(row.group), row.n_raters, *cells]
        for row, use in with_label_use(result)
        for cells in (
            [ALL_LABELS, none, none, none, *map(or_nan, (use.p, use.q)), signs(use)],
            *(
                [label, *map(or_nan, (shift.value, shift.low, shift.high, shift.p)), none, ""]
                for label, shift in (*use.labels.items(), *(() if use.mean is None else ((MEAN, use.mean),)))
            ),
        )
    ]
    return pd.DataFrame(rows, columns=columns)


def label_use_by_group(result: RunResult, *, intervals: bool = False) -> pd.DataFrame:
    """One row for each group, with texts: points for each label, or for the label that differs most.

    With `intervals` each label's points have theirs behind them.

    Returns
    -------
    DataFrame
        Columns `Axis`, `Group`, `Raters`, then one for each label, or `Label`, `Points` and `95 % interval`
        where there are more than fit, then `p` and `q` of all labels together, `q` with the group's stars.
    """
    found, labels = with_label_use(result), _labels(result)
    few = len(labels) <= _MOST_COLUMNS
    heads = _apart([one_line(label) for label in labels]) if few else ["Label", "Points", "95 % interval"]
    rows = [
        [
            axis_label(row.group.axes),
            group_label(row.group),
            row.n_raters,
            *(_of_labels(use, labels, intervals=intervals) if few else _of_foremost(use)),
            *_tested(use, result),
        ]
        for row, use in found
    ]
    return pd.DataFrame(rows, columns=["Axis", "Group", "Raters", *heads, "p", "q"])


def label_use_numbers(result: RunResult) -> tuple[pd.DataFrame, list[str]]:
    """The table of :func:`label_use_by_group` with numbers in place of texts, and the heads of its points.

    Returns
    -------
    DataFrame
        Points, `p` and `q` as float, NaN where there is none; at last `Marked`, in words.
    list of str
    """
    table, labels = label_use_by_group(result), _labels(result)
    uses = [use for _, use in with_label_use(result)]
    few = len(labels) <= _MOST_COLUMNS
    heads = list(table.columns[3:-2]) if few else ["Points"]
    shifts = [[use.labels.get(label) for label in labels] if few else [_foremost_shift(use)] for use in uses]
    for head, of_groups in zip(heads, zip(*shifts, strict=True), strict=True):
        table[head] = [100 * or_nan(None if shift is None else shift.value) for shift in of_groups]
    table["p"] = [or_nan(use.p) for use in uses]
    table["q"] = [or_nan(use.q) for use in uses]
    marks = {**SIGNIFICANCE_NAMES, "none": ""}
    table["Marked"] = [f"{marks[use.significance]} {FITTED if use.fit else ''}".strip() for use in uses]
    return table, heads


def _labels(result: RunResult) -> list[str]:
    return list(dict.fromkeys(label for _, use in with_label_use(result) for label in use.labels))


def _foremost_shift(use: LabelUse) -> Shift | None:
    found = foremost(use)
    return None if found is None else found[1]


def _apart(labels: Sequence[str]) -> list[str]:
    """Heads that differ from each other and from the table's own, in quotation marks where they would not."""
    own = {"Axis", "Group", "Raters", "p", "q", "Marked"}
    plain = own.isdisjoint(labels) and len(set(labels)) == len(labels)
    return list(labels) if plain else [f"{place} “{label}”" for place, label in enumerate(labels, start=1)]


def _of_labels(use: LabelUse, labels: Sequence[str], *, intervals: bool) -> list[str]:
    shifts = [use.labels.get(label, Shift(None)) for label in labels]
    within = [f" {format_points_interval(shift)}" if intervals else "" for shift in shifts]
    return [f"{format_points(one.value)}{more}".rstrip() for one, more in zip(shifts, within, strict=True)]


def _of_foremost(use: LabelUse) -> list[str]:
    found = foremost(use)
    if found is None:
        return ["", NOT_ESTIMABLE, ""]
    label, shift = found
    return [one_line(label), format_points(shift.value), format_points_interval(shift)]


def _tested(use: LabelUse, result: RunResult) -> list[str]:
    if result.provisional:
        unsure = MAY_CHANGE if may_change(use) else ""
        return [p_so_far(use), f"{q_so_far(use)}{unsure}"]
    q = format_p_value(use.q, permutations=result.permutations)
    return [p_text(use, permutations=result.permutations), f"{q} {STARS[use.significance]}".rstrip()]
