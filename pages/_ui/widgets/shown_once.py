"""What opens something, shown once after it was made: a token, a link."""

from __future__ import annotations

import time

import streamlit as st

_DOUBLE_CLICK_S = 1.0


def just_made(key: str) -> bool:
    """Whether one was made this very moment: the second click of a double one makes no other."""
    made_at, _ = st.session_state.get(key, (-_DOUBLE_CLICK_S, ""))
    return time.monotonic() - made_at < _DOUBLE_CLICK_S


def keep_made(key: str, text: str) -> None:
    """Keep what was just made until it is forgotten, or another one takes its place."""
    st.session_state[key] = time.monotonic(), text


def show_made(key: str, what: str) -> None:
    """Show what was made, if there is some, to be copied; `what` it is, in a word."""
    if key in st.session_state:
        st.success(f"Copy the {what} now: nobody can see it again.", icon=":material/check_circle:")
        st.code(st.session_state[key][1], language=None, wrap_lines=True)
