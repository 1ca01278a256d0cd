"""Forests, a value with its interval in each row: of groups, slices, axes, a group's labels, and models."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import altair as alt

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.result import DsiResult, GroupResult, Result, RunResult
from grasp_core.model.text import number
from grasp_core.report.charts import theme as draw
from grasp_core.report.charts.histograms import on_axis, on_page, shared_domain, within
from grasp_core.report.models import EVERYBODY, lead_of
from grasp_core.report.slices import by_value
from grasp_core.report.tables import RowOrder, ends, large_groups, not_drawn, ordered_groups, told_axes
from grasp_core.report.words import names
from grasp_core.report.words.label_use import format_points, p_and_q, shift_outcome, tested_as

_FIGURES = 150
"""Pixels that the figures take at the right end of a row's text."""
_ROW, _HEADING = 36, 26
"""Pixels of a row's two lines, and of a heading."""
_TEXT, _MARK = 11, 26
"""Where in a row its text and its mark lie."""
_NOTHING: dict[str, float] = {"gai": 1.0, "gap": 0.0, "distance": 0.0, "irr": 0.0, "xrr": 0.0}
"""Values that say "no difference" or "as by chance", where there is such a value."""
_MEMBERS = "members"
"""Under this name a row has a second value, which is drawn as a cross."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row: its name and what stands behind it, the heading it stands below, what was found and is told."""

    name: str
    outcome: Outcome
    behind: str = ""
    below: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Scale:
    """An axis with its title, and how values along it are written; `nothing` is that of no difference.

    `called`: what is told of a mark, by the field that holds it. `domain`: from where to where, if not as far
    as rows reach.
    """

    axis: str
    write: Callable[[float | None], str]
    called: Mapping[str, str]
    nothing: float | None = None
    domain: tuple[float, float] | None = None

    def interval(self, outcome: Outcome) -> str:
        """An outcome's interval as text; empty where it has none."""
        low, high = ends(outcome)
        return "" if low is None else f"[{self.write(low)}, {self.write(high)}]"


def _forest(
    result: Result,
    rows: Sequence[_Row],
    scale: _Scale,
    theme: draw.Theme,
    heading: alt.TitleParams,
    alt_text: str,
    only: slice = slice(None),
) -> alt.LayerChart:
    domain = scale.domain or shared_domain([on_axis(row.outcome) for row in rows])
    drawn, headings = list[dict[str, Any]](), list[dict[str, Any]]()
    top, below = 0, ""
    for row in rows[only]:
        if row.below != below:
            below = row.below
            headings.append({"text": below, "y": top + _HEADING - 9})
            top += _HEADING
        places = {"top": top, "text_y": top + _TEXT, "mark_y": top + _MARK, "bottom": top + _ROW}
        drawn.append(_figures(result, scale, row, domain) | places)
        top += _ROW
    layers = _layers(drawn, headings, scale, domain, top, theme)
    return draw.finish(layers, theme, heading=heading, alt_text=alt_text, height=top)


def _figures(result: Result, scale: _Scale, row: _Row, domain: tuple[float, float]) -> dict[str, Any]:
    outcome = row.outcome
    placed, (p, q), interval = on_axis(outcome), names.in_figure(outcome, result), scale.interval(outcome)
    beside = f"{names.signs(outcome)}{names.MAY_CHANGE if names.may_change(outcome) else ''}"
    return {
        "group": row.name,
        "named": f"{row.name}{row.behind}",
        "x": within(domain, placed.value),
        "low": within(domain, ends(placed)[0]),
        "high": within(domain, ends(placed)[1]),
        "chance": within(domain, placed.null_median),
        "value": f"{scale.write(outcome.value)}{names.form(outcome)}",
        "interval": interval or str(outcome.no_interval or ""),
        "figures": " ".join(part for part in (scale.write(outcome.value), interval, beside) if part),
        "p": "" if outcome.p is None and not names.not_yet(outcome, result) else p,
        "q": "" if outcome.q is None else q,
        "significance": names.SIGNIFICANCE_NAMES[outcome.significance],
        "verdict": names.verdict(outcome),
        **row.told,
    }


