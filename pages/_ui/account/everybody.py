"""Everybody who has signed in, for admins: what they may do, and whether they are let in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import streamlit as st

from grasp_core import server
from grasp_core.access import User, is_admin_by_settings, role_of
from grasp_core.errors import GraspError
from grasp_core.people import Person, Role
from grasp_core.report.words.text import escape_markdown
from pages._ui.account.leaving import offer_leaving
from pages._ui.account.own_links import offer_withdrawal
from pages._ui.session.permissions import require_admin
from pages._ui.session.times import told
from pages._ui.widgets.confirming import confirm

PER_PAGE = 50
_ROLES: tuple[Role | None, ...] = (None, "viewer", "analyst", "admin")
_REFUSED = "people-refused"


def list_people(user: User) -> None:
    """People by name, a page of them at a time."""
    text = st.text_input(
        "Search", key="people-text", icon=":material/search:", placeholder="Part of a name or mail address"
    )
    page = st.session_state.get("people-page", 1)
    found, total = server.shared().accounts.people.search(
        text.strip(), start=(page - 1) * PER_PAGE, limit=PER_PAGE
    )
    if refused := st.session_state.pop(_REFUSED, None):
        st.error(escape_markdown(refused))
    if not found:
        st.info("Nobody is called like that." if text else "Nobody has signed in yet.")
    for person in found:
        with st.container(border=True, key=f"person-{person.id}", gap="xsmall"):
            _show(person, user)
    if total > PER_PAGE:
        st.pagination(-(-total // PER_PAGE), key="people-page")


def _show(person: Person, user: User) -> None:
    settings = server.shared().settings
    identity = person.identity
    you = " (you)" if person.id == user.id else ""
    name = escape_markdown(identity.name)
    st.markdown(f"**{name}**{you} · {escape_markdown(identity.email)}")
    facts = [f"last signed in {told(person.signed_in_at)}"]
    if person.disabled_at is not None:
        facts.insert(0, f":material/block: disabled {told(person.disabled_at)}")
    st.caption(" · ".join(facts))
    if person.other_holder is not None:
        _offer_address(person, person.other_holder)
    if is_admin_by_settings(person, settings):
        st.caption("Admin by the server's settings, which only whoever runs it can change.")
        _offer_withdrawal(person, name)
        return
    by_settings = role_of(_without_role(person), settings)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            f"Role of {name}",
            _ROLES,
            index=_ROLES.index(person.role),
            format_func=lambda role: role or f"as set for all ({by_settings})",
            key=f"role-{person.id}-{person.role}",
            on_change=_change_role,
            args=(person.id, person.role),
            width=240,
        )
        if person.disabled_at is None:
            if st.button(f"Disable {name}", key=f"disable-{person.id}", icon=":material/block:"):
                _ask_to_disable(person)
        else:
            st.button(f"Enable {name}", key=f"enable-{person.id}", on_click=_enable, args=(person.id,))
        offer_leaving(person)
        _offer_withdrawal(person, name)


def _offer_address(person: Person, holder: str) -> None:
    address = escape_markdown(person.identity.email)
    held_by = escape_markdown(server.shared().accounts.people.names([holder])[holder])
    st.caption(
        f":material/warning: {held_by} holds the mail address {address}. This account has nothing by it, "
        "neither in the server's settings nor in projects."
    )
    if person.identity.email in server.shared().settings.admins:
        st.caption(
            "It is an admin's by the server's settings, so only whoever runs the server can assign it: "
            f"`people assign-address {person.id}`"
        )
    elif person.disabled_at is None and st.button(
        f"Assign {address} to {escape_markdown(person.identity.name)}",
        key=f"address-{person.id}",
        icon=":material/alternate_email:",
        help="Asks first",
    ):
        _ask_to_assign(person, held_by)


@st.dialog("Assign the mail address?")
def _ask_to_assign(person: Person, held_by: str) -> None:
    st.write(
        f"Projects and settings that name {escape_markdown(person.identity.email)} are then for "
        f"{escape_markdown(person.identity.name)}, and no longer for {held_by}, within a second. "
        "What either of them made stays theirs."
    )
    confirm(_assign_address, person.id, person.identity.email, yes="Assign it", no="Leave it")


def _offer_withdrawal(person: Person, name: str) -> None:
    offer_withdrawal(person.id, f"Withdraw links of {name}", f"{person.identity.name} made")


@st.dialog("Disable this account?")
def _ask_to_disable(person: Person) -> None:
    st.write(
        f"{escape_markdown(person.identity.name)} is signed out everywhere within seconds and cannot sign in "
        "again until you enable the account. What is theirs stays."
    )
    confirm(_disable, person.id, yes="Disable", no="Leave it")


def _change_role(person_id: str, before: Role | None) -> None:
    role = st.session_state[f"role-{person_id}-{before}"]
    _try(lambda user: server.shared().accounts.set_role(person_id, role, by=user))


def _assign_address(person_id: str, address: str) -> None:
    _try(lambda user: server.shared().accounts.assign_address(person_id, address, by=user))


def _disable(person_id: str) -> None:
    _try(lambda user: server.shared().accounts.disable(person_id, by=user))


def _enable(person_id: str) -> None:
    _try(lambda user: server.shared().accounts.enable(person_id, by=user))


def _try(change: Callable[[User], None]) -> None:
    """Change something; why it is refused stands on the page that is drawn next."""
    try:
        change(require_admin())
    except GraspError as refused:
        st.session_state[_REFUSED] = str(refused)


def _without_role(person: Person) -> Person:
    return dataclasses.replace(person, role=None)
