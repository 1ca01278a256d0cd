"""Groups that models side with or against: the answer in words, tables and CSV."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from grasp_core.analysis.models.result import GroupSides, ModelsResult, ModelSummary, Side, closer
from grasp_core.model.groups import axis_label, group_label, group_labels, spoken
from grasp_core.model.outcome import Outcome, Verdict, VerdictCode
from grasp_core.model.text import Segment, Sentence, agree, number, spelled, strong
from grasp_core.report.findings.advice import first_names
from grasp_core.report.findings.answer import ResultAnswer, listing, of_luck, strength
from grasp_core.report.findings.mending import Warned
from grasp_core.report.tables import OF_ROW, Column, cell_text, csv_of, or_nan, texts
from grasp_core.report.words import names

_Parts = list[str | Segment]


class _Leaning(NamedTuple):
    """A group that a model is nearer to than to random groups, or further from: a clear side, or a hint.

    `shown_by`: the statistics that show it, the lead first.
    """

    model: str
    row: GroupSides
    verdict: Verdict
    near: bool
    shown_by: Sequence[str]


def answer(result: ModelsResult) -> ResultAnswer:
    """Say with which groups the models side, how sure that is, and which groups' views they miss."""
    said, clear = [counts(result)], _leanings(result, "clear")
    if clear:
        said.append(
            Sentence.of("Very sure: of 100 models that side with nobody, at least 95 would show no side.")
        )
    elif _leanings(result, "hint"):
        said.append(Sentence.of(of_luck(_tested(result))))
    if against := dict.fromkeys(spoken(one.row.group) for one in clear if not one.near):
        said.append(Sentence.of("What to do: ask ", *first_names(list(against)), " raters themselves."))
    for model in result.models:
        said += [_sides(result, model), _hidden(result, model)]
    said += _not_reproduced(result)
    if result.classes:
        said.append(Sentence.of(f"Every macro-F1 here is over the same labels: {', '.join(result.classes)}."))
    return ResultAnswer(title(result), Warned((), result.warnings), tuple(said))


_MANNERS = ((True, " with "), (False, " against "))


def title(result: ModelsResult) -> Sentence:
    """Say which sides the model with the clearest one takes; or that none is clear."""
    clear = _leanings(result, "clear")
    if not clear:
        if not _tested(result):
            return Sentence.of("No answer: no group could be tested")
        sides = " with or against any group of raters"
        if len(result.models) > 1:
            return Sentence.of("No model clearly sides", sides)
        return Sentence.of(strong(result.models[0].name), " does not clearly side", sides)
    parts: _Parts = [strong(clear[0].model), " sides"]
    joint = ""
    for near, manner in _MANNERS:
        groups = [spoken(one.row.group) for one in clear if one.model == clear[0].model and one.near is near]
        if groups:
            parts += [joint, manner, *first_names(groups), " raters"]
            joint = " and"
    return Sentence.of(*parts)


def counts(result: ModelsResult) -> Sentence:
    """Say how many groups models side with, may side with by luck, and miss."""
    clear, hints = _leanings(result, "clear"), _leanings(result, "hint")
    groups, models = number(len(result.groups), "group"), len(result.models)
    untested = len(result.groups) * models - _tested(result)
    if clear and models == 1:
        sides = [(sum(one.near is near for one in clear), manner) for near, manner in _MANNERS]
        told = " and".join(f"{manner}{spelled(count)}" for count, manner in sides if count)
        said = [f"It sides{told} of {groups}."]
    elif clear:
        siding = len({one.model for one in clear})
        side = f"{agree(siding, 'sides', 'side')} with or against some of {groups}"
        said = [f"{spelled(siding).capitalize()} of {spelled(models)} models {side}."]
    else:
        were = agree(len(result.groups), "was", "were")
        said = [f"{groups} {were} compared with {'it' if models == 1 else 'each model'}."]
    if hints:
        other = " other" if clear else ""
        case = number(len(hints), "group" if models == 1 else "case").split()[1]
        leans = "it leans" if models == 1 else "a model leans"
        said.append(f"In {spelled(len(hints))}{other} {case} it may be luck that {leans} one way.")
    if untested:
        said.append(f"{number(untested, 'comparison')} could not be tested.")
    if missed := len(unreproduced(result)):
        views = agree(missed, "the view of one group", f"the views of {spelled(missed)} groups")
        misses = "It misses" if models == 1 else "No model reaches"
        said.append(f"{misses} {views}: the members come nearer (counted, not tested).")
    elif any(map(_known, result.groups)):
        said.append("No group’s view is left out.")
    return Sentence.of(" ".join(said))


def _tested(result: ModelsResult) -> int:
    """Number of comparisons of a model with a group that could be tested."""
    return sum(side.verdict.why is None for row in result.groups for side in row.models.values())


def _leanings(result: ModelsResult, code: VerdictCode, model: str | None = None) -> list[_Leaning]:
    """Return sides of this verdict, surest first; of all models, or of one."""
    found = [
        _leaning(name, row, side)
        for row in result.groups
        for name, side in row.models.items()
        if side.verdict.code == code and model in (None, name)
    ]
    return sorted(
        found, key=lambda one: (one.verdict.q or 0.0, one.verdict.p or 0.0, one.shown_by[0] != names.LEAD)
    )