def _layers(
    drawn: list[dict[str, Any]],
    headings: list[dict[str, Any]],
    scale: _Scale,
    domain: tuple[float, float],
    height: int,
    theme: draw.Theme,
) -> list[alt.Chart]:
    """Lines between rows, the line of no difference, marks, texts, and the places that tell more."""
    colours, mark_y, text_y = draw.palette(theme), draw.down("mark_y"), draw.down("text_y")
    x, low, chance, members = (
        draw.measured(one, domain, scale.axis, grid=True, titleLimit=340)
        for one in ("x", "low", "chance", _MEMBERS)
    )
    base = alt.Chart(alt.NamedData("forest")).encode(tooltip=draw.tooltip(**scale.called))
    at = scale.nothing
    nothing = [] if at is None or not domain[0] <= at <= domain[1] else [{"x": at}]
    look: dict[str, Any] = {"shape": "cross", "angle": 45, "size": 45, "filled": True, "aria": False}
    own = draw.valid(base, _MEMBERS).mark_point(color=colours.ink, opacity=0.75, **look)
    return [
        draw.from_edge_to_edge(alt.Chart(draw.rows(drawn, "forest")), draw.down("bottom", height), theme),
        *(
            alt.Chart(draw.rows([line], "nothing"))
            .mark_rule(color=colours.muted, strokeDash=[4, 3], aria=False)
            .encode(x=x)
            for line in nothing
        ),
        draw.interval(base, low, mark_y, strokeWidth=3, strokeCap="round", opacity=0.75).encode(
            color=draw.colour(theme)
        ),
        draw.tick(draw.valid(base, "chance"), chance, mark_y, theme, size=12, thickness=2, aria=False),
        *([own.encode(x=members, y=mark_y)] if any(_MEMBERS in row for row in drawn) else []),
        draw.marked(
            draw.valid(base, "x"), x, mark_y, theme, size=85, stroke=colours.background, strokeWidth=0.7
        ),
        draw.written(base, "named", draw.LEFT, text_y, limit=alt.expr(f"width - {_FIGURES}")),
        *draw.by_mark(base, "figures", draw.RIGHT, text_y, theme, align="right"),
        draw.headed(headings, draw.down("y")),
        draw.clickable(base, "top", "bottom"),
    ]


EACH_GROUP = "each group"
_OF_GROUPS = {"group": "Group", "axis": "Axis", "raters": "Raters"}


