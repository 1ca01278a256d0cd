"""The end of a dialog that asks before something is deleted."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def confirm(
    do: Callable[..., None], *args: object, yes: str = "Delete for good", no: str = "Keep it"
) -> None:
    """The button that does it and the one that does not; either closes the dialog.

    Parameters
    ----------
    do : callable
        Called with `args` where the first is pressed; asks whether the person may.
    """
    with st.container(horizontal=True):
        if st.button(yes, type="primary", icon=":material/delete:", on_click=do, args=args):
            st.rerun()
        if st.button(no):
            st.rerun()
