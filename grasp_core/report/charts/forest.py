"""Forest plots, a value with its interval in each row: groups, slices, axes, labels, models, systems."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.benchmark.leaderboard import OVERALL, Entry, ranked
from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import Interval, LabelUse, Outcome
from grasp_core.model.result import DsiResult, GroupResult, RunResult
from grasp_core.model.text import number
from grasp_core.report.charts import theme as draw
from grasp_core.report.charts.rows import MEMBERS, ChartAxis, ChartRow, in_rows, in_words, of_groups, on_page
from grasp_core.report.models import EVERYBODY, lead_of
from grasp_core.report.slices import by_value
from grasp_core.report.tables import RowOrder, large_groups, not_drawn, ordered_groups, shown_axes
from grasp_core.report.words import names
from grasp_core.report.words.label_use import p_and_q, shift_outcome, tested_as, write_points

_NOTHING: dict[str, float] = {"gai": 1.0, "gap": 0.0, "distance": 0.0, "irr": 0.0, "xrr": 0.0}
"""Value of each statistic that means "no difference" or "as by chance", if there is one."""

EACH_GROUP = "each group"
_OF_GROUPS = {"group": "Group", "axis": "Axis", "raters": "Raters"}


def forest_plot(
    result: RunResult,
    statistic: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """Value and 95 % interval of a statistic for each group, beside the median of random groupings."""
    if statistic not in names.WORDS:
        raise ValueError(f"`statistic` must be one of {', '.join(names.WORDS)}; found {statistic!r}")
    words = names.WORDS[statistic]
    axis = ChartAxis(words.axis, _tooltip_fields(_OF_GROUPS, words.name), _NOTHING.get(statistic))
    found = [
        (row, ChartRow("", names.shown_outcome(row, statistic))) for row in ordered_groups(result, order)
    ]
    explained = [words.name, "Tick: the middle of random groupings."]
    return _of_groups(result, found, axis, explained, theme, headed=order == "axis", page=page, of=of)


def label_forest_plot(
    result: RunResult,
    label: str,
    theme: draw.Theme = "light",
    order: RowOrder = "axis",
    *,
    page: int | None = None,
    of: str = EACH_GROUP,
) -> alt.LayerChart:
    """Points by which each group gives a label more often than others to the same items, with intervals."""
    name = f"“{one_line(label)}”"
    axis = _of_points(f"{name}: points more often than the others on the same items", _OF_GROUPS, name)
    uses = [(row, row.label_use) for row in ordered_groups(result, order)]
    found = [(row, replace(_of_label(use, label), name="")) for row, use in uses if use is not None]
    explained = [name, "Right of 0: more often than by the others."]
    return _of_groups(result, found, axis, explained, theme, headed=order == "axis", page=page, of=of)


def slices_chart(
    result: RunResult, column: str, group: Group, what: tuple[str, bool], theme: draw.Theme = "light"
) -> alt.LayerChart:
    """Values and intervals of one group, on all items and by slice; `what`: statistic, or label and True."""
    found = next(one for one in result.slices if one.column == column)
    view, of = by_value(result, found, group), f"{group_label(group)} by {one_line(column)}"
    name, is_label = what
    if is_label:
        return label_forest_plot(view, name, theme, of=of)
    return forest_plot(view, name, theme, of=of)


def _of_groups(
    result: RunResult,
    found: Sequence[tuple[GroupResult, ChartRow]],
    axis: ChartAxis,
    explained: Sequence[str],
    theme: draw.Theme,
    *,
    headed: bool,
    page: int | None,
    of: str,
) -> alt.LayerChart:
    """A row for each group; groups of few raters have one only if the chart is not `of` each group."""
    name, explanation = explained
    heading = draw.title(f"{name} of {of}", ["In brackets: raters. Bar: 95 % interval.", explanation])
    if not found:
        return draw.message(theme, heading=heading, text="There is no group to show.")
    every = [row for row, _ in found]
    rows = of_groups(found, every if of != EACH_GROUP else large_groups(every), headed=headed)
    shown = rows[on_page(page)]
    whose = number(len(shown), "group") if of == EACH_GROUP else of
    left_out = not_drawn(every) if of == EACH_GROUP else ""
    alt_text = f"{name} with its 95 % interval for {whose}: {in_words(shown)} {left_out}".rstrip()
    return in_rows(result, rows, axis, theme, heading, alt_text, on_page(page))


def _tooltip_fields(about: Mapping[str, str], value: str, tests: str = "") -> dict[str, str]:
    """Names of the fields in a tooltip: `about`, the value, and its test; `tests` follows p and q."""
    tested = {"interval": "95 % interval", "p": f"p{tests}", "q": f"q{tests}", "verdict": "Result"}
    return {**about, "value": value, **tested}


def _of_points(title: str, about: Mapping[str, str], name: str) -> ChartAxis:
    """Axis of percentage points of labels, which are tested together."""
    return ChartAxis(title, _tooltip_fields(about, name, " of all labels"), 0.0)


def _of_label(use: LabelUse, label: str) -> ChartRow:
    """A label's shift in points and its mark, with the test of all labels together."""
    found = shift_outcome(use, label)
    if found.value is not None:
        found = replace(tested_as(found, use), significance=found.significance)
    return ChartRow(one_line(label), found, write=write_points)


