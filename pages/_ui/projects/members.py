"""Who belongs to a project: listed for its members, changed by its owners."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.errors import GraspError
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.people.members import MEMBER_LENGTH, ROLES, Member, MemberKind
from grasp_core.store.people.projects import Project
from pages._ui.session.identity import current_user, owner_names
from pages._ui.session.permissions import require_lead
from pages._ui.session.projects import here

_KINDS: dict[MemberKind, str] = {
    "address": "A mail address",
    "domain": "A mail domain",
    "group": "A group of the sign-in provider",
}
_EXAMPLES: dict[MemberKind, str] = {
    "address": "ann@example.org",
    "domain": "example.org",
    "group": "As the provider names it",
}
_WORDS: dict[MemberKind, str] = {
    "person": "{}",
    "address": "{}",
    "domain": "everybody @{}",
    "group": "the group {}",
}


def show_members(project: Project) -> None:
    """The members; for owners, each with what changes them, and a form that adds more."""
    leads = current_user().may_lead(project.id)
    for member in here().projects.members(project.id):
        _show(project, member, leads=leads)
    if leads:
        _offer_more(project)
    problem = st.session_state.pop(_key("problem", project), None)
    if problem:
        st.error(escape_markdown(problem))


def _show(project: Project, member: Member, *, leads: bool) -> None:
    who = owner_names([member.name])[member.name] if member.kind == "person" else member.name
    name = _WORDS[member.kind].format(who)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown(escape_markdown(name), width="stretch")
        if not leads:
            st.markdown(member.role, width="content")
            return
        key = _key(f"role-{member.kind}-{member.name}", project)
        st.session_state[key] = member.role
        st.selectbox(
            f"Role of {escape_markdown(name)}",
            ROLES,
            key=key,
            label_visibility="collapsed",
            width=140,
            on_change=_admit,
            args=(project, member.kind, member.name, key),
        )
        st.button(
            "Remove",
            key=_key(f"remove-{member.kind}-{member.name}", project),
            icon=":material/person_remove:",
            help=f"Remove {escape_markdown(name)}",
            on_click=_expel,
            args=(project, member),
        )


def _offer_more(project: Project) -> None:
    with st.form(_key("add", project), clear_on_submit=False, border=True):
        kind: MemberKind = st.segmented_control(
            "Add",
            list(_KINDS),
            default="address",
            required=True,
            format_func=_KINDS.__getitem__,
            key=_key("kind", project),
        )
        st.text_input(
            "Which",
            max_chars=MEMBER_LENGTH,
            key=_key("name", project),
            placeholder=_EXAMPLES[kind or "address"],
            help="Whoever signs in with this address, of this domain or group belongs to the project.",
        )
        st.selectbox("As", ROLES, key=_key("as", project))
        st.form_submit_button("Add", icon=":material/person_add:", on_click=_add, args=(project,))


def _add(project: Project) -> None:
    kind = st.session_state[_key("kind", project)]
    if _admit(project, kind, st.session_state[_key("name", project)], _key("as", project)):
        st.session_state[_key("name", project)] = ""


def _admit(project: Project, kind: MemberKind, name: str, key: str) -> bool:
    """Give somebody the role that was chosen under `key`; whether they have it now."""
    try:
        user, member = require_lead(project.id), Member(kind, name, st.session_state[key])
        here().projects.admit(project.id, member)
        server.shared().audit.record(user.id, "member", "project", project.id, member.told)
    except GraspError as error:
        st.session_state[_key("problem", project)] = str(error)
        return False
    return True


def _expel(project: Project, member: Member) -> None:
    try:
        user = require_lead(project.id)
        here().projects.expel(project.id, member.kind, member.name)
        server.shared().audit.record(user.id, "member", "project", project.id, {**member.told, "role": None})
    except GraspError as error:
        st.session_state[_key("problem", project)] = str(error)


def _key(what: str, project: Project) -> str:
    return f"members-{what}-{project.id}"
