"""With which groups models side: sentences, tables and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pandas as pd

from grasp_core.analysis.models.result import GroupSides, ModelsResult, ModelSummary, Side, closer
from grasp_core.model.groups import axis_label, group_label, group_labels
from grasp_core.model.outcome import Outcome
from grasp_core.model.text import Segment, Sentence, agree, csv_text, safe_cell, strong
from grasp_core.report.findings.sentences import listing, strength
from grasp_core.report.tables import cell_text, exact, or_nan
from grasp_core.report.words import names

_Parts = list[str | Segment]


def sentences(result: ModelsResult) -> list[Sentence]:
    """Per model with whom it sides, then whose view no model reproduces."""
    found: list[Sentence] = []
    for model in result.models:
        found += [_sides(result, model), _hidden(result, model)]
    found += _not_reproduced(result)
    if result.classes:
        found.append(
            Sentence.of(f"Every macro-F1 here is over the same labels: {', '.join(result.classes)}.")
        )
    return found


def unreproduced(result: ModelsResult) -> list[GroupSides]:
    """The groups whose view no model reproduces, see :data:`~grasp_core.report.words.names.REPRODUCED`."""
    return [row for row in result.groups if _known(row) and not any(_known(row))]


def _known(row: GroupSides) -> list[bool]:
    return [side.reproduces for side in row.models.values() if side.reproduces is not None]


def _sides(result: ModelsResult, model: ModelSummary) -> Sentence:
    parts: _Parts = [strong(model.name), " sides"]
    joint = ""
    for near, manner in ((True, " with "), (False, " against ")):
        shown = _by_group(result, model.name, near)
        if shown:
            told = [(_name(result, row), _figures(result, row.models[model.name], by)) for row, by in shown]
            parts += [joint, manner, *listing(told)]
            joint = " and"
    return Sentence.of(*parts, ".") if joint else _no_side(result, model)


def _by_group(result: ModelsResult, model: str, near: bool) -> list[tuple[GroupSides, list[str]]]:
    """The groups that a model sides with (or against), and the statistics that show it."""
    found = []
    for row in result.groups:
        tests = row.models[model].statistics
        marked = [name for name in names.SIDE_WORDS if tests[name].significance == "corrected"]
        showing = [name for name in marked if closer(name, tests[name]) is near]
        if showing:
            rank = names.LEAD not in showing, min(strength(tests[name]) for name in showing)
            found.append((rank, row, showing))
    return [(row, showing) for _, row, showing in sorted(found, key=lambda one: one[0])]


def lead_of(row: GroupSides, model: str) -> Outcome:
    """How near a model is to a group by the statistic that is told first."""
    return row.models[model].statistics[names.LEAD]


def _no_side(result: ModelsResult, model: ModelSummary) -> Sentence:
    name = strong(model.name)
    tests = [(row, lead_of(row, model.name)) for row in result.groups]
    tested = [(row, test) for row, test in tests if test.p is not None]
    if not tested:
        return Sentence.of(name, ": with whom it sides could not be tested for any group.")
    many = f"{len(tested)} {agree(len(tested), 'group', 'groups')}"
    parts: _Parts = [name, f" sides with no group and against none, after correction for testing {many}"]
    nominal = [(row, test) for row, test in tested if test.significance == "nominal"]
    nominal.sort(key=lambda pair: strength(pair[1]))
    separator = "; it may be luck that it leans "
    for near, lead in ((True, "towards"), (False, "away from")):
        some = [row for row, test in nominal if closer(names.LEAD, test) is near]
        if some:
            figures = [_figures(result, row.models[model.name], [names.LEAD], p=True) for row in some]
            told = zip((_name(result, row) for row in some), figures, strict=True)
            parts += [f"{separator}{lead} ", *listing(list(told))]
            separator = " and "
    return Sentence.of(*parts, ".")


def _figures(result: ModelsResult, side: Side, statistics: Sequence[str], *, p: bool = False) -> str:
    parts = []
    for position, name in enumerate(statistics):
        outcome = side.statistics[name]
        chance = "" if position else f", random groups {names.format_value(outcome.null_median)}"
        nominal = f"{_p(result, outcome, 'p')}, " if p else ""
        value = f"{names.SIDE_WORDS[name].short} {names.format_value(outcome.value)}{chance}"
        parts.append(f"{value}, {nominal}{_p(result, outcome, 'q')}")
    return "; ".join(parts)


def _p(result: ModelsResult, outcome: Outcome, name: str) -> str:
    value = outcome.q if name == "q" else outcome.p
    return names.format_p(value, name=name, permutations=result.permutations)


def _hidden(result: ModelsResult, model: ModelSummary) -> Sentence:
    """One figure against everybody's plurality, and the range that it hides."""
    name = strong(model.name)
    reached = [
        (value, position)
        for position, row in enumerate(result.groups)
        if (value := lead_of(row, model.name).value) is not None
    ]
    if not reached:
        return Sentence.of(name, " has a label in common with no group, so nothing can be said of it.")
    (low, lowest), (high, highest) = min(reached), max(reached)
    return Sentence.of(
        "Against the plurality of all raters together, ",
        name,
        f" reaches macro-F1 {names.format_value(model.overall_f1)}; against the groups' own, from "
        f"{names.format_value(low)} (",
        _name(result, result.groups[lowest]),
        f") to {names.format_value(high)} (",
        _name(result, result.groups[highest]),
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

    told = []
    for row in rows:
        best, name, members = max(
            (side.statistics[names.LEAD].value or 0.0, name, side.members_f1)
            for name, side in row.models.items()
            if side.reproduces is not None
        )
        reach = (
            f"its own members reach macro-F1 {names.format_value(members)}, {name} {names.format_value(best)}"
        )
        told.append((_name(result, row), reach))
    return [Sentence.of("No model reproduces the view of ", *listing(told), ".")]


def _name(result: ModelsResult, row: GroupSides) -> Segment:
    labels = group_labels([one.group for one in result.groups])
    return strong(labels[[one.group for one in result.groups].index(row.group)])


EVERYBODY = "All raters together"
CSV_COLUMNS = (
    *("model", "axis", "group", "n_raters", "n_annotations", "statistic", "value", "null_median"),
    *("closer", "p", "q", "significance", "members_macro_f1", "reason"),
)


def plurality_table(result: ModelsResult) -> pd.DataFrame:
    """Macro-F1 of each model against each group's own plurality, which that of all hides, a row per group."""
    members = {tuple(row.models[one.name].members_f1 for row in result.groups) for one in result.models}
    head = {"Axis": "", "Group": EVERYBODY, "Raters": result.data.raters}
    rows: list[dict[str, object]] = [
        {**head, **{model.name: names.format_value(model.overall_f1) for model in result.models}}
    ]
    for row in result.groups:
        cells: dict[str, object] = {
            "Axis": axis_label(row.group.axes),
            "Group": group_label(row.group),
            "Raters": row.n_raters,
        }
        cells |= {name: cell_text(side.statistics[names.LEAD]) for name, side in row.models.items()}
        for name, side in row.models.items():
            cells["Own members" if len(members) == 1 else f"Own members, items of {name}"] = (
                names.format_value(side.members_f1)
            )
        rows.append(cells)
    return pd.DataFrame(rows).fillna("")


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
            p, q = (
                names.format_p_value(one, permutations=result.permutations) for one in (outcome.p, outcome.q)
            )
            cells |= {
                f"{name}: {names.SIDE_WORDS[statistic].name}": cell_text(outcome),
                f"{name}: random groups": ""
                if outcome.value is None
                else names.format_value(outcome.null_median),
                f"{name}: p": names.p_so_far(outcome) if result.provisional else p,
                f"{name}: q": names.q_so_far(outcome) if result.provisional else q,
            }
        rows.append(cells)
    return pd.DataFrame(rows)


def sides_csv(result: ModelsResult) -> str:
    """Every number at full precision: one line per model, group and statistic."""
    rows = []
    for model, row, side, statistic in _each_side(result):
        outcome = side.statistics[statistic]
        rows.append(
            [
                safe_cell(model),
                safe_cell(" x ".join(row.group.axes)),
                safe_cell(row.group.label),
                row.n_raters,
                row.n_annotations,
                statistic,
                exact(outcome.value),
                exact(outcome.null_median),
                {True: "yes", False: "no", None: ""}[closer(statistic, outcome)],
                exact(outcome.p),
                exact(outcome.q),
                outcome.significance,
                exact(side.members_f1),
                safe_cell(str(outcome.reason or "")),
            ]
        )
    return csv_text(CSV_COLUMNS, rows, end="\r\n")


def _each_side(result: ModelsResult) -> Iterator[tuple[str, GroupSides, Side, str]]:
    for model, row in product(result.models, result.groups):
        for statistic in names.SIDE_WORDS:
            yield model.name, row, row.models[model.name], statistic


def sides_table(result: ModelsResult) -> pd.DataFrame:
    """One row per model, group and statistic."""
    return pd.DataFrame(
        [
            {
                "model": model,
                "axis": axis_label(row.group.axes),
                "group": group_label(row.group),
                "raters": row.n_raters,
                "annotations": row.n_annotations,
                "statistic": statistic,
                "value": or_nan(side.statistics[statistic].value),
                "chance": or_nan(side.statistics[statistic].null_median),
                "p": or_nan(side.statistics[statistic].p),
                "q": or_nan(side.statistics[statistic].q),
                "members_f1": or_nan(side.members_f1),
                "stars": names.STARS[side.statistics[statistic].significance],
                "closer": closer(statistic, side.statistics[statistic]),
                "reason": str(side.statistics[statistic].reason or ""),
            }
            for model, row, side, statistic in _each_side(result)
        ]
    )
