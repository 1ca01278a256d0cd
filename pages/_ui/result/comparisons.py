"""Groups beside others: two by two, on the items of each value of a column, and given another axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import altair as alt
import streamlit as st

from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import LabelUse, PairResult
from grasp_core.model.result import RunResult, SlicesResult
from grasp_core.model.text import Sentence, escape_markdown
from grasp_core.report import pairs, slices
from grasp_core.report.charts.groups import pairs_matrix, slices_chart
from grasp_core.report.charts.histograms import pair_histograms
from grasp_core.report.charts.theme import Theme
from grasp_core.report.document import measure_table, pair_table
from grasp_core.report.findings.mending import given_too
from grasp_core.report.tables import results_table
from grasp_core.report.tidy import ALL_LABELS, label_use_table
from grasp_core.report.words.label_use import format_points
from grasp_core.report.words.names import WORDS, format_p_value, lead_statistic, reported_statistics
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.state import ask_again
from pages._ui.helpers.widgets import Shown
from pages._ui.result import cache
from pages._ui.result.cache import show_groups_table


def show_pairs(shown: Shown, group: Group | None = None) -> None:
    """What pairs differ in: a matrix for each axis, or with `group` its own pairs, and one pair in detail."""
    result = shown.result
    st.caption(pairs.PAIRS_EXPLANATION)
    ui.bullets(_said(result, group))
    rows = result.pairs if group is None else pairs.seen_from(result, group)
    strong = rows[pairs.strongest(rows)]
    chosen = strong.a.axes if group is None else group.axes
    left, right = st.columns(2)
    if group is None:
        axes = {row.a.axes: axis_label(row.a.axes) for row in result.pairs}
        first = list(axes).index(chosen)
        chosen = ui.pick("Axis of the pairs", axes, place=left, index=first, key="pairs-axis")
    told, first = pairs.measures(result), pairs.told_first(strong)
    names = {key: one.name for key, one in told.items()}
    place = list(told).index(first) if first in told else 0
    measure = told[ui.pick("Compare by", names, place=right, index=place, key="pairs-measure")]
    explained = measure.explanation
    if group is None:
        ui.caption(explained)
        _matrix(shown, chosen, measure)
    else:
        explained = explained.replace("the row’s raters", "this group’s raters")
        ui.caption(explained.replace("the column’s", "the other group’s"))
        beside = f"{measure.name}, this group beside each other one"
        ui.show_table(measure_table(result, measure, group=group), beside)
    _one_pair(shown, [row for row in rows if row.a.axes == chosen])


def _said(result: RunResult, group: Group | None) -> Sequence[Sentence]:
    if result.later is not None:
        return ()
    if group is None:
        return pairs.most_told(result, pairs.PAIRS_SAID)
    found = pairs.foremost_pairs(result, group)[: pairs.PAIRS_SAID]
    return [pairs.pair_sentences(row, result)[0] for row in found]


def _matrix(shown: Shown, axes: tuple[str, ...], measure: pairs.Measure) -> None:
    result, of_every = shown.result, f"{measure.name} of every pair"

    def chart(result: RunResult, theme: Theme = "light") -> alt.LayerChart:
        return pairs_matrix(result, axes, measure, theme)

    def table() -> None:
        ui.show_table(measure_table(result, measure, axes=axes), f"{of_every} of groups")

    cache.chart(shown.key, f"pairs {axes} {measure.key}", result, chart, fresh=result.later is not None)
    ui.when_open(f"{of_every} as a table", table, key="pairs-table")
    if result.later is None:
        ui.save_figure(shown, partial(chart, result), "pairs", "matrix of pairs")


def _one_pair(shown: Shown, rows: Sequence[PairResult]) -> None:
    result = shown.result
    st.subheader("One pair")
    names = {at: f"{group_label(row.a)} – {group_label(row.b)}" for at, row in enumerate(rows)}
    key = f"pairs-pair-{axis_label(rows[0].a.axes)}"
    row = rows[ui.pick("Pair of groups", names, index=pairs.strongest(rows), key=key)]

    def chart(result: RunResult, theme: Theme) -> alt.LayerChart:
        return pair_histograms(result, row, theme)

    if result.later is None:
        ui.bullets(pairs.pair_sentences(row, result))
        cache.chart(shown.key, f"pair {row.a} {row.b}", result, chart)
    ui.show_table(pair_table(result, row), "Everything that was tested of this pair")


def show_slices(shown: Shown, group: Group | None = None) -> None:
    """What stands out in which slice, then one group in all of them; with `group` that group alone."""
    result = shown.result
    if not result.slices:
        return
    found = result.slices[0]
    if len(result.slices) > 1:
        columns = {at: escape_markdown(one_line(one.column)) for at, one in enumerate(result.slices)}
        found = result.slices[ui.switch("Sliced by", columns, key="slices-column")]
    ui.bullets(slices.slice_sentences(result, found, group))
    told = slices.told_first(result, found, group)
    chosen = _choose_group(result, found, told) if group is None else group
    if chosen is None or chosen not in slices.sliced_groups(result, found):
        return
    uses = [row.label_use for row in result.groups if row.label_use]
    labels = dict.fromkeys(name for use in uses for name in use.labels)
    reported = reported_statistics(result)
    options = {(name, False): WORDS[name].name for name in reported}
    options |= {(name, True): f"says “{one_line(name)}”" for name in labels}
    if told is None:
        first = lead_statistic(result), False
    elif isinstance(told.test, LabelUse):
        first = told.test.most or "", True
    else:
        first = told.statistic, False
    place = list(options).index(first) if first in options else 0
    key = f"slices-measure-{found.column}-{group}"
    what = ui.pick("What is compared", options, index=place, key=key)

    def chart(drawn: RunResult, theme: Theme = "light") -> alt.LayerChart:
        return slices_chart(drawn, found.column, chosen, what, theme)

    name = f"slices {found.column} {chosen} {what}"
    cache.chart(shown.key, name, shown.drawn, chart, fresh=result.later is not None)
    st.caption("q of slices is over all groups and values of the column; that of all items is the run's own.")
    table = partial(_slices_table, result, found, chosen, what)
    ui.when_open("Slices as a table", table, key="slices-table")
    ui.save_figure(shown, partial(chart, result), "slices", "chart of these slices")


def _choose_group(result: RunResult, found: SlicesResult, told: slices.Found | None) -> Group | None:
    groups = slices.sliced_groups(result, found)
    if not groups:
        return None
    labels = zip(groups, group_labels(groups), strict=True)
    names = {group: f"{name} ({axis_label(group.axes)})" for group, name in labels}
    first = 0 if told is None else groups.index(told.row.group)
    return ui.pick("Group", names, index=first, key=f"slices-group-{found.column}")


def _slices_table(result: RunResult, found: SlicesResult, group: Group, what: tuple[str, bool]) -> None:
    name, is_label = what
    view = slices.by_value(result, found, group)
    alt_text = f"{group_label(group)} on the items of each value"
    if not is_label:
        frame = results_table(view, order="axis").reset_index(drop=True)
        theme, permutations = ui.page_theme(), result.permutations
        show_groups_table(frame, [name], theme, permutations, p=True, alt=alt_text)
        return
    table = label_use_table(view)
    shown = table[table["label"] == name][["group", "raters", "shift", "low", "high", "p"]]
    shown["q"] = table[table["label"] == ALL_LABELS]["q"].to_numpy()  # of the same groups
    points = {head: shown[head].map(format_points) for head in ("shift", "low", "high")}
    p_text = partial(format_p_value, permutations=result.permutations)
    tests = {head: shown[head].map(p_text) for head in ("p", "q")}
    heads = {"group": "Items", "raters": "Raters", "shift": "Points", "low": "From", "high": "To"}
    shown = shown.assign(**points, **tests).rename(columns={**heads, "q": "q of all labels"})
    ui.show_table(shown, alt_text, height="content")


def has_given(shown: Shown) -> bool:
    """Whether something was asked given an axis, or some of the run's axes go together."""
    result = shown.result
    if result.provisional or result.later is not None:
        return bool(result.given)
    return bool(result.given or slices.not_yet_given(result))


def show_given(shown: Shown) -> None:
    """What was found given each axis; a click asks it of axes that go together."""
    result, run = shown.result, shown.run
    ui.bullets(slices.given_sentences(result))
    for found in result.given:
        st.subheader(f"Given {escape_markdown(axis_label((found.column,)))}")
        st.dataframe(slices.given_table(result, found), hide_index=True, width="stretch")
    st.caption(slices.GIVEN_EXPLANATION)
    may_ask = not shown.stranger and result.later is None
    for place, one in enumerate(slices.not_yet_given(result)):
        st.markdown(slices.association_sentence(one).markdown)
        if run is None or not may_ask:
            continue
        axes = f"{axis_label((one.first,))} given {axis_label((one.second,))}"
        label = escape_markdown(f"Test {axes}, and the other way round")
        if ui.button(label, "call_split", key=f"ask-given-{place}"):
            ask_again(run, given_too(run.spec, (one.first, one.second)))
