"""Projects: create, list and change them, and their members."""

from functools import partial
from typing import Literal

import streamlit as st

from grasp_core.model.errors import AccessError
from grasp_core.model.text import escape_markdown, number
from grasp_core.server import server
from grasp_core.store.people import projects
from grasp_core.store.people.projects import NAME_LENGTH, ROLES, Member, MemberKind, Project
from pages._ui.helpers import identity
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.page_frame import work_in
from pages._ui.helpers.state import in_full

_KINDS: dict[MemberKind, tuple[str, str, str]] = {
    "address": ("A mail address", "ann@example.org", "{}"),
    "domain": ("A mail domain", "example.org", "everybody @{}"),
    "group": ("A group of the sign-in provider", "As the provider names it", "the group {}"),
}
"""Name, example and wording of each kind of member."""


def _show_members(project: Project) -> None:
    leads = identity.current_user().may_lead(project.id)
    for member in identity.stores().projects.members(project.id):
        _show_member(project, member, leads=leads)
    if leads:
        with st.form(_key("add", project), clear_on_submit=False, border=True):
            names = {kind: name for kind, (name, *_) in _KINDS.items()}
            kind = ui.switch("Add", names, key=_key("kind", project))
            st.text_input(
                "Which",
                max_chars=projects.MEMBER_LENGTH,
                key=_key("name", project),
                placeholder=_KINDS[kind or "address"][1],
                help="Whoever signs in with this address, of this domain or group belongs to the project.",
            )
            st.selectbox("As", ROLES, key=_key("as", project))
            st.form_submit_button("Add", icon=":material/person_add:", on_click=_add, args=(project,))
    ui.say_refusal(_key("problem", project))


def _show_member(project: Project, member: Member, *, leads: bool) -> None:
    if member.kind == "person":
        name = identity.owner_names([member.name])[member.name]
    else:
        name = _KINDS[member.kind][2].format(member.name)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown(escape_markdown(name), width="stretch")
        if not leads:
            st.markdown(member.role, width="content")
            return
        key = _key(f"role-{member.kind}-{member.name}", project)
        st.session_state[key] = member.role
        admit = partial(_admit, project, member.kind, member.name, key)
        looks = {"key": key, "label_visibility": "collapsed", "width": 140, "on_change": admit}
        st.selectbox(f"Role of {escape_markdown(name)}", ROLES, **looks)
        remove = _key(f"remove-{member.kind}-{member.name}", project)
        more = f"Remove {escape_markdown(name)}"
        ui.button("Remove", "person_remove", _expel, project, member, key=remove, help=more)


def _add(project: Project) -> None:
    kind = st.session_state[_key("kind", project)]
    if _admit(project, kind, st.session_state[_key("name", project)], _key("as", project)):
        st.session_state[_key("name", project)] = ""


def _admit(project: Project, kind: MemberKind, name: str, key: str) -> bool:
    """Give somebody the role chosen under `key`; return whether that succeeded."""
    with ui.refusals(_key("problem", project)):
        member = Member(kind, name, st.session_state[key])
        _change(project, "admit", member, action="member", **member.log_details)
        return True
    return False


def _expel(project: Project, member: Member) -> None:
    with ui.refusals(_key("problem", project)):
        _change(
            project,
            "expel",
            member.kind,
            member.name,
            action="member",
            **{**member.log_details, "role": None},
        )


def _key(what: str, project: Project) -> str:
    return f"members-{what}-{project.id}"


_NAME, _PROBLEM = "project-name", "project-problem"


def offer_new() -> None:
    """Draw the button that opens the dialog; viewers of the server get none."""
    if identity.current_user().may_run and ui.button("New project", "add", type="primary"):
        ui.ask("New project", _ask_new, "Make the project", _create, refused=_PROBLEM)


def _ask_new() -> None:
    st.write("You are its owner, and at first its only member.")
    st.text_input("Name", max_chars=NAME_LENGTH, key=_NAME)


def _with_it(project: Project) -> str:
    """List what is deleted with a project, for example ", 12 runs and 1 share link"."""
    held = identity.stores().projects.holdings(project.id)
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


def _create() -> None:
    user = identity.current_user()
    if not user.may_run:
        raise AccessError(identity.VIEWERS_LOOK)
    owner = Member("person", user.id, "owner") if user.id else None
    made = server.shared().projects.create(st.session_state[_NAME], owner=owner).id
    server.shared().audit.record(user.id, "create", "project", made)
    work_in(made)


def _change(
    project: Project,
    what: Literal["rename", "archive", "delete", "admit", "expel"],
    *to: object,
    action: str = "change",
    **noted: object,
) -> None:
    user = identity.require_lead(project.id)
    getattr(identity.stores().projects, what)(project.id, *to)
    server.shared().audit.record(user.id, action, "project", project.id, noted)


def _rename(project: Project) -> None:
    _change(project, "rename", st.session_state[_NAME], name=True)


_ROLES = {"viewer": "you are a viewer", "analyst": "you are an analyst", "owner": "you are an owner"}


def show_project(project: Project, *, is_everyone: bool) -> None:
    """Draw a project; `is_everyone` marks the one that all belong to."""
    user, signed_in = identity.current_user(), server.shared().settings.sign_in
    with st.container(border=True, key=f"project-{project.id}"):
        st.header(escape_markdown(project.name), divider=False)
        ui.caption(*_facts(project, is_everyone=is_everyone))
        if is_everyone and signed_in:
            st.write(
                "All who may sign in on this server belong to it, each with the role that they have on the "
                "server; it cannot be renamed, archived or deleted."
            )
        with st.container(horizontal=True):
            if project.id == identity.current_project(user):
                st.markdown(":material/check: You work in this project.", width="content")
            else:
                ui.button("Work in this project", "login", work_in, project.id, key=f"work-{project.id}")
            if user.may_lead(project.id) and not is_everyone:
                _offer_changes(project)
        if signed_in and not is_everyone:
            ui.when_open("Who belongs to it", partial(_show_members, project), key=f"members-{project.id}")


def _offer_changes(project: Project) -> None:
    if ui.button("Rename", "edit", key=f"rename-{project.id}"):
        name = partial(st.text_input, "Name", project.name, max_chars=NAME_LENGTH, key=_NAME)
        ui.ask("Rename this project", name, "Rename", _rename, project, refused=_PROBLEM)
    archive = partial(_change, project, "archive", not project.archived, archived=not project.archived)
    label, icon = "Archive", "archive"
    more = "It stays to be looked at; nothing is added to it any more."
    if project.archived:
        label, icon, more = "Take out of the archive", "unarchive", None
    ui.button(label, icon, archive, key=f"archive-{project.id}", help=more)

    def say() -> None:
        gone = f"The project{_with_it(project)} are deleted for everybody, and cannot be brought back."
        ui.say_of(project.name, gone)

    delete, key = partial(_change, project, "delete", action="delete"), f"delete-{project.id}"
    ui.ask_first("Delete", "delete", "Delete this project?", say, delete, key=key)


def _facts(project: Project, *, is_everyone: bool) -> list[str]:
    user, held = identity.current_user(), identity.stores().projects.holdings(project.id)
    facts = ["archived"] if project.archived else []
    if user.role == "admin":
        facts += ["you are an admin of this server"] if user.id else []
    else:
        facts.append(_ROLES[str(user.role_in(project.id))])
    facts.append(number(held.runs, "run"))
    if held.links:
        facts.append(number(held.links, "link"))
    return facts if is_everyone else [*facts, f"made {in_full(project.created_at)}"]
