"""Groups that models side with or against: sentences, tables and CSV."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from grasp_core.analysis.models.result import GroupSides, ModelsResult, ModelSummary, Side, closer
from grasp_core.model.groups import axis_label, group_label, group_labels
from grasp_core.model.outcome import Outcome
from grasp_core.model.text import Segment, Sentence, number, strong
from grasp_core.report.findings.answer import listing, strength
from grasp_core.report.tables import OF_ROW, Column, cell_text, csv_of, or_nan, texts
from grasp_core.report.words import names

_Parts = list[str | Segment]


def sentences(result: ModelsResult) -> list[Sentence]:
    """Say for each model which groups it sides with, then which groups' views no model reproduces."""
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
    """Return how near a model is to a group by the lead statistic."""
    return row.models[model].statistics[names.LEAD]


def _no_side(result: ModelsResult, model: ModelSummary) -> Sentence:
    name = strong(model.name)
    tests = [(row, lead_of(row, model.name)) for row in result.groups]
    tested = [(row, test) for row, test in tests if test.p is not None]
    if not tested:
        return Sentence.of(name, ": with whom it sides could not be tested for any group.")
    parts: _Parts = [name, f" sides neither with nor against any of {number(len(tested), 'group')}"]
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
    """Compare macro-F1 against the plurality of all raters with its range over groups."""
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


def plurality_table(result: ModelsResult) -> pd.DataFrame:
    """Macro-F1 of each model against the plurality of all raters, then of each group; a row each."""
    names_of = [model.name for model in result.models]
    members = {name: tuple(row.models[name].members_f1 for row in result.groups) for name in names_of}
    columns = [
        *OF_ROW[:3],
        *(Column(partial(_of_side, name, names.LEAD), name, cell_text) for name in names_of),
    ]
    for name in names_of[:1] if len(set(members.values())) == 1 else names_of:
        head = "Own members" if len(set(members.values())) == 1 else f"Own members, items of {name}"
        columns.append(Column(partial(_members, name), head, names.format_value))
    everybody = {"Axis": "", "Group": EVERYBODY, "Raters": result.data.raters}
    everybody |= {model.name: names.format_value(model.overall_f1) for model in result.models}
    of_groups = [texts(columns, result.groups)] if result.groups else []
    return pd.concat([pd.DataFrame([everybody]), *of_groups], ignore_index=True).fillna("")


def statistic_table(result: ModelsResult, statistic: str) -> pd.DataFrame:
    """One statistic of every group: for each model the value, the median of random groups, p and q."""
    columns = [*OF_ROW[:3]]
    for model in result.models:
        of = partial(_of_side, model.name, statistic)
        columns += [
            Column(of, f"{model.name}: {names.SIDE_WORDS[statistic].name}", cell_text),
            Column(of, f"{model.name}: random groups", _middle),
            Column(of, f"{model.name}: p", lambda one: names.p_and_q_cells(one, result)[0]),
            Column(of, f"{model.name}: q", lambda one: names.p_and_q_cells(one, result)[1]),
        ]
    return texts(columns, result.groups)


def _of_side(model: str, statistic: str, row: GroupSides) -> Outcome:
    return row.models[model].statistics[statistic]


def _members(model: str, row: GroupSides) -> float | None:
    return row.models[model].members_f1


def _middle(outcome: Outcome) -> str:
    return "" if outcome.value is None else names.format_value(outcome.null_median)


class _Sided(NamedTuple):
    """One statistic of a model and a group."""

    model: str
    row: GroupSides
    side: Side
    statistic: str
    outcome: Outcome

    @property
    def closer(self) -> bool | None:
        """True if the model is closer to the group than to random groups; None if unknown."""
        return closer(self.statistic, self.outcome)


SIDED = (
    Column("model", "model", name="model"),
    Column(lambda one: " x ".join(one.row.group.axes), name="axis"),
    Column(lambda one: axis_label(one.row.group.axes), "axis"),
    Column("row.group.label", name="group"),
    Column(lambda one: group_label(one.row.group), "group"),
    Column("row.n_raters", "raters", name="n_raters"),
    Column("row.n_annotations", "annotations", name="n_annotations"),
    Column("statistic", "statistic", name="statistic"),
    Column("outcome.value", "value", or_nan, "value", kind="value"),
    Column("outcome.null_median", "chance", or_nan, "null_median", kind="value"),
    Column(lambda one: {True: "yes", False: "no", None: ""}[one.closer], name="closer"),
    Column("outcome.p", "p", or_nan, "p", kind="p"),
    Column("outcome.q", "q", or_nan, "q", kind="p"),
    Column("outcome.significance", name="significance"),
    Column("side.members_f1", "members_f1", or_nan, "members_macro_f1", kind="value"),
    Column(lambda one: names.STARS[one.outcome.significance], "stars"),
    Column("closer", "closer"),
    Column(lambda one: str(one.outcome.reason or ""), "reason", name="reason"),
)
"""Columns of the frame, by their heads, and of the CSV, by their names."""


def sides_csv(result: ModelsResult) -> str:
    """Every number at full precision: one line per model, group and statistic."""
    return csv_of(SIDED, each_side(result), end="\r\n")


def each_side(result: ModelsResult) -> list[_Sided]:
    """Each statistic of each group, model by model."""
    return [
        _Sided(model.name, row, side, statistic, side.statistics[statistic])
        for model in result.models
        for row, side in ((row, row.models[model.name]) for row in result.groups)
        for statistic in names.SIDE_WORDS
    ]
