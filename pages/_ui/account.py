"""Sections of Account, People and Log: one's own sessions, links and tokens; everybody, and what was done."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Callable

import streamlit as st

from grasp_core.model.access import (
    COMMAND,
    ROLES,
    Person,
    Role,
    Scope,
    Token,
    User,
    is_admin_by_settings,
    role_of,
)
from grasp_core.model.errors import GraspError, LimitError, StoreError
from grasp_core.model.text import escape_markdown
from grasp_core.model.wording import agree, number
from grasp_core.server import server
from grasp_core.server.accounts import STAYS, erasing
from grasp_core.server.links import Withdrawing
from grasp_core.store.people.audit import ACTIONS
from grasp_core.store.people.tokens import NAME_LENGTH
from pages._ui.session.identity import current_user, owner_names, require_admin, this_session
from pages._ui.session.state import exactly, told
from pages._ui.widgets.choices import as_this_session, confirm
from pages._ui.widgets.shown import just_made, keep_made, show_made

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


_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"))
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def list_sessions(user: User) -> None:
    """The person's sessions that go on, each with a way to end it, and one to end all."""
    st.header("Where you are signed in")
    here = this_session()
    for session in server.shared().accounts.sessions_of(user):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            name = escape_markdown(browser_name(session.browser))
            seen = "this one" if (session.key == here) else f"last seen {told(session.seen_at)}"
            began = escape_markdown(told(session.created_at))
            st.markdown(f"**{name}**, {escape_markdown(seen)}  \n:small[signed in {began}]")
            if session.key != here:
                st.button(
                    "End",
                    key=f"end-{session.key}",
                    help="Sign out there",
                    icon=":material/logout:",
                    on_click=_end,
                    args=(session.key,),
                )
    st.button(
        "Sign out everywhere",
        icon=":material/logout:",
        on_click=_end_all,
        help="Ends all of these, this one too, within seconds, in open tabs as well.",
    )
    minutes = server.shared().settings.session_idle_minutes
    if minutes:
        whole_hours = minutes >= 60 and minutes % 60 == 0
        after = number(round(minutes / 60), "hour") if whole_hours else f"{minutes:g} minutes"
        st.caption(f"A session that nobody uses ends by itself after {after}.")


def browser_name(said: str) -> str:
    """What people call a browser, from how it calls itself, such as "Firefox on Linux"."""
    browser = next((name for mark, name in _BROWSERS if mark in said), "")
    if not browser and re.search(r"Version/\S+.* Safari/", said):
        browser = "Safari"
    system = next((name for mark, name in _SYSTEMS if mark in said), "")
    return " on ".join(filter(None, (browser or "A browser", system)))


def _end(key: str) -> None:
    server.shared().accounts.end_session(key, current_user().id)


def _end_all() -> None:
    user = current_user()
    server.shared().accounts.sign_out_everywhere(user.id, by=user)


def show_own_links(user: User) -> None:
    """The section: how many links of the visitor's work, and a way to withdraw them."""
    st.header("Share links")
    open_links = _open(user.id)
    if not open_links:
        st.write("No share link of yours is open. Links are made on *Results*, by *Share*.")
        return
    st.write(
        f"{number(open_links, 'share link')} of yours {agree(open_links, 'is', 'are')} open, in all projects."
    )
    offer_withdrawal(user.id, "Withdraw all my links", "you made")


def offer_withdrawal(person_id: str, label: str, whose: str) -> None:
    """The button that asks whether all links that a person made are to be withdrawn."""
    if st.button(label, key=f"withdraw-links-{person_id}", icon=":material/link_off:", help="Asks first"):
        _dialog(person_id, whose)


@st.dialog("Withdraw all these links?", width="medium")
def _dialog(person_id: str, whose: str) -> None:
    st.warning(
        f"{number(_open(person_id), 'link')} that {escape_markdown(whose)}, in every project: whoever has "
        "one sees nothing by it any more, at once and for good.",
        icon=":material/warning:",
    )
    confirm(withdraw_links, person_id, yes="Withdraw all of them", no="Keep them")


def withdraw_links(person_id: str) -> None:
    """Withdraw all links that a person made, if the visitor is they or an admin."""
    shared = server.shared()
    Withdrawing(shared.links, shared.audit).of_person(person_id, by=current_user())


