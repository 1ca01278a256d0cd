"""Given another axis: what still holds with profiles shuffled within its values; asked with one click."""

from __future__ import annotations

import streamlit as st

from grasp_core.model.groups import axis_label
from grasp_core.model.result import Association
from grasp_core.model.text import escape_markdown
from grasp_core.report.findings.mending import given_too
from grasp_core.report.given import (
    GIVEN_EXPLANATION,
    association_sentence,
    given_sentences,
    given_table,
    not_yet_given,
)
from grasp_core.store.runs import RunRecord
from pages._ui.shell.ask_again import ask_again
from pages._ui.widgets.shown import Shown


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
            _offer(shown.run, one, place)


def _offer(run: RunRecord, one: Association, place: int) -> None:
    label = f"Test {axis_label((one.first,))} given {axis_label((one.second,))}, and the other way round"
    if not st.button(escape_markdown(label), icon=":material/call_split:", key=f"ask-given-{place}"):
        return
    ask_again(run, given_too(run.spec, (one.first, one.second)))
