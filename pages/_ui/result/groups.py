"""Groups in numbers: tables and charts of all groups, all results of one group, groups side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import altair as alt
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import LabelUse, PairResult, Significance
from grasp_core.model.result import GroupResult, RunResult, SlicesResult
from grasp_core.model.text import escape_markdown, number
from grasp_core.report import pairs, slices
from grasp_core.report.account import least_of
from grasp_core.report.charts import forest
from grasp_core.report.charts.histograms import group_histograms, null_histograms, pair_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.matrix import pairs_matrix
from grasp_core.report.charts.theme import Theme
from grasp_core.report.contents import marks_legend
from grasp_core.report.document import INTERVAL, labels_in_numbers, means_in_numbers, pairs_in_numbers
from grasp_core.report.findings.advice import doubted
from grasp_core.report.findings.answer import axes_to_watch, verdict_sentence
from grasp_core.report.findings.mending import given_too
from grasp_core.report.findings.selection import evidence, named_groups
from grasp_core.report.tables import RowOrder, cell_text, not_drawn, results_table, with_label_use
from grasp_core.report.words import names as words
from grasp_core.report.words.label_use import P_BOTH, P_BOTH_MEANING, mean_words
from grasp_core.report.words.names import WORDS, lead_statistic, reported_statistics
from grasp_core.report.writers.registry import safe_name
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.state import ask_again
from pages._ui.helpers.widgets import Shown
from pages._ui.result import cache, shown_tables
from pages._ui.result.on_demand import has_items, has_rater_map, show_rater_map, show_some_items

_PER_PAGE = {"persist_state": "page"}


def _show_null_histograms(shown: Shown, order: RowOrder) -> None:
    """Draw one statistic of all groups, against random groupings or with its intervals."""
    result = shown.result
    reported = reported_statistics(result)
    of_labels = {words.LABEL_USE: words.LABEL_USE_NAME} if with_label_use(result) else {}
    names = {**of_labels, **{name: WORDS[name].name for name in reported}}
    told = None if result.provisional else cache.first_screen(shown.key, result).clearest
    first = told.what if told is not None and told.what in names else lead_statistic(result)
    place, key = list(names).index(first), "so-far-statistic" if result.provisional else "null-statistic"
    statistic = ui.pick("Statistic", names, index=place, key=key, **_PER_PAGE)
    is_statistic = statistic in WORDS  # the intervals of labels have a chart of their own
    st.caption(WORDS[statistic].explanation if is_statistic else words.LABEL_USE_EXPLANATION)
    ways = ("Random groupings", "Intervals")
    as_forest = is_statistic and ui.switch("Drawn with", ways, key="null-way", **_PER_PAGE) == "Intervals"
    own = not as_forest and st.toggle("An axis of its own for each", key="null-own", **_PER_PAGE)
    chart = forest.forest_plot if as_forest else partial(null_histograms, own=own)

    def draw(drawn: RunResult, theme: Theme, page: int | None = None) -> alt.LayerChart:
        return chart(drawn, statistic, theme, order, page=page)

    kind, called = ("forest", "intervals") if as_forest else ("null", "histograms")
    files = (f"{kind}-{statistic.replace('_', '-')}", f"{names[statistic]} {called}")
    few = partial(_say_not_drawn, result.groups)
    cache.figure(shown, f"{kind} {statistic} {order} {own}", draw, files, between=few, page="null-page")


def _say_not_drawn(groups: Sequence[GroupResult]) -> None:
    if few := not_drawn(groups):
        ui.caption(few)


_SIDE_BY_SIDE = 8
"""Most labels that are shown side by side; more of them are chosen from a list."""


def _show_labels(shown: Shown) -> None:
    result = shown.result
    st.header("Who says what more often")
    st.caption(words.LABEL_USE_EXPLANATION)
    shown_tables.show_label_table(result, ui.page_theme())
    st.caption("p and q are of all labels of a group together: the label that differs most decides.")
    show_means(result)
    st.header("One label in every group")
    label = _choose_label(result)

    def draw(drawn: RunResult, theme: Theme, page: int | None = None) -> alt.LayerChart:
        return forest.label_forest_plot(drawn, label, theme, page=page)

    files = ("label-use", "chart of this label")
    few = partial(_say_not_drawn, result.groups)
    cache.figure(shown, f"label forest {label}", draw, files, between=few, page="label-page")


def show_means(result: RunResult) -> None:
    """Draw the shift of each group's mean, if labels are ordered or numbers."""
    means = means_in_numbers(result)
    if means.empty or result.provisional:
        return
    st.header("Whose labels lie higher")
    st.caption(f"{words.MEAN_SHIFT_EXPLANATION} It is tested together with the labels, above.")
    ui.show_table(means, "Shift of the mean of every group", height="content")


