"""Label use of all groups: who gives which label more often than the others do to the same items."""

from __future__ import annotations

import streamlit as st

from grasp_core import charts
from grasp_core.report.in_numbers import means_in_numbers
from grasp_core.report.tables.labels import with_label_use
from grasp_core.report.words.names import LABEL_USE_EXPLANATION, MEAN_SHIFT_EXPLANATION
from grasp_core.report.words.text import escape_markdown
from grasp_core.result import RunResult
from pages._ui.result import cache
from pages._ui.result.figures import choose_page, page_theme, save_figure
from pages._ui.result.results_table import show_label_table
from pages._ui.widgets.shown import Shown

_SIDE_BY_SIDE = 8
"""Labels from which they are chosen from a list."""


def has_label_use(result: RunResult) -> bool:
    """Whether it was part of this run: results of earlier versions lack it."""
    return bool(with_label_use(result))


def show_labels(shown: Shown) -> None:
    """Each group's difference in every label, then one label's with intervals."""
    result = shown.result
    st.header("Who says what more often")
    st.caption(LABEL_USE_EXPLANATION)
    show_label_table(result, page_theme())
    st.caption("p and q: of all labels of a group together, by the one that lies furthest from chance.")
    show_means(result)
    st.header("One label in every group")
    label = _choose_label(result)
    page = choose_page(result, "label-page")
    cache.label_forest(shown.key, shown.drawn, label, page_theme(), page)
    save_figure(
        shown, lambda: charts.label_forest_plot(result, label, "light"), "label-use", "chart of this label"
    )


def show_means(result: RunResult) -> None:
    """How far each group's mean is shifted, where labels are ordered or numbers."""
    means = means_in_numbers(result)
    if means.empty or result.provisional:
        return
    st.header("Whose labels lie higher")
    st.caption(f"{MEAN_SHIFT_EXPLANATION} p is of this group alone, not corrected.")
    st.dataframe(means, hide_index=True, height="content", alt="Shift of the mean of every group")


def _choose_label(result: RunResult) -> str:
    """The label that most marked groups differ in, at first."""
    uses = [use for _, use in with_label_use(result)]
    labels = list(dict.fromkeys(label for use in uses for label in use.labels))
    most = [use.most for use in uses if use.significance == "corrected" and use.most is not None]
    first = max(labels, key=lambda label: (most.count(label), -labels.index(label)))
    if len(labels) <= _SIDE_BY_SIDE:
        return str(
            st.segmented_control(
                "Label",
                labels,
                default=first,
                required=True,
                format_func=escape_markdown,
                key="one-label",
                persist_state="page",
            )
        )
    return str(
        st.selectbox("Label", labels, index=labels.index(first), key="one-label", persist_state="page")
    )