def _leaning(model: str, row: GroupSides, side: Side) -> _Leaning:
    """Return the side of the surest statistic, with all that show the same."""
    marked = [one for one in names.SIDE_WORDS if side.statistics[one].significance != "none"]
    surest = min(marked, key=lambda one: strength(side.statistics[one]))
    near = bool(closer(surest, side.statistics[surest]))
    same = [one for one in marked if closer(one, side.statistics[one]) is near]
    return _Leaning(model, row, side.verdict, near, same)


def unreproduced(result: ModelsResult) -> list[GroupSides]:
    """The groups whose view no model reproduces, see :data:`~grasp_core.report.words.names.REPRODUCED`."""
    return [row for row in result.groups if _known(row) and not any(_known(row))]


def _known(row: GroupSides) -> list[bool]:
    return [side.reproduces for side in row.models.values() if side.reproduces is not None]


def _sides(result: ModelsResult, model: ModelSummary) -> Sentence:
    """Name the groups that a model sides with or against, then those for which that may be luck."""
    name = strong(model.name)
    if not any(row.models[model.name].verdict.why is None for row in result.groups):
        return Sentence.of(name, ": with whom it sides could not be tested for any group.")
    clear, hints = (_leanings(result, code, model.name) for code in ("clear", "hint"))
    parts: _Parts = [name, " sides"] if clear else [name, " sides neither with nor against any group"]
    for found, first, manners in (
        (clear, "", _MANNERS),
        (hints, "; it may be luck that it leans", ((True, " towards "), (False, " away from "))),
    ):
        joint = first
        for near, manner in manners:
            told = [(_name(result, one.row), _figures(result, one)) for one in found if one.near is near]
            if told:
                parts += [joint, manner, *listing(told)]
                joint = " and"
    return Sentence.of(*parts, ".")


def lead_of(row: GroupSides, model: str) -> Outcome:
    """Return how near a model is to a group by the lead statistic."""
    return row.models[model].statistics[names.LEAD]


def _figures(result: ModelsResult, one: _Leaning) -> str:
    """The first statistic that shows a side, and the p and q of all."""
    name = one.shown_by[0]
    outcome = one.row.models[one.model].statistics[name]
    value, random = map(names.format_value, (outcome.value, outcome.null_median))
    tests = names.all_tests_words(one.verdict)
    return f"{names.SIDE_WORDS[name].short} {value}, random groups {random}; {tests}"


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
    least, most = (_name(result, result.groups[position]) for position in (lowest, highest))
    overall = names.format_value(model.overall_f1)
    return Sentence.of(
        "Against the plurality of all raters together, ",
        name,
        f" reaches macro-F1 {overall}; against the groups' own, from {names.format_value(low)} (",
        least,
        f") to {names.format_value(high)} (",
        most,
        ").",
    )


def _not_reproduced(result: ModelsResult) -> list[Sentence]:
    rows = unreproduced(result)
    if not rows:
        return []
    told = []
    for row in rows:
        best, name, members = max(
            (side.statistics[names.LEAD].value or 0.0, name, side.members_f1)
            for name, side in row.models.items()
            if side.reproduces is not None
        )
        own, nearest = map(names.format_value, (members, best))
        told.append((_name(result, row), f"its own members reach macro-F1 {own}, {name} {nearest}"))
    return [Sentence.of("No model reproduces the view of ", *listing(told), ".")]


def _name(result: ModelsResult, row: GroupSides) -> Segment:
    labels = group_labels([one.group for one in result.groups])
    return strong(labels[[one.group for one in result.groups].index(row.group)])


EVERYBODY = "All raters together"


def plurality_table(result: ModelsResult) -> pd.DataFrame:
    """Macro-F1 of each model against the plurality of all raters, then of each group; a row each."""
    names_of = [model.name for model in result.models]
    same = len({tuple(row.models[name].members_f1 for row in result.groups) for name in names_of}) == 1
    columns = [
        *OF_ROW[:3],
        *(Column(partial(_of_side, name, names.LEAD), name, cell_text) for name in names_of),
    ]
    for name in names_of[:1] if same else names_of:
        head = "Own members" if same else f"Own members, items of {name}"
        of = partial(lambda name, row: row.models[name].members_f1, name)
        columns.append(Column(of, head, names.format_value))
    everybody = {"Axis": "", "Group": EVERYBODY, "Raters": result.data.raters}
    everybody |= {model.name: names.format_value(model.overall_f1) for model in result.models}
    of_groups = [texts(columns, result.groups)] if result.groups else []
    return pd.concat([pd.DataFrame([everybody]), *of_groups], ignore_index=True).fillna("")


def statistic_table(result: ModelsResult, statistic: str) -> pd.DataFrame:
    """One statistic of every group: for each model the value, the median of random groups, p and q."""

    def middle(one: Outcome) -> str:
        return "" if one.value is None else names.format_value(one.null_median)

    columns = [*OF_ROW[:3]]
    for model in result.models:
        of = partial(_of_side, model.name, statistic)
        columns += [
            Column(of, f"{model.name}: {names.SIDE_WORDS[statistic].name}", cell_text),
            Column(of, f"{model.name}: random groups", middle),
            Column(of, f"{model.name}: p", lambda one: names.p_and_q_cells(one, result)[0]),
            Column(of, f"{model.name}: q", lambda one: names.p_and_q_cells(one, result)[1]),
        ]
    return texts(columns, result.groups)


def _of_side(model: str, statistic: str, row: GroupSides) -> Outcome:
    return row.models[model].statistics[statistic]


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
