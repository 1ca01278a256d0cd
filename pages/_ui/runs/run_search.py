"""Which of the saved runs are listed."""

from __future__ import annotations

import streamlit as st

from grasp_core.store.runs import RunRecord
from pages._ui.session.projects import here

_MOST = 200
"""Runs that are found at one time."""


def find_runs() -> list[RunRecord]:
    """Widgets for words and tag, and what they find, latest first."""
    left, right = st.columns([2, 1])
    text = left.text_input(
        "Search",
        key="runs-text",
        persist_state="session",
        icon=":material/search:",
        placeholder="Part of a title, note, tag or owner",
    )
    tags = here().runs.known_tags()
    if st.session_state.get("runs-tag") not in tags:  # its last run was deleted or tagged anew
        st.session_state.pop("runs-tag", None)
    tag = None
    if tags:
        tag = right.selectbox(
            "Tag", tags, index=None, key="runs-tag", persist_state="session", placeholder="All"
        )
    found = here().runs.search(text.strip(), tag=tag, limit=_MOST)
    if len(found) == _MOST:
        st.caption(f"The latest {_MOST} are listed; search to find older ones.")
    if not found:
        st.info("No run is like that." if text or tag else "No run has been saved yet.")
    return found