def _choose_label(result: RunResult) -> str:
    """Choose a label, at first the one in which most marked groups differ."""
    uses = [use for _, use in with_label_use(result)]
    labels = list(dict.fromkeys(label for use in uses for label in use.labels))
    most = [use.most for use in uses if use.significance == "corrected" and use.most is not None]
    first = max(labels, key=lambda label: (most.count(label), -labels.index(label)))
    looks = {"key": "one-label", **_PER_PAGE}
    if len(labels) <= _SIDE_BY_SIDE:
        return str(ui.switch("Label", labels, default=first, format_func=escape_markdown, **looks))
    return str(st.selectbox("Label", labels, index=labels.index(first), **looks))


_MARKED: Mapping[str, tuple[Significance, ...]] = {
    "All groups": (),
    "Marked, even where it may be luck": ("nominal", "corrected"),
    "Marked after correction": ("corrected",),
}


_OPENS = "Tick a row, or press Shift and Space in it, to open its group."


def show_groups(shown: Shown, *, at_once: bool = False) -> None:
    """Draw table, histograms and map, which filters redraw alone unless `at_once`; then label use and DSI."""
    result = shown.result
    draw = _draw_groups if at_once else st.fragment(_draw_groups)
    draw(shown)
    if with_label_use(result):  # results of earlier versions lack it
        _show_labels(shown)
    if result.dsi:
        st.header("Along which axis does it matter most who is asked?")
        if not result.provisional:
            for sentence in axes_to_watch(result):
                st.markdown(sentence.markdown)
        st.caption(words.DSI_EXPLANATION)
        table = partial(
            cache.kept, shown.key, "dsi table", result, partial(shown_tables.show_dsi_table, result)
        )
        numbers = ("DSI as a table", "dsi-table", table)
        cache.figure(shown, "dsi", forest.dsi_chart, ("dsi", "DSI chart"), numbers)


def _draw_groups(shown: Shown) -> None:
    result, lead = shown.result, WORDS[lead_statistic(shown.result)].name
    if named_group(result) is not None:  # a row was chosen: the whole page is redrawn for it
        st.rerun()
    orders: Mapping[RowOrder, str] = {
        "axis": "Axis by axis",
        "effect": f"Largest {lead} effect first",
        "q": f"Smallest {lead} q first",
    }
    reported = reported_statistics(result)
    axes = list(dict.fromkeys(axis_label(row.group.axes) for row in result.groups))
    first, second, third, last = st.columns([1, 1, 1, 2])
    order = ui.pick("Order of the groups", orders, place=first, key="order", **_PER_PAGE)
    of_axes = second.multiselect("Axes", axes, placeholder="All axes", key="table-axes", **_PER_PAGE)
    marked = third.selectbox("Significance", list(_MARKED), key="table-marked", **_PER_PAGE)
    named = {"format_func": lambda name: WORDS[name].name, "key": "table-statistics", **_PER_PAGE}
    columns = last.multiselect("Statistics in the table", reported, default=reported, **named)
    table, histograms = st.columns([3, 2], gap="medium")
    with table:
        st.header("Table of groups")
        statistics = [name for name in reported if name in columns]
        if statistics:
            p = st.toggle("Show intervals, p and q", key="table-p", **_PER_PAGE)
            looks = {
                "alt": "Every group's statistics, with arrows and stars",
                "name": "groups",
                "p": p,
                "on_row": open_group,
            }
            rows = {"axes": of_axes, "marked": _MARKED[marked]}
            missing = shown_tables.groups_table(shown.key, result, statistics, order, **rows, **looks)
            if missing is None:
                st.info("No group passes these filters.")
            else:
                for line in (_OPENS, marks_legend(result), *missing):
                    ui.caption(line)
        else:
            st.info("Choose at least one statistic.")
    with histograms:
        st.header("One statistic in every group")
        _show_null_histograms(shown, order)
    st.header("Agreement inside and across groups")
    pair = [name for name in (*result.spec.analysis.gai, "gai") if name in reported]
    looks = {"alt": "In-group and cross-group agreement by group", "name": "cohesion", "on_row": open_group}
    cohesion = partial(shown_tables.groups_table, shown.key, result, pair, **looks)
    numbers = ("Cohesion map as a table", "cohesion-table", cohesion)
    files, few = ("cohesion-map", "cohesion map"), partial(_say_not_drawn, result.groups)
    cache.figure(shown, "cohesion", cohesion_map, files, numbers, between=few)


