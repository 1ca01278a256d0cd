"""Choices that the address alone decides, so that it can be handed on and the browser's way back works.

Streamlit's own binding of a widget to the address replaces the entry that the way back would lead to, and
drops what is bound while its widget is not shown.
"""

from __future__ import annotations

import streamlit as st


def put_in_address(name: str, value: str | None) -> None:
    """Say this under a name of the address, or nothing; for callbacks."""
    if value is not None:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def follow_address(key: str, value: str | None) -> None:
    """Let the widget with this key, which is drawn next, show what the address says."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
