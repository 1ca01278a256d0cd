"""How well all raters agree: by label, by rater, by batch; the result of a run without axes."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from grasp_core.report.everybody import (
    NO_GROUPS,
    agreement_advice,
    batch_table,
    in_one_line,
    label_table,
    over_batches,
    rater_table,
    who_differs,
)
from grasp_core.report.words.text import Sentence
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.shell import page_style
from pages._ui.shell.links import link_to
from pages._ui.widgets.shown import Shown


def show_agreement(shown: Shown) -> None:
    """Labels by how often another rater gives them too, and beside them who differs and what to do."""
    found = shown.result.everybody
    if found is None:
        return
    chart, side = st.columns([2, 1], gap="large")
    with chart:
        if found.labels:
            cache.agreement_chart(shown.key, shown.result, page_theme())
        st.caption(in_one_line(shown.result))
    with side, st.container(key=page_style.BESIDE):
        _section("Who differs", [who_differs(found)])
        _section("Over batches and topics", over_batches(found))
        _section("What to do", [agreement_advice(found)])
        st.header("Do groups of raters differ?")
        st.markdown(NO_GROUPS)
        if not shown.stranger:
            link_to("data", "Add raters")
    with st.expander("These figures as tables"):
        if found.labels:
            _table(label_table(found), "How often another rater says the same, by label")
        if found.batches:
            _table(batch_table(found), "Agreement by batch")


def show_raters_agreement(shown: Shown) -> None:
    """A row a rater, least agreement first; nobody is named."""
    found = shown.result.everybody
    if found is None or not found.raters:
        st.info("Raters are not listed here: there are too many, or this is a shared result.")
        return
    _section(None, [who_differs(found)])
    _table(rater_table(found), "Raters by how often they answer as another did")
    st.caption(
        "Share of the others’ answers on the same items that are the same. No result names a rater; whoever "
        "has the files sees on Data, under “Quality of the ratings”, which raters stand out."
    )


def _section(heading: str | None, said: Sequence[Sentence | None]) -> None:
    known = [one for one in said if one is not None]
    if known:
        if heading is not None:
            st.header(heading)
        st.markdown(" ".join(one.markdown for one in known))


def _table(frame: pd.DataFrame, alt: str) -> None:
    st.dataframe(frame, hide_index=True, height="content", alt=alt)
