"""One project: what it holds, what its owners may change, and who belongs to it."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.people.projects import Project
from grasp_core.wording import number
from pages._ui.projects.changes import offer_changes
from pages._ui.projects.members import show_members
from pages._ui.session.identity import current_user
from pages._ui.session.projects import current_project, here
from pages._ui.session.times import told
from pages._ui.shell.choose_project import work_in
from pages._ui.widgets.sections import when_open

_ROLES = {
    "viewer": "you are a viewer",
    "analyst": "you are an analyst",
    "owner": "you are an owner",
}
_ALL_BELONG = (
    "All who may sign in on this server belong to it, each with the role that they have on the server; it "
    "cannot be renamed, archived or deleted."
)


def show_project(project: Project, *, is_everyone: bool) -> None:
    """Draw a project; `is_everyone` is the one that all belong to."""
    user, signed_in = current_user(), server.shared().settings.sign_in
    with st.container(border=True, key=f"project-{project.id}"):
        st.header(escape_markdown(project.name), divider=False)
        st.caption(escape_markdown(" · ".join(_facts(project, is_everyone=is_everyone))))
        if is_everyone and signed_in:
            st.write(_ALL_BELONG)
        with st.container(horizontal=True):
            if project.id == current_project(user):
                st.markdown(":material/check: You work in this project.", width="content")
            else:
                st.button(
                    "Work in this project",
                    key=f"work-{project.id}",
                    icon=":material/login:",
                    on_click=work_in,
                    args=(project.id,),
                )
            if user.may_lead(project.id) and not is_everyone:
                offer_changes(project)
        if signed_in and not is_everyone:
            when_open("Who belongs to it", lambda: show_members(project), key=f"members-{project.id}")


def _facts(project: Project, *, is_everyone: bool) -> list[str]:
    user, held = current_user(), here().projects.holdings(project.id)
    facts = ["archived"] if project.archived else []
    if user.role == "admin":
        facts += ["you are an admin of this server"] if user.id else []
    else:
        facts.append(_ROLES[str(user.role_in(project.id))])
    facts.append(number(held.runs, "run"))
    if held.links:
        facts.append(number(held.links, "link"))
    return facts if is_everyone else [*facts, f"made {told(project.created_at)}"]
