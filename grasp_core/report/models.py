"""With which groups models side: sentences, tables and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from grasp_core.analysis.models.result import GroupSides, ModelsResult, ModelSummary, Side, closer
from grasp_core.model.groups import Group, axis_label, group_label, group_labels
from grasp_core.model.outcome import Outcome
from grasp_core.model.text import Segment, Sentence, safe_cell
from grasp_core.report.findings.sentences import strength
from grasp_core.report.table_csv import exact
from grasp_core.report.tables import cell_text, or_nan
from grasp_core.report.words.models import LEAD, SIDE_WORDS
from grasp_core.report.words.names import STARS, format_p, format_p_value, format_value, p_so_far, q_so_far

_LISTED = 5
_Parts = list[str | Segment]


def sentences(result: ModelsResult) -> list[Sentence]:
    """Per model with whom it sides, then whose view no model reproduces."""
    found: list[Sentence] = []
    for model in result.models:
        found += [_sides(result, model), _hidden(result, model)]
    return [*found, *_not_reproduced(result), *_classes(result)]


def unreproduced(result: ModelsResult) -> list[GroupSides]:
    """The groups whose view no model reproduces, see :data:`~grasp_core.report.words.models.REPRODUCED`."""
    return [row for row in result.groups if _known(row) and not any(_known(row))]


def _known(row: GroupSides) -> list[bool]:
    return [side.reproduces for side in row.models.values() if side.reproduces is not None]


def _corrected(result: ModelsResult, model: str, statistic: str, near: bool) -> list[GroupSides]:
    def of(row: GroupSides) -> Outcome:
        return row.models[model].statistics[statistic]

    rows = [
        row
        for row in result.groups
        if of(row).significance == "corrected" and closer(statistic, of(row)) is near
    ]
    return sorted(rows, key=lambda row: strength(of(row)))


def _sides(result: ModelsResult, model: ModelSummary) -> Sentence:
    parts: _Parts = [Segment(model.name, strong=True), " sides"]
    joint = ""
    for near, manner in ((True, " with "), (False, " against ")):
        shown = _by_group(result, model.name, near)
        if shown:
            parts += [joint, manner, *_shown(result, model.name, shown)]
            joint = " and"
    return Sentence.of(*parts, ".") if joint else _no_side(result, model)


def _shown(result: ModelsResult, model: str, shown: Mapping[Group, Sequence[str]]) -> _Parts:
    rows = [row for row in result.groups if row.group in shown]
    rows.sort(key=lambda row: _rank(row.models[model], shown[row.group]))
    return _listing(result, rows, lambda row: _figures(result, row.models[model], shown[row.group]))


def _by_group(result: ModelsResult, model: str, near: bool) -> dict[Group, list[str]]:
    """The groups that a model sides with (or against), and the statistics that show it."""
    found: dict[Group, list[str]] = {}
    for statistic in SIDE_WORDS:
        for row in _corrected(result, model, statistic, near):
            found.setdefault(row.group, []).append(statistic)
    return found


def _rank(side: Side, statistics: Sequence[str]) -> tuple[bool, tuple[float, float, float]]:
    """Those that the lead statistic shows first, then the clearest."""
    return LEAD not in statistics, min(strength(side.statistics[name]) for name in statistics)


def _no_side(result: ModelsResult, model: ModelSummary) -> Sentence:
    name = Segment(model.name, strong=True)
    tested = [row for row in result.groups if row.models[model.name].statistics[LEAD].p is not None]
    if not tested:
        return Sentence.of(name, ": with whom it sides could not be tested for any group.")
    count = f"{len(tested)} {'group' if len(tested) == 1 else 'groups'}"
    parts: _Parts = [name, f" sides with no group and against none, after correction for testing {count}"]
    nominal = [row for row in tested if row.models[model.name].statistics[LEAD].significance == "nominal"]
    nominal.sort(key=lambda row: strength(row.models[model.name].statistics[LEAD]))
    separator = "; it may be luck that it leans "
    for near, lead in ((True, "towards"), (False, "away from")):
        some = [row for row in nominal if closer(LEAD, row.models[model.name].statistics[LEAD]) is near]
        if some:
            parts += [f"{separator}{lead} "]
            parts += _listing(
                result, some, lambda row: _figures(result, row.models[model.name], [LEAD], p=True)
            )
            separator = " and "
    return Sentence.of(*parts, ".")


def _figures(result: ModelsResult, side: Side, statistics: Sequence[str], *, p: bool = False) -> str:
    parts = []
    for position, name in enumerate(statistics):
        outcome = side.statistics[name]
        chance = "" if position else f", random groups {format_value(outcome.null_median)}"
        nominal = f"{_p(result, outcome, 'p')}, " if p else ""
        value = f"{SIDE_WORDS[name].short} {format_value(outcome.value)}{chance}"
        parts.append(f"{value}, {nominal}{_p(result, outcome, 'q')}")
    return "; ".join(parts)


def _p(result: ModelsResult, outcome: Outcome, name: str) -> str:
    value = outcome.q if name == "q" else outcome.p
    return format_p(value, name=name, permutations=result.permutations)


def _hidden(result: ModelsResult, model: ModelSummary) -> Sentence:
    """One figure against everybody's plurality, and the range that it hides."""
    name = Segment(model.name, strong=True)
    reached = [
        (value, position)
        for position, row in enumerate(result.groups)
        if (value := row.models[model.name].statistics[LEAD].value) is not None
    ]
    if not reached:
        return Sentence.of(name, " has a label in common with no group, so nothing can be said of it.")
    (low, lowest), (high, highest) = min(reached), max(reached)
    return Sentence.of(
        "Against the plurality of all raters together, ",
        name,
        f" reaches macro-F1 {format_value(model.overall_f1)}; against the groups' own, from "
        f"{format_value(low)} (",
        *_names(result, [result.groups[lowest]]),
        f") to {format_value(high)} (",
        *_names(result, [result.groups[highest]]),
        ").",
    )


