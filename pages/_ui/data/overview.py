"""A first look at the files, and what was understood of them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from grasp_core.io.dataset import describe
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.table.table import Table
from grasp_core.report.words.names import axis_label
from grasp_core.report.words.text import escape_markdown
from grasp_core.wording import number
from pages._ui.widgets.sections import when_open

_PREVIEW_ROWS = 20
_PREVIEW_CHARACTERS = 1000


def show_preview(annotations: Table, raters: Table | None, items: Table | None) -> None:
    """The first rows of each file, as text, as read but for the ends of long texts."""
    for name, table in (("annotations", annotations), ("raters", raters), ("items", items)):
        if table is not None:
            when_open(f"Preview of the {name} file", partial(_first_rows, table), key=f"preview-{name}")


def _first_rows(table: Table) -> None:
    rows = table.head(_PREVIEW_ROWS).map(lambda text: text[:_PREVIEW_CHARACTERS])
    st.dataframe(rows, hide_index=True, alt="First rows of the file")


def show_overview(dataset: Dataset, proposed: tuple[str, ...]) -> None:
    """Counts, labels, and raters by axis and by two axes (the paper's Tables 1 to 3)."""
    data = dataset.summary
    low, median, high = data.raters_per_item
    facts = {
        "Items": f"{data.items:,}",
        "Raters": f"{data.raters:,}",
        "Annotations": f"{data.annotations:,}",
        "Raters per item": f"{median:,g}" if low == high else f"{low:,} to {high:,} (median {median:,g})",
    }
    for place, (label, value) in zip(st.columns(len(facts)), facts.items(), strict=True):
        place.metric(label, value)
    if dataset.attributes:
        known = (f"{name} ({number(len(one.values), 'value')})" for name, one in dataset.attributes.items())
        st.caption(escape_markdown(f"Columns that describe items, for slices: {', '.join(known)}."))
    left, right = st.columns([1, 2])
    with left:
        st.subheader("Labels")
        labels = describe.labels(dataset)
        st.dataframe(
            labels.assign(share=100 * labels["share"]),
            hide_index=True,
            column_config={
                "label": "Label",
                "annotations": st.column_config.NumberColumn("Annotations", format="localized"),
                "share": st.column_config.NumberColumn("Share", format="%.1f%%"),
            },
            alt="Annotations per label",
        )
    with right:
        st.subheader("Raters by axis")
        _cross_table(dataset, proposed)


def _cross_table(dataset: Dataset, proposed: tuple[str, ...]) -> None:
    names = list(dataset.raters.axes)
    if not names:
        st.info(
            "No column describes the raters: every axis needs one value per rater. Add a raters file, or "
            "columns such as gender and age to this one."
        )
        return
    first = [name for name in proposed if name in names] or names
    rows, columns = st.columns(2)
    down = rows.selectbox(
        "Rows", names, index=names.index(first[0]), format_func=lambda name: axis_label((name,))
    )
    others = [name for name in names if name != down]
    second = next((name for name in first if name != down), None)
    across = columns.selectbox(
        "Columns",
        [None, *others],
        index=[None, *others].index(second),
        format_func=lambda name: "Counts only" if name is None else axis_label((name,)),
    )
    if across is None:
        frame = describe.axis_counts(dataset, down).set_index(down).rename_axis(index=axis_label((down,)))
        frame["share"] = frame["share"].map("{:.1%}".format)
        st.dataframe(frame.rename(columns=str.capitalize), alt=f"Raters by {axis_label((down,))}")
    else:
        frame = describe.cross_table(dataset, down, across).rename_axis(index=axis_label((down,)))
        st.dataframe(frame, alt=f"Raters by {axis_label((down,))} and {axis_label((across,))}")
