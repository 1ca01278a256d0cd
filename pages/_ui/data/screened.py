"""Screens on the Data page: raters whom the checks of quality mean, left out and taken back in."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from grasp_core.data_spec import DataSpec, Screen
from grasp_core.report.words.reading import SCREENS
from pages._ui.session.state import work


def choose_screens(start: tuple[Screen, ...]) -> tuple[Screen, ...]:
    """The screens whose raters are left out."""
    chosen = st.multiselect(
        "Leave out by what labels show",
        list(SCREENS),
        default=list(start),
        format_func=lambda screen: SCREENS[screen].capitalize(),
        placeholder="Nobody is left out",
        help="Looked for in what is left after everything else; see Quality below.",
        key=_key(),
        persist_state="session",
    )
    return tuple(chosen)


def offer_leaving_out(found: Mapping[Screen, int], reading: DataSpec | None) -> None:
    """Buttons that leave out whom screens have found, and that take them back in."""
    chosen = () if reading is None else reading.screens
    named = tuple(screen for screen in SCREENS if found.get(screen) and screen not in chosen)
    if named:
        st.button(
            "Leave these raters out",
            icon=":material/person_remove:",
            on_click=_choose,
            args=((*chosen, *named),),
            help="All whom the checks above name; of two who agree too closely one stays. Who is left out is "
            "counted, above and in every result.",
        )
    if chosen:
        st.caption(f"Left out: {'; '.join(SCREENS[screen] for screen in chosen)}.")
        st.button("Take them back in", icon=":material/undo:", on_click=_choose, args=((),))


def _choose(screens: tuple[Screen, ...]) -> None:
    st.session_state[_key()] = list(screens)


def _key() -> str:
    return work().key("screens")
