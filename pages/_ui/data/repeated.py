"""Items that a rater answers more than once: a choice on the Data page of what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import streamlit as st

from grasp_core.data_spec import DataSpec, Repeated
from grasp_core.errors import Problem
from grasp_core.io.dataset.votes import cell_columns
from grasp_core.io.guess.recognise import Guess
from grasp_core.io.table.table import Table
from pages._ui.session.state import work
from pages._ui.widgets.choices import choose_one

_WORDS = {
    "refuse": "Refuse the file",
    "first": "The first answer counts",
    "last": "The last answer counts",
}


def choose_repeated(table: Table, spec: DataSpec, guess: Guess) -> DataSpec:
    """The spec with what becomes of different labels that one rater gives one item."""
    left, right = st.columns(2)
    options = list(get_args(Repeated))
    with left:
        repeated = st.selectbox(
            "A rater answers an item twice, differently",
            options,
            index=options.index(guess.spec.repeated),
            format_func=_WORDS.__getitem__,
            key=work().key("repeated"),
            persist_state="session",
            help="Equal answers count once. What is left out is shown by group below.",
        )
    if repeated == "refuse":
        return spec
    taken = {spec.item, spec.rater, *spec.labels}
    if spec.layout != "long":
        taken |= set(cell_columns(table, spec)) - {guess.spec.order}
    with right:
        order = choose_one(
            "Time that tells which",
            [name for name in table.columns if name not in taken],
            guess.spec.order,
            key=work().key("order"),
            placeholder="The order of rows",
        )
    return replace(spec, repeated=repeated, order=order)


def offer_repeated(problems: Sequence[Problem]) -> None:
    """Beside the refusal: buttons that let one of the answers count."""
    if not any(problem.field == "repeated" for problem in problems):
        return
    with st.container(horizontal=True):
        for which in ("first", "last"):
            st.button(
                f"Let the {which} answer count",
                key=f"let-{which}",
                on_click=_let,
                args=(which,),
                help="By the order of rows; “Leave out” above can name a column of times.",
            )


def _let(which: str) -> None:
    st.session_state[work().key("repeated")] = which
