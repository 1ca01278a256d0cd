"""The groups of an axis compared with each other two by two."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from grasp_core.model.groups import Group, axis_label, group_label
from grasp_core.model.outcome import PairResult
from grasp_core.model.result import RunResult
from grasp_core.model.text import Sentence, escape_markdown
from grasp_core.report import charts
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
from pages._ui.result import cache
from pages._ui.result.figures import page_theme, save_figure
from pages._ui.widgets.choices import when_open
from pages._ui.widgets.shown import Shown


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
        st.caption(escape_markdown(_of_group(measure)))
        beside = f"{measure.name}, this group beside each other one"
        _table(measure_table(result, measure, group=group), beside)
    _one_pair(shown, [row for row in rows if row.a.axes == chosen])


def _said(result: RunResult, group: Group | None) -> Sequence[Sentence]:
    if result.later is not None:
        return ()
    if group is None:
        return most_told(result, PAIRS_SAID)
    found = foremost_pairs(result, group)[:PAIRS_SAID]
    return [pair_sentences(row, result)[0] for row in found]


def _of_group(measure: Measure) -> str:
    """A measure's explanation where this group is the row."""
    return measure.explanation.replace("the row’s raters", "this group’s raters").replace(
        "the column’s", "the other group’s"
    )


def _matrix(shown: Shown, axes: tuple[str, ...], measure: Measure) -> None:
    result = shown.result
    cache.pairs_matrix(shown.key, result, axes, measure.key, page_theme())
    when_open(
        f"{measure.name} of every pair as a table",
        lambda: _table(measure_table(result, measure, axes=axes), f"{measure.name} of every pair of groups"),
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
        cache.pair_histograms(shown.key, result, row.a, row.b, page_theme())
    _table(pair_table(result, row), "Everything that was tested of this pair")


def _table(frame: pd.DataFrame, alt: str) -> None:
    st.dataframe(frame, hide_index=True, alt=alt)
