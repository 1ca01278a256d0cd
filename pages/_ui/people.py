"""People and Log, for admins: everybody who has signed in, who may do what, and what was done."""

from __future__ import annotations

import dataclasses
import tempfile
from typing import Literal

import streamlit as st

from grasp_core.model.access import COMMAND, Person, Role, User, is_admin_by_settings, role_of
from grasp_core.model.errors import SpecError, StoreError
from grasp_core.model.text import escape_markdown
from grasp_core.server import server
from grasp_core.server.accounts import STAYS, erasing
from grasp_core.store.people.audit import ACTIONS
from pages._ui.account import offer_withdrawal
from pages._ui.helpers.identity import owner_names, require_admin
from pages._ui.helpers.state import exactly, told
from pages._ui.helpers.widgets import as_this_session, confirm, refusals, say_refusal, tried

_PER_PAGE = 50


def show_log() -> None:
    """Widgets for what is looked for, what is found, and the whole log as a file."""
    audit = server.shared().audit
    left, right = st.columns(2)
    action = left.selectbox("What was done", ACTIONS, index=None, key="log-action", placeholder="Anything")
    object_id = right.text_input(
        "To which object", key="log-object", placeholder="Id of a run, file, link or person"
    )
    page = st.session_state.get("log-page", 1)
    found, total = audit.search(
        action=action, object_id=object_id.strip() or None, start=(page - 1) * _PER_PAGE, limit=_PER_PAGE
    )
    if not found:
        st.info("There is no such entry.")
        return
    names = owner_names(entry.actor for entry in found)
    st.dataframe(
        {
            "When": [exactly(entry.at) for entry in found],
            "Who": [_named(names[entry.actor]) for entry in found],
            "What": [entry.action for entry in found],
            "Object": [f"{entry.kind} {entry.object_id}".strip() for entry in found],
            "Details": [
                ", ".join(f"{name} {value}" for name, value in entry.details.items()) for entry in found
            ],
        },
        hide_index=True,
    )
    if total > _PER_PAGE:
        st.pagination(-(-total // _PER_PAGE), key="log-page")
    if st.button("Check it and make a file", icon=":material/fact_check:"):
        try:
            lines = "".join(audit.lines())
        except StoreError as broken:
            st.error(escape_markdown(str(broken)))
            return
        st.download_button(
            "Download the log", lines, "log.jsonl", "application/x-ndjson", on_click=_note_download
        )


def _note_download() -> None:
    server.shared().audit.record(require_admin().id, "export", "log")


def _named(name: str) -> str:
    if name == COMMAND:
        return "the command line"
    return name or "somebody unknown"


_TYPED, _TO, _PROBLEM = "erase-typed", "erase-to", "erase-problem"
_NOBODY = ""


def offer_leaving(person: Person) -> None:
    """The buttons that open the dialogs."""
    name = escape_markdown(person.identity.name)
    if st.button(f"Export {name}", key=f"export-{person.id}", icon=":material/folder_zip:"):
        _export_dialog(person)
    if st.button(f"Erase {name}", key=f"erase-{person.id}", icon=":material/person_off:", help="Asks first"):
        for key in (_TYPED, _TO, _PROBLEM):
            st.session_state.pop(key, None)
        _erase_dialog(person)


@st.dialog("Export all that names a person", width="medium")
def _export_dialog(person: Person) -> None:
    st.markdown(f"**{escape_markdown(person.identity.name)}** · {escape_markdown(person.identity.email)}")
    st.write(
        "A zip archive with a list of each kind, as JSON: the account, sessions, tokens, memberships, runs "
        "with their results, links, submissions, entries of the log. The content of uploaded files is not in "
        "it, nor anything that opens something."
    )
    st.download_button(
        "Download",
        as_this_session(lambda: _export(person.id)),
        f"{person.id}.zip",
        "application/zip",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
    )


def _export(person_id: str) -> bytes:
    user = require_admin()
    with tempfile.TemporaryFile() as file:
        server.shared().accounts.take_away(person_id, file, by=user)
        file.seek(0)
        return file.read()


@st.dialog("Erase this person?", width="large")
def _erase_dialog(person: Person) -> None:
    if server.shared().accounts.people.get(person.id) is None:
        st.success("Erased. Open tabs close within seconds.", icon=":material/check_circle:")
        if st.button("Close"):
            st.rerun()
        return
    email = person.identity.email
    st.markdown(f"**{escape_markdown(person.identity.name)}** · {escape_markdown(email)}")
    traces = server.shared().accounts.personal.traces(person.id)
    heir = _ask_heir(person) if traces.held or traces.led else _NOBODY
    if heir is not None:
        told = erasing(traces, handed_over=heir != _NOBODY)
        st.markdown("\n".join(f"- {escape_markdown(one)}" for one in told))
    stays = "\n".join(f"- {escape_markdown(one)}" for one in STAYS)
    st.warning(f"This cannot be taken back.\n{stays}", icon=":material/warning:")
    st.text_input(f"To go on, type {escape_markdown(email)}", key=_TYPED, autocomplete="off")
    asked = bool(traces.held or traces.led)
    st.button(
        "Erase for good",
        type="primary",
        icon=":material/person_off:",
        on_click=tried(_PROBLEM, _erase),
        args=(person.id, asked),
    )
    say_refusal(_PROBLEM)


def _ask_heir(person: Person) -> str | None:
    """Somebody else who may run analyses; whether they belong to the projects is asked when it is done."""
    accounts = server.shared().accounts
    found = {
        one.id: f"{one.identity.name} ({one.identity.email})"
        for one in accounts.people.enabled()
        if one.id != person.id and role_of(one, accounts.settings) != "viewer"
    }
    choices = {_NOBODY: "Nobody: delete it for everybody", **found}
    return st.selectbox(
        "Who gets what they own in projects",
        list(choices),
        index=None,
        format_func=choices.__getitem__,
        key=_TO,
        placeholder="Choose somebody, or nobody",
        help="Runs, files, readings, submissions, links, and projects that nobody else owns.",
    )


def _erase(person_id: str, asked: bool) -> None:
    heir = st.session_state.get(_TO) if asked else _NOBODY
    user = require_admin()
    if heir is None:
        raise SpecError("Choose who gets what they own, or nobody.")
    heir = None if heir == _NOBODY else heir
    server.shared().accounts.erase(person_id, by=user, confirm=st.session_state[_TYPED], heir=heir)


_ROLES: tuple[Role | None, ...] = (None, "viewer", "analyst", "admin")
_PEOPLE_REFUSED = "people-refused"


def list_people(user: User) -> None:
    """People by name, a page of them at a time."""
    text = st.text_input(
        "Search", key="people-text", icon=":material/search:", placeholder="Part of a name or mail address"
    )
    page = st.session_state.get("people-page", 1)
    found, total = server.shared().accounts.people.search(
        text.strip(), start=(page - 1) * _PER_PAGE, limit=_PER_PAGE
    )
    say_refusal(_PEOPLE_REFUSED)
    if not found:
        st.info("Nobody is called like that." if text else "Nobody has signed in yet.")
    for person in found:
        with st.container(border=True, key=f"person-{person.id}", gap="xsmall"):
            _show(person, user)
    if total > _PER_PAGE:
        st.pagination(-(-total // _PER_PAGE), key="people-page")


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
        address = escape_markdown(person.identity.email)
        held_by = escape_markdown(
            server.shared().accounts.people.names([person.other_holder])[person.other_holder]
        )
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
    if is_admin_by_settings(person, settings):
        st.caption("Admin by the server's settings, which only whoever runs it can change.")
        _offer_withdrawal(person, name)
        return
    by_settings = role_of(dataclasses.replace(person, role=None), settings)
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
            st.button(
                f"Enable {name}", key=f"enable-{person.id}", on_click=_change, args=("enable", person.id)
            )
        offer_leaving(person)
        _offer_withdrawal(person, name)


@st.dialog("Assign the mail address?")
def _ask_to_assign(person: Person, held_by: str) -> None:
    st.write(
        f"Projects and settings that name {escape_markdown(person.identity.email)} are then for "
        f"{escape_markdown(person.identity.name)}, and no longer for {held_by}, within a second. "
        "What either of them made stays theirs."
    )
    confirm(_change, "assign_address", person.id, person.identity.email, yes="Assign it", no="Leave it")


def _offer_withdrawal(person: Person, name: str) -> None:
    offer_withdrawal(person.id, f"Withdraw links of {name}", f"{person.identity.name} made")


@st.dialog("Disable this account?")
def _ask_to_disable(person: Person) -> None:
    st.write(
        f"{escape_markdown(person.identity.name)} is signed out everywhere within seconds and cannot sign in "
        "again until you enable the account. What is theirs stays."
    )
    confirm(_change, "disable", person.id, yes="Disable", no="Leave it")


def _change_role(person_id: str, before: Role | None) -> None:
    _change("set_role", person_id, st.session_state[f"role-{person_id}-{before}"])


def _change(what: Literal["set_role", "assign_address", "disable", "enable"], *about: object) -> None:
    """Change an account; why that is refused stands on the page that is drawn next."""
    with refusals(_PEOPLE_REFUSED):
        getattr(server.shared().accounts, what)(*about, by=require_admin())
