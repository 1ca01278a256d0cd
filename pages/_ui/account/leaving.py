"""All that names one person: taken away by an admin, or erased once their address was typed."""

from __future__ import annotations

import tempfile

import streamlit as st

from grasp_core import server
from grasp_core.access import role_of
from grasp_core.erasing import STAYS, erasing
from grasp_core.errors import GraspError
from grasp_core.people import Person
from grasp_core.report.words.text import escape_markdown
from pages._ui.session.permissions import require_admin
from pages._ui.widgets.later import as_this_session

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
        on_click=_erase,
        args=(person.id, asked),
    )
    if problem := st.session_state.pop(_PROBLEM, None):
        st.error(escape_markdown(problem))


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
    try:
        user = require_admin()
        if heir is None:
            st.session_state[_PROBLEM] = "Choose who gets what they own, or nobody."
            return
        typed = st.session_state[_TYPED]
        heir = None if heir == _NOBODY else heir
        server.shared().accounts.erase(person_id, by=user, confirm=typed, heir=heir)
    except GraspError as error:
        st.session_state[_PROBLEM] = str(error)
