"""How well all raters agree: by label, by rater, by batch; the result of a run without axes."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from grasp_core.analysis.everybody import DisputedItem, disputed_items
from grasp_core.model.errors import DataError
from grasp_core.model.groups import one_line
from grasp_core.model.text import Sentence, escape_markdown
from grasp_core.report.everybody import (
    agreement_advice,
    batch_table,
    in_one_line,
    label_table,
    no_groups,
    over_batches,
    rater_table,
    who_differs,
)
from grasp_core.server import server
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.result.items import item_texts
from pages._ui.session.identity import require_run, visitor
from pages._ui.shell import page_style
from pages._ui.shell.links import link_to
from pages._ui.widgets.shown import Shown

_DISPUTED = "disputed-items"


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
        st.markdown(no_groups(shown.result).markdown)
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
        "Of 100 answers, how many another rater of the same item gave too. Raters are numbered in the order "
        "of their ids: no result names one."
    )


def has_disputed(shown: Shown) -> bool:
    """Whether single items can be looked at: not by strangers, for their ids and texts are data."""
    known = shown.run is not None and not shown.stranger and visitor() is not None
    return known and len(shown.result.spec.data.questions) == 1


def show_disputed(shown: Shown) -> None:
    """The items on which raters agree least, or those that one rater alone gave a label."""
    run, found = shown.run, shown.result.everybody
    if run is None or found is None:
        return
    st.header("On which items do they agree least?")
    label = st.selectbox(
        "Items",
        [None, *(one.label for one in found.labels)],
        format_func=lambda name: (
            "On which they agree least" if name is None else f"That one rater only called {one_line(name)}"
        ),
    )
    try:
        require_run(run.project)
        key, kept = (run.id, label), st.session_state.get(_DISPUTED)
        if kept is None or kept[0] != key:
            data = server.shared().service.data_of(run)
            kept = st.session_state[_DISPUTED] = (
                key,
                disputed_items(data.annotations, run.spec.analysis.level, label),
            )
        rows: tuple[DisputedItem, ...] = kept[1]
    except DataError as error:
        st.info(escape_markdown(str(error)))
        return
    answers = [" · ".join(f"{one_line(name)}: {n:,}" for name, n in one.answers) for one in rows]
    frame = {"Item": [one.item for one in rows]}
    texts = item_texts(run, shown.result.spec.data.text)
    if texts is not None:
        frame["Text"] = [texts.get(one.item, "") for one in rows]
    _table(pd.DataFrame(frame | {"Answers": answers}), "Items with the answers that they got")


def _section(heading: str | None, said: Sequence[Sentence | None]) -> None:
    known = [one for one in said if one is not None]
    if known:
        if heading is not None:
            st.header(heading)
        st.markdown(" ".join(one.markdown for one in known))


def _table(frame: pd.DataFrame, alt: str) -> None:
    st.dataframe(frame, hide_index=True, height="content", alt=alt)
