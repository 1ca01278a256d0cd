"""The choice of the project that one works in, above every screen, for whoever sees more than one."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.access import EVERYONE
from pages._ui.session.identity import current_user
from pages._ui.session.projects import CURRENT, current_project, here
from pages._ui.session.state import work

_WIDGET = "choose-project"


def choose_project() -> None:
    """Offer the projects that the visitor sees; a new choice lasts, for their next visit too."""
    found = {project.id: project for project in here().projects.all()}
    if current_project() not in found:  # deleted meanwhile
        st.session_state[CURRENT] = EVERYONE
    if len(found) < 2:
        return
    st.session_state[_WIDGET] = current_project()
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.selectbox(
            "Project",
            list(found),
            format_func=lambda one: found[one].name + (" (archived)" if found[one].archived else ""),
            key=_WIDGET,
            on_change=_take,
            width=320,
        )


def _take() -> None:
    work_in(st.session_state[_WIDGET])


def work_in(project: str) -> None:
    """Work in this project from now on; files that are loaded stay in the other one."""
    user = current_user()
    user.reach(project)
    if project == current_project(user):
        return
    st.session_state[CURRENT] = project
    server.shared().projects.choose(user.id, project)
    session = work()
    if session.annotations is not None:
        session.use_files(None, None)
        st.toast("The files that were loaded stay in the other project; bring them here to use them here.")