_GROUP = "group"
"""Name of the group in the address."""
_LIST = "list-of-groups"


def named_group(result: RunResult) -> str | None:
    """Return the group that the address names, if the result has it."""
    asked: str | None = st.query_params.get(_GROUP)
    return asked if asked in named_groups(result) else None


def open_group(name: str | None) -> None:
    """Open a group's view, or return to all groups; a callback."""
    ui.put_in_address(_GROUP, name)


def choose_group(result: RunResult) -> None:
    """Draw a list of all groups that opens the chosen one, or returns to all."""
    ui.follow_address(_LIST, named_group(result))
    label, names = "Look at one group", list(named_groups(result))
    looks = {"placeholder": label, "label_visibility": "collapsed", "key": _LIST}
    st.selectbox(label, names, None, on_change=lambda: open_group(st.session_state[_LIST]), **looks)


def show_group(shown: Shown, name: str) -> None:
    """Draw a group's verdict, items that show it, its label use, then each statistic against chance."""
    row, result = named_groups(shown.result)[name], shown.result
    st.set_page_config(page_title=f"{name} · {shown.title} · GRASP")
    st.header(escape_markdown(name))
    sizes = number(row.n_raters, "rater"), number(row.n_annotations, "annotation")
    st.markdown(escape_markdown(" · ".join([axis_label(row.group.axes), *sizes])))
    if row.least_p is not None:
        least = least_of(row.least_p, result.spec.analysis)
        st.caption(f"So few regroupings are left of it that {least}.")
    verdict = None if result.provisional else verdict_sentence(row, result)
    if verdict is not None:
        st.markdown(verdict.markdown)
    if has_items(shown):
        show_some_items(shown, row, name)
    if row.label_use is not None:
        _show_label_use(shown, row, row.label_use, name)
    st.header("Against chance")
    cache.figure(
        shown,
        f"histograms of {name}",
        lambda drawn, theme: group_histograms(drawn, named_groups(drawn)[name], theme),
        (f"group-{safe_name(name)}", "histograms of this group"),
        ("Every statistic as a table", "group-table", partial(_statistics_table, result, row)),
    )
    if not result.provisional:
        _say_marked(result, row, name)
    if any(row.group in (pair.a, pair.b) for pair in result.pairs):
        st.header("Beside each other group")
        show_pairs(shown, row.group)
    if has_rater_map(shown):
        st.header("On the map of raters")
        show_rater_map(shown, row.group)
    if any(row.group in slices.sliced_groups(result, found) for found in result.slices):
        st.header("On the items of each value")
        show_slices(shown, row.group)


def _say_marked(result: RunResult, row: GroupResult, name: str) -> None:
    found = [doubted(one, result) for one in evidence(row, name)]
    marked = [one for key in ("corrected", "nominal") for one in found if one.outcome.significance == key]
    if marked:
        st.caption("Single statistics, each corrected by itself:")
    ui.bullets(finding.tested_sentence for finding in marked)
    if not marked and (row.verdict is None or row.verdict.why is None):
        st.markdown(
            "Nothing of this group is marked: random groupings of its size reach as far. That does not "
            "show that it sees the items as everybody does."
        )


