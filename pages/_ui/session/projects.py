"""The project that this session works in, and what is stored as far as its person reaches."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.access import EVERYONE, User, only
from grasp_core.server import Stores
from grasp_core.store.runs import RunRecord
from pages._ui.session.identity import current_user

CURRENT = "project"
"""Where the session keeps the project that was chosen."""


def current_project(user: User | None = None) -> str:
    """The project that was chosen, in this visit or the person's last one; else Everyone.

    Parameters
    ----------
    user : User, optional
        By default the person of this session.
    """
    user = current_user() if user is None else user
    if CURRENT not in st.session_state:
        st.session_state[CURRENT] = server.shared().projects.current(user.id) or EVERYONE
    chosen: str = st.session_state[CURRENT]
    return chosen if user.may_see(chosen) else EVERYONE


def here() -> Stores:
    """What is stored, for this session's person: lists are the current project's, and new things go there."""
    user = current_user()
    return server.shared().seen(user.reach(current_project(user)))


def stores_of(run: RunRecord) -> Stores:
    """What is stored in the project of a run that somebody was let see, as a member or by a link."""
    return server.shared().seen(only(run.project))
