"""Models and groups as tables: for people, and as CSV."""

from __future__ import annotations

import csv
import io

import pandas as pd

from grasp_core.model.outcome import Outcome
from grasp_core.panels.models.result import ModelsResult, closer
from grasp_core.report.table_csv import exact, safe_cell
from grasp_core.report.tables import cell_text, or_nan
from grasp_core.report.words.models import LEAD, SIDE_WORDS
from grasp_core.report.words.names import (
    STARS,
    axis_label,
    format_p_value,
    format_value,
    group_label,
    p_so_far,
    q_so_far,
)

EVERYBODY = "All raters together"
CSV_COLUMNS = (
    "model",
    "axis",
    "group",
    "n_raters",
    "n_annotations",
    "statistic",
    "value",
    "null_median",
    "closer",
    "p",
    "q",
    "significance",
    "members_macro_f1",
    "reason",
)


def plurality_table(result: ModelsResult) -> pd.DataFrame:
    """Macro-F1 of each model against each group's own plurality, which that of all hides, a row per group.

    The first row is the plurality of all raters; the last columns are what the group's own members reach.
    """
    one = len({_members(result, model.name) for model in result.models}) == 1
    head = {"Axis": "", "Group": EVERYBODY, "Raters": result.data.raters}
    rows: list[dict[str, object]] = [
        {**head, **{model.name: format_value(model.overall_f1) for model in result.models}}
    ]
    for row in result.groups:
        cells: dict[str, object] = {
            "Axis": axis_label(row.group.axes),
            "Group": group_label(row.group),
            "Raters": row.n_raters,
        }
        cells |= {name: cell_text(side.statistics[LEAD]) for name, side in row.models.items()}
        for name, side in row.models.items():
            cells["Own members" if one else f"Own members, items of {name}"] = format_value(side.members_f1)
        rows.append(cells)
    return pd.DataFrame(rows).fillna("")


def _members(result: ModelsResult, model: str) -> tuple[float | None, ...]:
    return tuple(row.models[model].members_f1 for row in result.groups)


def statistic_table(result: ModelsResult, statistic: str) -> pd.DataFrame:
    """One statistic of every group: per model the value, that of random groups, p and q."""
    rows = []
    for row in result.groups:
        cells: dict[str, object] = {
            "Axis": axis_label(row.group.axes),
            "Group": group_label(row.group),
            "Raters": row.n_raters,
        }
        for name, side in row.models.items():
            outcome = side.statistics[statistic]
            cells |= {
                f"{name}: {SIDE_WORDS[statistic].name}": cell_text(outcome),
                f"{name}: random groups": "" if outcome.value is None else format_value(outcome.null_median),
                f"{name}: p": p_so_far(outcome) if result.provisional else _p(result, outcome.p),
                f"{name}: q": q_so_far(outcome) if result.provisional else _p(result, outcome.q),
            }
        rows.append(cells)
    return pd.DataFrame(rows)


def _p(result: ModelsResult, value: float | None) -> str:
    return format_p_value(value, permutations=result.permutations)


def sides_csv(result: ModelsResult) -> str:
    """Every number at full precision: one line per model, group and statistic.

    Notes
    -----
    `closer` is "yes" where the model is closer to the group than to the median random group. Values that
    are not estimable are empty, with their reason in the last column.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(CSV_COLUMNS)
    for model in result.models:
        for row in result.groups:
            side = row.models[model.name]
            for statistic in SIDE_WORDS:
                outcome = side.statistics[statistic]
                writer.writerow(
                    [
                        safe_cell(model.name),
                        safe_cell(" x ".join(row.group.axes)),
                        safe_cell(row.group.label),
                        row.n_raters,
                        row.n_annotations,
                        statistic,
                        exact(outcome.value),
                        exact(outcome.null_median),
                        _closer(statistic, outcome),
                        exact(outcome.p),
                        exact(outcome.q),
                        outcome.significance,
                        exact(side.members_f1),
                        safe_cell(str(outcome.reason or "")),
                    ]
                )
    return buffer.getvalue()


def _closer(statistic: str, outcome: Outcome) -> str:
    return {True: "yes", False: "no", None: ""}[closer(statistic, outcome)]


def sides_table(result: ModelsResult) -> pd.DataFrame:
    """One row per model, group and statistic.

    Returns
    -------
    DataFrame
        `model`, `axis`, `group`, `raters`, `annotations`, `statistic`, then `value` and `chance`, the median
        of random groupings, `p`, `q` and `members_f1` (float, NaN where there is none), `stars`, `closer`
        (than the median random group: True, False, or None where that is not known), and `reason`.
    """
    rows = []
    for model in result.models:
        for row in result.groups:
            side = row.models[model.name]
            for statistic in SIDE_WORDS:
                outcome = side.statistics[statistic]
                rows.append(
                    {
                        "model": model.name,
                        "axis": axis_label(row.group.axes),
                        "group": group_label(row.group),
                        "raters": row.n_raters,
                        "annotations": row.n_annotations,
                        "statistic": statistic,
                        "value": or_nan(outcome.value),
                        "chance": or_nan(outcome.null_median),
                        "p": or_nan(outcome.p),
                        "q": or_nan(outcome.q),
                        "members_f1": or_nan(side.members_f1),
                        "stars": STARS[outcome.significance],
                        "closer": closer(statistic, outcome),
                        "reason": str(outcome.reason or ""),
                    }
                )
    return pd.DataFrame(rows)