def _show_label_use(shown: Shown, row: GroupResult, use: LabelUse, name: str) -> None:
    st.header("Label use")

    def explain() -> None:
        st.caption("Coloured: a label in which the group differs. Bar: 95 % interval.")
        mean = "" if shown.result.provisional else mean_words(use, shown.result)
        if mean:
            st.markdown(escape_markdown(mean))

    def table() -> None:
        labels = labels_in_numbers(replace(shown.result, groups=(row,)))
        labels = labels[["Label", "Points", INTERVAL, P_BOTH]]
        points = [shift.value for shift in use.labels.values()]  # numbers, so that a click sorts them
        labels["Points"] = [None if one is None else round(100 * one, 1) for one in points]
        ui.show_table(labels, "How much more often the group gives each label")
        st.caption(P_BOTH_MEANING)

    cache.figure(
        shown,
        f"label use of {name}",
        lambda drawn, theme: forest.label_use_chart(drawn, named_groups(drawn)[name], theme),
        (f"label-use-{safe_name(name)}", "label use of this group"),
        ("Label use as a table", "group-labels", table),
        between=explain,
    )


def _statistics_table(result: RunResult, row: GroupResult) -> None:
    rows = []
    for name in reported_statistics(result):
        outcome = words.shown_outcome(row, name)
        p, q = words.p_and_q_cells(outcome, result)
        known = {"95 % interval": words.format_interval(outcome.interval), "p": p, "q": q}
        why = str(outcome.reason or outcome.no_fit or "")
        rows.append({"Statistic": WORDS[name].name, "Value": cell_text(outcome), **known, "Why not": why})
    ui.show_table(pd.DataFrame(rows), "Every statistic of the group with p and q")


def show_pairs(shown: Shown, group: Group | None = None) -> None:
    """Draw differences of pairs: a matrix of an axis, or the pairs of `group`; then one pair in detail."""
    result = shown.result
    st.caption(pairs.PAIRS_EXPLANATION)
    if result.later is None and group is None:
        ui.bullets(pairs.most_told(result, pairs.PAIRS_SAID))
    elif result.later is None:
        found = pairs.foremost_pairs(result, group)[: pairs.PAIRS_SAID]
        ui.bullets(pairs.pair_sentences(row, result)[0] for row in found)
    rows = result.pairs if group is None else pairs.seen_from(result, group)
    chosen = rows[pairs.strongest(rows)].a.axes if group is None else group.axes
    left, right = st.columns(2)
    if group is None:
        axes = {row.a.axes: axis_label(row.a.axes) for row in result.pairs}
        first = list(axes).index(chosen)
        chosen = ui.pick("Axis of the pairs", axes, place=left, index=first, key="pairs-axis")
    of_axis = [row for row in rows if row.a.axes == chosen]
    if len(of_axis) > 1:  # of one pair, all measures stand below
        _by_measure(shown, group, rows, chosen, right)
    _one_pair(shown, of_axis)


def _by_measure(
    shown: Shown,
    group: Group | None,
    rows: Sequence[PairResult],
    axes: tuple[str, ...],
    place: DeltaGenerator,
) -> None:
    """Draw one measure of an axis's pairs as a matrix, or of the pairs of `group` as a table."""
    result = shown.result
    told, first = pairs.measures(result), pairs.told_first(rows[pairs.strongest(rows)])
    names = {key: one.name for key, one in told.items()}
    index = list(told).index(first) if first in told else 0
    measure = told[ui.pick("Compare by", names, place=place, index=index, key="pairs-measure")]
    explained = measure.explanation
    if group is None:
        ui.caption(explained)
        _matrix(shown, axes, measure)
        return
    explained = explained.replace("the row’s raters", "this group’s raters")
    ui.caption(explained.replace("the column’s", "the other group’s"))
    beside = f"{measure.name}, this group beside each other one"
    table = pairs_in_numbers(result, rows, measure).drop(columns=["Axis", "First", "Measure"])
    ui.show_table(table.rename(columns={"Second": "Beside", "Value": measure.name}), beside)


