"""A first look at the files, and what was understood of them."""

from __future__ import annotations

import streamlit as st

from grasp_core.io.dataset import describe
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.table.table import Table
from grasp_core.report.words.names import axis_label, one_line
from grasp_core.report.words.text import escape_markdown
from grasp_core.wording import first_few, number
from pages._ui.widgets.sections import when_open

_PREVIEW_ROWS = 20
_PREVIEW_CHARACTERS = 1000
_LABELS_SHOWN, _NAMES_SHOWN = 6, 8


def show_preview(annotations: Table, raters: Table | None, items: Table | None) -> None:
    """The first rows of each file, as text, as read but for the ends of long texts."""

    def show() -> None:
        for table in filter(None, (annotations, raters, items)):
            st.caption(escape_markdown(table.name))
            _first_rows(table)

    when_open("First rows of the files", show, key="preview")


def _first_rows(table: Table) -> None:
    rows = table.head(_PREVIEW_ROWS).map(lambda text: text[:_PREVIEW_CHARACTERS])
    st.dataframe(rows, hide_index=True, alt=f"First rows of {table.name}")


def say_what_was_understood(dataset: Dataset) -> None:
    """The data in one sentence, their labels, and what is known of raters and items."""
    data = dataset.summary
    st.title(
        f"{data.annotations:,} answers to {number(data.items, 'item')} by {number(data.raters, 'rater')}"
    )
    labels = describe.labels(dataset).itertuples()
    shown = " · ".join(
        f"**{escape_markdown(one_line(str(one.label)))}** {one.annotations:,}"
        for one in list(labels)[:_LABELS_SHOWN]
    )
    more = len(data.categories) - _LABELS_SHOWN
    st.markdown(f"Labels: {shown}{f' and {more:,} more' if more > 0 else ''}. {_known(dataset)}")


def _known(dataset: Dataset) -> str:
    axes = [axis_label((name,)) for name in dataset.raters.axes]
    known = first_few(axes, _NAMES_SHOWN)
    said = f"Known of each rater: {known}." if axes else "Nothing is known of the raters."
    if dataset.attributes:
        said += f" Known of each item: {first_few(list(dataset.attributes), _NAMES_SHOWN)}."
    return escape_markdown(said)


def account_title(dataset: Dataset) -> str:
    """What was read, in a few words."""
    account = dataset.summary.account
    if account is None:
        return "What was left out"
    gone = sum(one.count for one in account.left_out)
    return f"Everything read: {number(account.read, account.unit)}, {gone:,} left out"


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