def forest_plot(
    result: RunResult,
    statistic: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    by: str | None = None,
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """Value and 95 % interval of a statistic for each group, beside the middle of its random groupings."""
    if statistic not in names.WORDS:
        raise ValueError(f"`statistic` must be one of {', '.join(names.WORDS)}; found {statistic!r}")
    words = names.WORDS[statistic]
    scale = _Scale(words.axis, names.format_value, _told(_OF_GROUPS, words.name), _NOTHING.get(statistic))
    found = [(row, names.told_of(row, statistic)) for row in ordered_groups(result, order, by)]
    explained = [words.name, "Tick: the middle of random groupings."]
    return _of_groups(result, found, scale, explained, theme, headed=order == "axis", page=page, of=of)


def label_forest_plot(
    result: RunResult,
    label: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """How much more often each group gives a label than the others do to the same items, with intervals."""
    name = f"“{one_line(label)}”"
    scale = _of_points(f"{name}: points more often than the others on the same items", _OF_GROUPS, name)
    uses = [(row, row.label_use) for row in ordered_groups(result, order)]
    found = [(row, _of_label(use, label)) for row, use in uses if use is not None]
    explained = [name, "Right of 0: more often than by the others."]
    return _of_groups(result, found, scale, explained, theme, headed=order == "axis", page=page, of=of)


def slices_chart(
    result: RunResult, column: str, group: Group, what: tuple[str, bool], theme: draw.Theme = "light"
) -> alt.LayerChart:
    """Values and intervals of one group, a row for all items and one for each value.

    `what` is a statistic, or a label, and whether it is a label.
    """
    found = next(one for one in result.slices if one.column == column)
    view, of = by_value(result, found, group), f"{group_label(group)} by {one_line(column)}"
    name, is_label = what
    if is_label:
        return label_forest_plot(view, name, theme, of=of)
    return forest_plot(view, name, theme, of=of)


def _of_groups(
    result: RunResult,
    found: Sequence[tuple[GroupResult, Outcome]],
    scale: _Scale,
    explained: Sequence[str],
    theme: draw.Theme,
    *,
    headed: bool,
    page: int | None,
    of: str,
) -> alt.LayerChart:
    """A row for each group, for those of few raters only in a chart `of` something else than each group."""
    name, explanation = explained
    heading = draw.title(f"{name} of {of}", ["In brackets: raters. Bar: 95 % interval.", explanation])
    if not found:
        return draw.message(theme, heading=heading, text="There is no group to show.")
    every = [row for row, _ in found]
    large = [row.group for row in (large_groups(every) if of == EACH_GROUP else every)]
    titles, rows = dict(zip(large, group_labels(large), strict=True)), []
    for row, outcome in found:
        if row.group not in titles:
            continue
        axis = axis_label(row.group.axes)
        told = {"axis": axis, "raters": row.n_raters}
        behind = f" ({row.n_raters:,})"
        rows.append(_Row(titles[row.group], outcome, behind, axis if headed else "", told))
    shown = rows[on_page(page)]
    whose = number(len(shown), "group") if of == EACH_GROUP else of
    left_out = not_drawn(every) if of == EACH_GROUP else ""
    alt_text = f"{name} with its 95 % interval for {whose}: {_in_words(shown, scale)} {left_out}".rstrip()
    return _forest(result, rows, scale, theme, heading, alt_text, on_page(page))


def _in_words(rows: Iterable[_Row], scale: _Scale) -> str:
    """Values with their intervals and marks, then what has none."""
    told, missing = [], []
    for row in rows:
        placed, mark = on_axis(row.outcome), row.outcome.significance
        if placed.value is None:
            missing.append(row.name)
            continue
        value = f"{row.name} {scale.write(placed.value)}{names.form(placed)} {scale.interval(placed)}"
        told.append(value.rstrip() + ("" if mark == "none" else f", {names.SIGNIFICANCE_NAMES[mark]}"))
    return "; ".join(told) + "." + (f" Not estimable: {'; '.join(missing)}." if missing else "")


def _told(about: Mapping[str, str], value: str, tests: str = "") -> dict[str, str]:
    """What is told of a mark, by field: what it is of, its value, and its test, which may be `tests` of."""
    tested = {"interval": "95 % interval", "p": f"p{tests}", "q": f"q{tests}", "verdict": "Result"}
    return {**about, "value": value, **tested}


def _of_points(title: str, about: Mapping[str, str], name: str) -> _Scale:
    """Percentage points of labels, which are tested together."""

    def write(points: float | None) -> str:
        return names.NOT_ESTIMABLE if points is None else format_points(points / 100)

    return _Scale(title, write, _told(about, name, " of all labels"), 0.0)


def _of_label(use: LabelUse, label: str) -> Outcome:
    """A label's shift in points and its mark, with the one test of all labels."""
    found = shift_outcome(use, label)
    return found if found.value is None else replace(tested_as(found, use), significance=found.significance)


_MOST_LABELS = 40
"""Labels that are drawn, those that differ most; the table beside the chart has all."""


def label_use_chart(result: RunResult, row: GroupResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A row for each label: how much more often the group gives it, in percentage points."""
    use = row.label_use
    told = ["How much more or less often than the others", "on the same items, in percentage points."]
    if use is not None:  # the one test of all rows
        tested = f"p {names.p_so_far(use)}" if result.provisional else p_and_q(use, result)
        told.append(f"All labels together: {tested}.")
    heading = draw.title("Label use", told)
    known = {} if use is None else {one: shift.value for one, shift in use.labels.items()}
    found = {label: abs(value) for label, value in known.items() if value is not None}
    if use is None or not found:
        reason = "not part of this run" if use is None or use.reason is None else str(use.reason)
        return draw.message(theme, heading=heading, text=f"There is no label use to show: {reason}.")
    most = sorted(found, key=found.__getitem__, reverse=True)[:_MOST_LABELS]
    rows = [_Row(one_line(label), _of_label(use, label)) for label in found if label in most]
    scale = _of_points("percentage points more often than the others", {"group": "Label"}, "Difference")
    of = f"Label use of {group_label(row.group)}, beside the others on the same items"
    return _forest(result, rows, scale, theme, heading, f"{of}: {_in_words(rows, scale)}")


def dsi_chart(result: RunResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """Each axis's DSI, largest first: which axis recruitment should watch."""
    told = ["DSI: the largest GAI among an axis’s groups.", "Bar: 95 % interval. Tick: the middle of chance."]
    heading = draw.title("Diversity sensitivity by axis", told)
    if not result.dsi:
        return draw.message(theme, heading=heading, text="This run reports no DSI.")
    rows = [_of_axis(result, row) for row in told_axes(result)]
    about = {"group": "Axis", "attained": "Attained by"}
    own = {"p_group": "p of that group’s GAI", "significance_group": "Result for that group"}
    called = _told(about, "DSI") | {"p": "p (against the largest of random groupings)"} | own
    scale = _Scale("DSI (GAI; 1: agrees with itself as with others)", names.format_value, called, 1.0)
    alt_text = f"Diversity sensitivity index by axis, largest first: {_in_words(rows, scale)}"
    return _forest(result, rows, scale, theme, heading, alt_text)


def _of_axis(result: RunResult, row: DsiResult) -> _Row:
    axis, p = axis_label(row.axes), row.p_group
    group = "" if row.group is None else group_label(row.group)
    told = {
        "group": axis,
        "attained": group,
        "p_group": "" if p is None else names.format_p_value(p, permutations=result.permutations),
        "significance_group": names.SIGNIFICANCE_NAMES[row.significance_group],
    }
    return _Row(f"{axis}: {group}" if group else axis, row.outcome, told=told)


def models_chart(result: ModelsResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """Macro-F1 of every model against every group's plurality, below all raters' and each group's name."""
    heading = draw.title(
        "Whose judgements each model reproduces",
        [
            "Macro-F1 against the plurality of all raters, then against each group’s own.",
            "Tick: random groups of the same size. ×: what its own members reach.",
        ],
    )
    if not result.groups or not result.models:
        return draw.message(theme, heading=heading, text="There is no group or no model to show.")
    of_all: dict[str, Any] = {"below": EVERYBODY, "told": {"of": EVERYBODY}}
    told = []
    rows = [_Row(one_line(one.name), Outcome(one.overall_f1), **of_all) for one in result.models]
    for title, row in zip(group_labels([row.group for row in result.groups]), result.groups, strict=True):
        below, about = f"{title} ({row.n_raters:,})", {"of": title, "axis": axis_label(row.group.axes)}
        of_group = [
            _Row(
                one_line(one.name),
                lead_of(row, one.name),
                below=below,
                told={**about, _MEMBERS: row.models[one.name].members_f1},
            )
            for one in result.models
        ]
        rows += of_group
        told.append((title, of_group))
    called = _told({"group": "Model", "of": "Group", "axis": "Axis"}, "Macro-F1", " against random groups")
    scale = _Scale("Macro-F1 (1 = a perfect copy)", names.format_value, called, domain=(0.0, 1.02))
    said = " ".join(f"{title}: {_in_words(of_group, scale)}" for title, of_group in told)
    every = _in_words(rows[: len(result.models)], scale)
    alt_text = f"Macro-F1 of each model against the plurality of all raters: {every} Of each group’s: {said}"
    return _forest(result, rows, scale, theme, heading, alt_text)
