"""Projects made, renamed, archived and deleted; each dialog asks whether the visitor may."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.errors import AccessError, GraspError
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.people.members import Member
from grasp_core.store.people.projects import NAME_LENGTH, Holdings, Project
from grasp_core.wording import number
from pages._ui.session.identity import current_user
from pages._ui.session.permissions import VIEWERS_LOOK, require_lead
from pages._ui.session.projects import here
from pages._ui.shell.choose_project import work_in
from pages._ui.widgets.confirming import confirm

_NAME, _PROBLEM = "project-name", "project-problem"


def offer_new() -> None:
    """The button that opens the dialog; viewers of the server have none."""
    if current_user().may_run and st.button("New project", type="primary", icon=":material/add:"):
        _new_dialog()


@st.dialog("New project", width="medium")
def _new_dialog() -> None:
    st.write("You are its owner, and at first its only member.")
    _ask_name("", "Make the project", _create)


def offer_changes(project: Project) -> None:
    """Buttons for whoever leads the project."""
    if st.button("Rename", key=f"rename-{project.id}", icon=":material/edit:"):
        _rename_dialog(project)
    if project.archived:
        _button(project, "Take out of the archive", "unarchive", _archive, project, False)
    else:
        _button(
            project,
            "Archive",
            "archive",
            _archive,
            project,
            True,
            more="It stays to be looked at; nothing is added to it any more.",
        )
    if st.button("Delete", key=f"delete-{project.id}", icon=":material/delete:", help="Asks first"):
        _delete_dialog(project)


def _button(project: Project, label: str, icon: str, do, *args: object, more: str | None = None) -> None:
    st.button(
        label,
        key=f"archive-{project.id}",
        icon=f":material/{icon}:",
        help=more,
        on_click=do,
        args=args,
    )


@st.dialog("Rename this project", width="medium")
def _rename_dialog(project: Project) -> None:
    _ask_name(project.name, "Rename", _rename, project)


@st.dialog("Delete this project?", width="medium")
def _delete_dialog(project: Project) -> None:
    st.markdown(f"**{escape_markdown(project.name)}**")
    st.warning(
        f"The project{_with_it(here().projects.holdings(project.id))} are deleted for everybody, and cannot "
        "be brought back.",
        icon=":material/warning:",
    )
    confirm(_delete, project)


def _with_it(held: Holdings) -> str:
    """What goes with a project, for example ", 12 runs and 1 share link"."""
    named = (
        (held.runs, "run"),
        (held.files, "uploaded file"),
        (held.links, "share link"),
        (held.readings, "remembered reading"),
        (held.submissions, "submission"),
        (held.watches, "watch", "watches"),
    )
    counted = [number(count, *words) for count, *words in named if count] or ["its list of members"]
    return "".join(f", {one}" for one in counted[:-1]) + f" and {counted[-1]}"


def _ask_name(start: str, label: str, do, *args: object) -> None:
    """A name, the button that takes it, and what was wrong with it."""
    st.text_input("Name", start, max_chars=NAME_LENGTH, key=_NAME)
    taken = st.button(label, type="primary", icon=":material/check:", on_click=do, args=args)
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        st.error(escape_markdown(problem))
    elif taken:
        st.rerun()


def _create() -> None:
    try:
        user = current_user()
        if not user.may_run:
            raise AccessError(VIEWERS_LOOK)
        owner = Member("person", user.id, "owner") if user.id else None
        made = server.shared().projects.create(st.session_state[_NAME], owner=owner).id
        server.shared().audit.record(user.id, "create", "project", made)
        work_in(made)
    except GraspError as error:
        st.session_state[_PROBLEM] = str(error)


def _rename(project: Project) -> None:
    try:
        user = require_lead(project.id)
        here().projects.rename(project.id, st.session_state[_NAME])
        server.shared().audit.record(user.id, "change", "project", project.id, {"name": True})
    except GraspError as error:
        st.session_state[_PROBLEM] = str(error)


def _archive(project: Project, archived: bool) -> None:
    user = require_lead(project.id)
    here().projects.archive(project.id, archived)
    server.shared().audit.record(user.id, "change", "project", project.id, {"archived": archived})


def _delete(project: Project) -> None:
    user = require_lead(project.id)
    here().projects.delete(project.id)
    server.shared().audit.record(user.id, "delete", "project", project.id)