def _not_reproduced(result: ModelsResult) -> list[Sentence]:
    judged = [row for row in result.groups if _known(row)]
    if not judged:
        return []
    which = "the model" if len(result.models) == 1 else "some model"
    rows = unreproduced(result)
    if not rows:
        return [
            Sentence.of(f"No group's view is left out: {which} reaches what each group's own members reach.")
        ]

    def figures(row: GroupSides) -> str:
        reached = [
            (side.statistics[LEAD].value or 0.0, name, side.members_f1)
            for name, side in row.models.items()
            if side.reproduces is not None
        ]
        best, name, members = max(reached)
        return f"its own members reach macro-F1 {format_value(members)}, {name} {format_value(best)}"

    return [Sentence.of("No model reproduces the view of ", *_listing(result, rows, figures), ".")]


def _classes(result: ModelsResult) -> list[Sentence]:
    """What all of these figures have in common."""
    if not result.classes:
        return []
    return [Sentence.of(f"Every macro-F1 here is over the same labels: {', '.join(result.classes)}.")]


def _listing(
    result: ModelsResult, rows: Sequence[GroupSides], figures: Callable[[GroupSides], str]
) -> _Parts:
    parts: _Parts = []
    for position, row in enumerate(rows[:_LISTED]):
        parts += ["; " if position else "", *_names(result, [row]), f" ({figures(row)})"]
    more = len(rows) - _LISTED
    return [*parts, f"; and {more} more"] if more > 0 else parts


def _names(result: ModelsResult, rows: Sequence[GroupSides]) -> _Parts:
    labels = dict(
        zip(
            (row.group for row in result.groups),
            group_labels([row.group for row in result.groups]),
            strict=True,
        )
    )
    return [Segment(labels[row.group], strong=True) for row in rows]


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
                f"{name}: p": p_so_far(outcome) if result.provisional else _p_value(result, outcome.p),
                f"{name}: q": q_so_far(outcome) if result.provisional else _p_value(result, outcome.q),
            }
        rows.append(cells)
    return pd.DataFrame(rows)


def _p_value(result: ModelsResult, value: float | None) -> str:
    return format_p_value(value, permutations=result.permutations)


def sides_csv(result: ModelsResult) -> str:
    """Every number at full precision: one line per model, group and statistic.

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

    Returns `model`, `axis`, `group`, `raters`, `annotations`, `statistic`, then `value` and `chance`, the
    median of random groupings, `p`, `q` and `members_f1` (float, NaN where there is none), `stars`, `closer`
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
