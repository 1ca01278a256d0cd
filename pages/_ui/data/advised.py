"""Raters and annotations that the data mark to be left out: asked about, one by one."""

from __future__ import annotations

import streamlit as st

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.advice import Advice
from grasp_core.io.guess.recognise import Guess
from grasp_core.report.words.text import escape_markdown
from pages._ui.session.state import work

_ROWS = {True: "Leave out", False: "Keep"}
_CELLS = {True: "No answer", False: "A label"}


def answer_advice(spec: DataSpec, guess: Guess) -> DataSpec | None:
    """The spec with what is to go, by somebody's answers; None while one is still to be given."""
    asked = [one for one in guess.advice if _concerns(one, spec, guess)]
    if not asked:
        return spec
    st.subheader("Meant to count?")
    answers = [_answer(place, one) for place, one in enumerate(asked)]
    if None in answers:
        st.error("Something is still to be chosen: whether these are meant to count. Nothing runs before.")
        return None
    for one, leave in zip(asked, answers, strict=True):
        if leave:
            spec = one.taken(spec)
    return spec


def _concerns(one: Advice, spec: DataSpec, guess: Guess) -> bool:
    """Whether the advice still has a sense under the columns that were chosen."""
    if one.field == "missing":
        return spec.labels == guess.spec.labels and not one.followed(spec)
    if spec.layout != guess.spec.layout or one.column in (*spec.ignore, *spec.labels):
        return False
    return one.field != "raters" or spec.layout != "long" or one.column == spec.rater


def _answer(place: int, one: Advice) -> bool | None:
    answers = _CELLS if one.field == "missing" else _ROWS
    return st.radio(
        escape_markdown(f"{one.sentence[0].upper()}{one.sentence[1:]}."),
        list(answers),
        index=None,
        format_func=lambda yes: f"{answers[yes]} (recommended)" if yes and one.recommended else answers[yes],
        horizontal=True,
        key=work().key(f"advice-{place}-{one.column}"),
        persist_state="session",
    )