def _matrix(shown: Shown, axes: tuple[str, ...], measure: pairs.Measure) -> None:
    result, of_every, later = shown.result, f"{measure.name} of every pair", shown.result.later is not None

    def table() -> None:
        rows = [row for row in result.pairs if row.a.axes == axes]
        table = pairs_in_numbers(result, rows, measure).drop(columns=["Axis", "Measure"])
        ui.show_table(table.rename(columns={"Value": measure.name}), f"{of_every} of groups")

    cache.figure(
        shown,
        f"pairs {axes} {measure.key}",
        lambda result, theme: pairs_matrix(result, axes, measure, theme),
        None if later else ("pairs", "matrix of pairs"),
        (f"{of_every} as a table", "pairs-table", table),
        between=partial(_say_not_drawn, [row for row in result.groups if row.group.axes == axes]),
        of=result,
        fresh=later,
    )


def _one_pair(shown: Shown, rows: Sequence[PairResult]) -> None:
    result = shown.result
    st.subheader("One pair" if len(rows) > 1 else escape_markdown(_pair_name(rows[0])))
    names = dict(enumerate(map(_pair_name, rows)))
    key = f"pairs-pair-{axis_label(rows[0].a.axes)}"
    place = 0 if len(rows) == 1 else ui.pick("Pair of groups", names, index=pairs.strongest(rows), key=key)
    row = rows[place]

    def chart(result: RunResult, theme: Theme) -> alt.LayerChart:
        return pair_histograms(result, row, theme)

    if result.later is None:
        ui.bullets(pairs.pair_sentences(row, result))
        cache.chart(shown.key, f"pair {row.a} {row.b}", result, chart)
    table = pairs_in_numbers(result, [row]).drop(columns=["Axis", "First", "Second"])
    ui.show_table(table, "Everything that was tested of this pair")


def _pair_name(row: PairResult) -> str:
    return f"{group_label(row.a)} – {group_label(row.b)}"


def show_slices(shown: Shown, group: Group | None = None) -> None:
    """Draw which slices differ, then one group in all of them; with `group` that group alone."""
    result = shown.result
    found = result.slices[0]
    if len(result.slices) > 1:
        columns = {at: escape_markdown(one_line(one.column)) for at, one in enumerate(result.slices)}
        found = result.slices[ui.switch("Sliced by", columns, key="slices-column")]
    ui.bullets(slices.slice_sentences(result, found, group))
    told = slices.first_test(result, found, group)
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
    what = ui.pick("What is compared", options, index=place, key=f"slices-measure-{found.column}-{group}")
    said = "q of slices is over all groups and values of the column; that of all items is the run's own."
    cache.figure(
        shown,
        f"slices {found.column} {chosen} {what}",
        lambda drawn, theme: forest.slices_chart(drawn, found.column, chosen, what, theme),
        ("slices", "chart of these slices"),
        ("Slices as a table", "slices-table", partial(_slices_table, result, found, chosen, what)),
        between=partial(st.caption, said),
        fresh=result.later is not None,
    )


def _choose_group(result: RunResult, found: SlicesResult, told: slices.SliceTest | None) -> Group | None:
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
        frame = results_table(view, order="axis", of=words.shown_outcome).reset_index(drop=True)
        theme, permutations = ui.page_theme(), result.permutations
        shown_tables.show_groups_table(frame, [name], theme, permutations, p=True, alt=alt_text)
        return
    table = labels_in_numbers(view).rename(columns={"Group": "Items"})
    shown = table[table["Label"] == one_line(name)].drop(columns=["Axis", "Label"])
    ui.show_table(shown, alt_text, height="content")


def has_given(shown: Shown) -> bool:
    """Return whether the run tests axes given another, or has axes that are associated."""
    result = shown.result
    if result.provisional or result.later is not None:
        return bool(result.given)
    return bool(result.given or slices.not_yet_given(result))


def show_given(shown: Shown) -> None:
    """Draw the results given each axis, and a button that tests associated axes given each other."""
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