_MOST_LABELS = 40
"""Number of labels that are drawn, the ones that differ most; the table beside the chart has all."""


def label_use_chart(result: RunResult, row: GroupResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A row for each label: how much more often the group gives it, in percentage points."""
    use = row.label_use
    told = ["How much more or less often than the others", "on the same items, in percentage points."]
    if use is not None:  # the one test of all rows
        tested = f"p {names.so_far(use.p, use.p_interval)}" if result.provisional else p_and_q(use, result)
        told.append(f"All labels together: {tested}.")
    heading = draw.title("Label use", told)
    known = {} if use is None else {one: shift.value for one, shift in use.labels.items()}
    found = {label: abs(value) for label, value in known.items() if value is not None}
    if use is None or not found:
        reason = "not part of this run" if use is None or use.reason is None else str(use.reason)
        return draw.message(theme, heading=heading, text=f"There is no label use to show: {reason}.")
    most = sorted(found, key=found.__getitem__, reverse=True)[:_MOST_LABELS]
    rows = [_of_label(use, label) for label in found if label in most]
    axis = _of_points("percentage points more often than the others", {"group": "Label"}, "Difference")
    of = f"Label use of {group_label(row.group)}, beside the others on the same items"
    return in_rows(result, rows, axis, theme, heading, f"{of}: {in_words(rows)}")


def dsi_chart(result: RunResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """Each axis's DSI, largest first: which axis recruitment should watch."""
    told = ["DSI: the largest GAI among an axis’s groups.", "Bar: 95 % interval. Tick: the middle of chance."]
    heading = draw.title("Diversity sensitivity by axis", told)
    if not result.dsi:
        return draw.message(theme, heading=heading, text="This run reports no DSI.")
    rows = [_of_axis(result, row) for row in shown_axes(result)]
    about = {"group": "Axis", "attained": "Attained by"}
    own = {"p_group": "p of that group’s GAI", "significance_group": "Result for that group"}
    called = _tooltip_fields(about, "DSI") | {"p": "p (against the largest of random groupings)"} | own
    axis = ChartAxis("DSI (GAI; 1: agrees with itself as with others)", called, 1.0)
    alt_text = f"Diversity sensitivity index by axis, largest first: {in_words(rows)}"
    return in_rows(result, rows, axis, theme, heading, alt_text)


def _of_axis(result: RunResult, row: DsiResult) -> ChartRow:
    axis, p = axis_label(row.axes), row.p_group
    group = "" if row.group is None else group_label(row.group)
    told = {
        "group": axis,
        "attained": group,
        "p_group": "" if p is None else names.format_p_value(p, permutations=result.permutations),
        "significance_group": names.SIGNIFICANCE_NAMES[row.significance_group],
    }
    return ChartRow(f"{axis}: {group}" if group else axis, row.outcome, told=told)


def models_chart(result: ModelsResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """Macro-F1 of every model against the plurality of all raters, then against each group's."""
    first = "Macro-F1 against the plurality of all raters, then against each group’s own."
    second = "Tick: random groups of the same size. ×: what its own members reach."
    heading = draw.title("Whose judgements each model reproduces", [first, second])
    if not result.groups or not result.models:
        return draw.message(theme, heading=heading, text="There is no group or no model to show.")
    of_all: dict[str, Any] = {"below": EVERYBODY, "told": {"of": EVERYBODY}}
    told = []
    rows = [ChartRow(one_line(one.name), Outcome(one.overall_f1), **of_all) for one in result.models]
    for title, row in zip(group_labels([row.group for row in result.groups]), result.groups, strict=True):
        below, about = f"{title} ({row.n_raters:,})", {"of": title, "axis": axis_label(row.group.axes)}
        of_group = [
            ChartRow(
                one_line(one.name),
                lead_of(row, one.name),
                below=below,
                told={**about, MEMBERS: row.models[one.name].members_f1},
            )
            for one in result.models
        ]
        rows += of_group
        told.append((title, of_group))
    called = _tooltip_fields(
        {"group": "Model", "of": "Group", "axis": "Axis"}, "Macro-F1", " against random groups"
    )
    axis = ChartAxis("Macro-F1 (1 = a perfect copy)", called, domain=(0.0, 1.02))
    said = " ".join(f"{title}: {in_words(of_group)}" for title, of_group in told)
    every = in_words(rows[: len(result.models)])
    alt_text = f"Macro-F1 of each model against the plurality of all raters: {every} Of each group’s: {said}"
    return in_rows(result, rows, axis, theme, heading, alt_text)


SHOWN = 12
"""Number of labels that are drawn, the ones given most often."""


def agreement_chart(result: RunResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """A row per label: of 100 answers by other raters to items with this label, the number that repeat it."""
    found = result.everybody
    known = [one for one in found.labels if one.again is not None] if found is not None else []
    if not known:
        return draw.message(theme, heading=None, text="There is no label to be drawn.")
    rows = [
        ChartRow(
            one_line(one.label),
            Outcome(100 * (one.again or 0.0), 100 * (one.by_chance or 0.0)),
            f" ({one.annotations:,} answers)",
            told={"by_chance": f"{100 * (one.by_chance or 0.0):.0f}"},
            write=lambda value: f"{value or 0.0:.0f}",
        )
        for one in sorted(known, key=lambda one: -one.annotations)[:SHOWN]
    ]
    called = {"group": "Label", "value": "Another says so too", "by_chance": "By chance"}
    heading = draw.title("When one rater says it, another says so too", "Of 100. Tick: by chance.")
    axis = ChartAxis("of 100 answers of other raters to the same item", called, domain=(0.0, 100.0))
    said = (
        f"{row.name}: {row.write(row.outcome.value)} of 100, by chance {row.told['by_chance']}"
        for row in rows
    )
    alt_text = f"How often another rater says the same, by label. {'; '.join(said)}."
    return in_rows(None, rows, axis, theme, heading, alt_text)


HERE, PUBLISHED = "scored here", "published"


def leaderboard_chart(
    entries: Sequence[Entry], column: str = OVERALL, theme: draw.Theme = "light"
) -> alt.LayerChart:
    """A row for each system, best first."""
    name = "all tasks (mean)" if column == OVERALL else column
    rows = []
    for entry in ranked(entries, column):
        score, ends = entry.score(column), entry.ci95.get(column)
        if score is not None:
            scored = HERE if entry.own else PUBLISHED
            told = {"scored": scored, "source": entry.source or "this server"}
            interval = None if ends is None else Interval(*ends, "items")
            rows.append(ChartRow(entry.name, Outcome(score, interval=interval), f" ({scored})", told=told))
    bars = any(row.outcome.interval for row in rows)
    heading = draw.title(f"Macro-F1: {name}", "Bar: 95 % interval." if bars else "Best first.")
    if not rows:
        return draw.message(theme, heading=heading, text="No system has a score here yet.")
    called = {"group": "System", "value": "Macro-F1", "interval": "95 % interval", "scored": "Scored"}
    look = {"grid": True, "tickMinStep": 0.1, "format": ".1f"}
    axis = ChartAxis("Macro-F1", {**called, "source": "Source"}, domain=(0.0, 1.0), look=look)
    listed = "; ".join(f"{row.name} {row.write(row.outcome.value)}{row.behind}" for row in rows)
    return in_rows(None, rows, axis, theme, heading, f"Macro-F1 of {name}, best first: {listed}.")
