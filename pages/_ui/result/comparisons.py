"""Groups beside others: two by two, on the items of each value of a column, and given another axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import LabelUse, PairResult
from grasp_core.model.result import Association, RunResult, SlicesResult
from grasp_core.model.text import Sentence, escape_markdown
from grasp_core.report import charts
from grasp_core.report.findings.mending import given_too
from grasp_core.report.in_numbers import measure_table, pair_table
from grasp_core.report.pairs import (
    PAIRS_EXPLANATION,
    PAIRS_SAID,
    Measure,
    foremost_pairs,
    measures,
    most_told,
    pair_sentences,
    seen_from,
    strongest,
    told_first,
)
from grasp_core.report.slices import (
    GIVEN_EXPLANATION,
    Found,
    association_sentence,
    by_value,
    given_sentences,
    given_table,
    not_yet_given,
    slice_sentences,
    sliced_groups,
)
from grasp_core.report.slices import told_first as foremost_slice
from grasp_core.report.tables import ALL_LABELS, label_use_table
from grasp_core.report.words.label_use import format_points
from grasp_core.report.words.names import WORDS, format_p_value, lead_statistic, reported_statistics
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.outputs import page_theme, save_figure
from pages._ui.helpers.widgets import Shown, show_table, when_open
from pages._ui.one_run import ask_again
from pages._ui.result import cache
from pages._ui.result.tables import show_groups_table, table_of_groups


def has_pairs(result: RunResult) -> bool:
    """Whether pairs were part of this run."""
    return bool(result.pairs)


def show_pairs(shown: Shown, group: Group | None = None) -> None:
    """What pairs differ in: a matrix for each axis, or with `group` its own pairs, and one pair in detail."""
    result = shown.result
    st.caption(PAIRS_EXPLANATION)
    for sentence in _said(result, group):
        st.markdown(f"- {sentence.markdown}")
    rows = result.pairs if group is None else seen_from(result, group)
    strong = rows[strongest(rows)]
    chosen = strong.a.axes if group is None else group.axes
    axes = list(dict.fromkeys(row.a.axes for row in result.pairs))
    left, right = st.columns(2)
    if group is None:
        chosen = left.selectbox(
            "Axis of the pairs", axes, index=axes.index(chosen), format_func=axis_label, key="pairs-axis"
        )
    told, first = measures(result), told_first(strong)
    measure = told[
        right.selectbox(
            "Compare by",
            list(told),
            index=list(told).index(first) if first in told else 0,
            format_func=lambda key: told[key].name,
            key="pairs-measure",
        )
    ]
    if group is None:
        st.caption(escape_markdown(measure.explanation))
        _matrix(shown, chosen, measure)
    else:
        st.caption(
            escape_markdown(
                measure.explanation.replace("the row’s raters", "this group’s raters").replace(
                    "the column’s", "the other group’s"
                )
            )
        )
        beside = f"{measure.name}, this group beside each other one"
        show_table(measure_table(result, measure, group=group), beside)
    _one_pair(shown, [row for row in rows if row.a.axes == chosen])


def _said(result: RunResult, group: Group | None) -> Sequence[Sentence]:
    if result.later is not None:
        return ()
    if group is None:
        return most_told(result, PAIRS_SAID)
    found = foremost_pairs(result, group)[:PAIRS_SAID]
    return [pair_sentences(row, result)[0] for row in found]


def _matrix(shown: Shown, axes: tuple[str, ...], measure: Measure) -> None:
    result = shown.result
    cache.chart(
        shown.key,
        f"pairs {axes} {measure.key}",
        result,
        lambda result, theme: charts.pairs_matrix(result, axes, measure, theme),
        fresh=result.later is not None,
    )
    when_open(
        f"{measure.name} of every pair as a table",
        lambda: show_table(
            measure_table(result, measure, axes=axes), f"{measure.name} of every pair of groups"
        ),
        key="pairs-table",
    )
    if result.later is None:
        save_figure(
            shown, lambda: charts.pairs_matrix(result, axes, measure, "light"), "pairs", "matrix of pairs"
        )


def _one_pair(shown: Shown, rows: Sequence[PairResult]) -> None:
    """One pair in detail, the strongest first."""
    result = shown.result
    st.subheader("One pair")
    row = rows[
        st.selectbox(
            "Pair of groups",
            range(len(rows)),
            index=strongest(rows),
            format_func=lambda place: f"{group_label(rows[place].a)} – {group_label(rows[place].b)}",
            key=f"pairs-pair-{axis_label(rows[0].a.axes)}",
        )
    ]
    if result.later is None:
        for sentence in pair_sentences(row, result):
            st.markdown(f"- {sentence.markdown}")
        cache.chart(
            shown.key,
            f"pair {row.a} {row.b}",
            result,
            lambda result, theme: charts.pair_histograms(result, row, theme),
        )
    show_table(pair_table(result, row), "Everything that was tested of this pair")


def has_slices(result: RunResult) -> bool:
    """Whether slices were part of this run."""
    return bool(result.slices)


def is_sliced(result: RunResult, group: Group) -> bool:
    """Whether the group is in some slice."""
    return any(group in sliced_groups(result, found) for found in result.slices)


def show_slices(shown: Shown, group: Group | None = None) -> None:
    """What stands out in which slice, then one group in all of them; with `group` that group alone."""
    result = shown.result
    found = _choose_column(result)
    if found is None:
        return
    for sentence in slice_sentences(result, found, group):
        st.markdown(f"- {sentence.markdown}")
    told = foremost_slice(result, found, group)
    chosen = _choose_group(result, found, told) if group is None else group
    if chosen is None or chosen not in sliced_groups(result, found):
        return
    key = f"slices-measure-{found.column}-{group}"
    labels = list(
        dict.fromkeys(name for row in result.groups if row.label_use for name in row.label_use.labels)
    )
    options = [*((name, False) for name in reported_statistics(result)), *((name, True) for name in labels)]
    first = (lead_statistic(result), False) if told is None else _measure(told)
    what = st.selectbox(
        "What is compared",
        options,
        index=options.index(first) if first in options else 0,
        format_func=lambda one: f"says “{one_line(one[0])}”" if one[1] else WORDS[one[0]].name,
        key=key,
    )
    cache.chart(
        shown.key,
        f"slices {found.column} {chosen} {what}",
        shown.drawn,
        lambda drawn, theme: charts.slices_chart(drawn, found.column, chosen, what, theme),
        fresh=result.later is not None,
    )
    st.caption("q of slices is over all groups and values of the column; that of all items is the run's own.")
    when_open("Slices as a table", partial(_slices_table, result, found, chosen, what), key="slices-table")
    save_figure(
        shown,
        lambda: charts.slices_chart(result, found.column, chosen, what, "light"),
        "slices",
        "chart of these slices",
    )


def _choose_column(result: RunResult) -> SlicesResult | None:
    """The column whose slices are shown; there is no choice of one."""
    if len(result.slices) < 2:
        return next(iter(result.slices), None)
    columns = [found.column for found in result.slices]
    chosen = st.segmented_control(
        "Sliced by",
        range(len(columns)),
        default=0,
        required=True,
        format_func=lambda place: escape_markdown(one_line(columns[place])),
        key="slices-column",
    )
    return result.slices[chosen]


def _choose_group(result: RunResult, found: SlicesResult, told: Found | None) -> Group | None:
    """One of the groups; at first the one that is told of first."""
    groups = sliced_groups(result, found)
    if not groups:
        return None
    names = group_labels(groups)
    return st.selectbox(
        "Group",
        groups,
        index=0 if told is None else groups.index(told.row.group),
        format_func=lambda group: f"{names[groups.index(group)]} ({axis_label(group.axes)})",
        key=f"slices-group-{found.column}",
    )


def _measure(told: Found) -> tuple[str, bool]:
    if isinstance(told.test, LabelUse):
        return told.test.most or "", True
    return told.statistic, False


def _slices_table(result: RunResult, found: SlicesResult, group: Group, what: tuple[str, bool]) -> None:
    name, is_label = what
    view = by_value(result, found, group)
    alt_text = f"{group_label(group)} on the items of each value"
    if not is_label:
        frame = table_of_groups(view, order="axis", statistics=[name])
        show_groups_table(frame, [name], page_theme(), result.permutations, p=True, alt=alt_text)
        return
    table = label_use_table(view)
    shown = table[table["label"] == name][["group", "raters", "shift", "low", "high", "p"]]
    shown["q"] = table[table["label"] == ALL_LABELS]["q"].to_numpy()  # of the same groups
    points = {head: shown[head].map(format_points) for head in ("shift", "low", "high")}
    tests = {
        head: shown[head].map(partial(format_p_value, permutations=result.permutations))
        for head in ("p", "q")
    }
    heads = {"group": "Items", "raters": "Raters", "shift": "Points", "low": "From", "high": "To"}
    show_table(
        shown.assign(**points, **tests).rename(columns={**heads, "q": "q of all labels"}),
        alt_text,
        height="content",
    )


def has_given(shown: Shown) -> bool:
    """Whether something was asked given an axis, or some of the run's axes go together."""
    result = shown.result
    if result.provisional or result.later is not None:
        return bool(result.given)
    return bool(result.given or not_yet_given(result))


def show_given(shown: Shown) -> None:
    """What was found given each axis; a click asks it of axes that go together."""
    result = shown.result
    for sentence in given_sentences(result):
        st.markdown(f"- {sentence.markdown}")
    for found in result.given:
        name = escape_markdown(axis_label((found.column,)))
        st.subheader(f"Given {name}")
        st.dataframe(given_table(result, found), hide_index=True, width="stretch")
    st.caption(GIVEN_EXPLANATION)
    may_ask = shown.run is not None and not shown.stranger and result.later is None
    for place, one in enumerate(not_yet_given(result)):
        st.markdown(association_sentence(one).markdown)
        if may_ask and shown.run is not None:
            _offer_given(shown.run, one, place)


def _offer_given(run: RunRecord, one: Association, place: int) -> None:
    label = f"Test {axis_label((one.first,))} given {axis_label((one.second,))}, and the other way round"
    if not st.button(escape_markdown(label), icon=":material/call_split:", key=f"ask-given-{place}"):
        return
    ask_again(run, given_too(run.spec, (one.first, one.second)))