def _open(person_id: str) -> int:
    return sum(link.goes_on for link in server.shared().links.of_person(person_id))


_MADE, _REFUSED, _NAME, _SCOPE, _TERM = (
    f"token-{name}" for name in ("made", "refused", "name", "scope", "term")
)
_TERMS = {"7 days": 7, "30 days": 30, "90 days": 90, "A year": 365}
_SCOPES: dict[Scope, str] = {
    "read": "Read: look at what you may see",
    "run": "Run: also upload, run, and manage what is yours",
    "admin": "Admin: all that you may do",
}


def show_tokens(user: User) -> None:
    """The section; a token lends a program what its person may do, and no more."""
    st.header("Tokens")
    st.write(
        "With a token, a program of yours uses this server's API as you: notebooks, pipelines, scripts. "
        "Keep it like a password. docs/api.md tells what it can do."
    )
    with st.form("token-form", border=False):
        name, scope, term = st.columns(3)
        name.text_input("What for", max_chars=NAME_LENGTH, key=_NAME)
        scope.selectbox(
            "It may", list(_SCOPES)[: ROLES.index(user.role) + 1], format_func=_SCOPES.__getitem__, key=_SCOPE
        )
        term.selectbox("Works for", list(_TERMS), index=2, key=_TERM)
        st.form_submit_button("Make a token", icon=":material/key:", on_click=make_token)
    if sentence := st.session_state.pop(_REFUSED, None):
        st.error(escape_markdown(sentence))
    show_made(_MADE, "token")
    tokens = server.shared().tokens.of(user.id)
    st.subheader("Your tokens")
    if not tokens:
        st.write("There are none yet.")
    for token in tokens:
        with st.container(border=True, key=f"token-{token.id}"):
            st.markdown(f"**{escape_markdown(token.name)}** · {token.scope} · {_state(token)}")
            facts = [f"made {told(token.created_at)}"]
            if token.revoked_at is not None:
                facts.append(f"withdrawn {told(token.revoked_at)}")
            else:
                facts.append(f"{'ended' if token.expired else 'ends'} {told(token.expires_at)}")
            used = "never used" if token.last_used_at is None else f"last used {told(token.last_used_at)}"
            st.caption(escape_markdown(" · ".join([*facts, used])))
            if token.works and st.button(
                f"Withdraw {escape_markdown(token.name)}",
                key=f"withdraw-{token.id}",
                icon=":material/key_off:",
                help="Asks first",
            ):
                _withdraw_dialog(token)


def make_token() -> None:
    """Make the token that the form describes; once, however often the button is pressed."""
    user = current_user()
    if just_made(_MADE):
        return
    st.session_state.pop(_MADE, None)
    scope, days = st.session_state[_SCOPE], _TERMS[st.session_state[_TERM]]
    try:
        token = server.shared().tokens.create(
            owner=user.id, name=st.session_state[_NAME], scope=scope, days=days
        )
    except LimitError as error:
        st.session_state[_REFUSED] = str(error)
        return
    server.shared().audit.record(user.id, "token", "token", "", {"scope": scope, "days": days})
    keep_made(_MADE, token)


@st.dialog("Withdraw this token?", width="medium")
def _withdraw_dialog(token: Token) -> None:
    st.markdown(f"**{escape_markdown(token.name)}**")
    st.warning("Programs that use it are refused at once, and for good.", icon=":material/warning:")
    confirm(withdraw_token, token.id, yes="Withdraw it")


def withdraw_token(token_id: str) -> None:
    """Withdraw one of the person's own tokens, and no other."""
    user = current_user()
    if server.shared().tokens.revoke(token_id, owner=user.id):
        server.shared().audit.record(user.id, "withdraw", "token", token_id)
    st.session_state.pop(_MADE, None)  # it may be the one that is shown to be copied


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return "withdrawn"
    return "expired" if token.expired else "works"


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
    if refused := st.session_state.pop(_PEOPLE_REFUSED, None):
        st.error(escape_markdown(refused))
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
            st.button(f"Enable {name}", key=f"enable-{person.id}", on_click=_enable, args=(person.id,))
        offer_leaving(person)
        _offer_withdrawal(person, name)


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
        st.session_state[_PEOPLE_REFUSED] = str(refused)
