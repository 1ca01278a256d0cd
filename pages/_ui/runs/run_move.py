"""The project of a run: told where it is another one than the visitor works in, and changed."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.errors import GraspError
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.session.identity import current_user
from pages._ui.session.permissions import require_lead
from pages._ui.session.projects import current_project, here

_TO, _PROBLEM = "move-to", "move-problem"


def say_whose(run: RunRecord) -> None:
    """In which project a run is, where that is not the one that the visitor works in."""
    if run.project == current_project():
        return
    project = here().projects.get(run.project)
    if project is not None:
        st.caption(f":material/folder_shared: In the project {escape_markdown(project.name)}")


def move(run: RunRecord) -> None:
    """The button that asks where to; for those who own the run's project and another one."""
    user = current_user()
    if not (run.ended and user.may_lead(run.project)):
        return
    names = {
        project.id: project.name
        for project in here().projects.all()
        if project.id != run.project and not project.archived and user.may_lead(project.id)
    }
    if names and st.button("Move", icon=":material/drive_file_move:", help="To another project of yours"):
        _dialog(run, names)


@st.dialog("Move this run to another project", width="medium")
def _dialog(run: RunRecord, names: dict[str, str]) -> None:
    st.selectbox("To", list(names), format_func=names.__getitem__, key=_TO)
    st.write(
        "Its files and links go with it, and its address stays. From then on, the members of that project "
        "find it, and those of this one do not."
    )
    moved = st.button("Move it", type="primary", icon=":material/check:", on_click=_move, args=(run,))
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        st.error(escape_markdown(problem))
    elif moved:
        st.rerun()


def _move(run: RunRecord) -> None:
    target = st.session_state[_TO]
    try:
        user = require_lead(run.project)
        require_lead(target)
        here().projects.move(run.id, target)
        server.shared().audit.record(user.id, "change", "run", run.id, {"project": target})
    except GraspError as error:
        st.session_state[_PROBLEM] = str(error)
