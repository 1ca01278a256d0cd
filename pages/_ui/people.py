"""Accounts: the visitor's sessions, links and tokens; for admins all accounts, and the log."""

import dataclasses
import re
import tempfile
from functools import partial
from typing import Literal

import streamlit as st

from grasp_core.model import access
from grasp_core.model.access import ROLES, Person, Role, Scope, Token, User, role_of
from grasp_core.model.errors import SpecError, StoreError
from grasp_core.model.text import agree, escape_markdown, number
from grasp_core.server import server
from grasp_core.server.accounts import STAYS, erasing
from grasp_core.server.identity import withdraw_of_person
from grasp_core.store.people.audit import ACTIONS
from grasp_core.store.people.credentials import NAME_LENGTH
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import current_user, owner_names, require_admin, this_session
from pages._ui.helpers.state import ending, exactly, in_full

_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"))
_SYSTEMS = ("iPhone", "iPad", "Android", "Windows", "Mac OS", "Linux")


def list_sessions(user: User) -> None:
    """Draw the person's open sessions, each with a button that ends it, and one button that ends all."""
    st.header("Where you are signed in")
    here, accounts = this_session(), server.shared().accounts
    for session in accounts.sessions.of_person(user.id):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            name = escape_markdown(browser_name(session.browser))
            seen = "this one" if session.key == here else f"last seen {in_full(session.seen_at)}"
            began = escape_markdown(in_full(session.created_at))
            st.markdown(f"**{name}**, {escape_markdown(seen)}  \n:small[signed in {began}]")
            if session.key != here:
                looks = {"key": f"end-{session.key}", "help": "Sign out there"}
                end = partial(lambda key: accounts.end_session(key, current_user().id), session.key)
                ui.button("End", "logout", end, **looks)
    more = "Ends all of these, this one too, within seconds, in open tabs as well."
    ui.button("Sign out everywhere", "logout", _end_all, help=more)
    minutes = server.shared().settings.session_idle_minutes
    if minutes:
        whole_hours = minutes >= 60 and minutes % 60 == 0
        after = number(round(minutes / 60), "hour") if whole_hours else f"{minutes:g} minutes"
        st.caption(f"A session that nobody uses ends by itself after {after}.")


def browser_name(said: str) -> str:
    """Return a common name for a browser's User-Agent, such as "Firefox on Linux"."""
    browser = next((name for mark, name in _BROWSERS if mark in said), "")
    if not browser and re.search(r"Version/\S+.* Safari/", said):
        browser = "Safari"
    system = next((name for name in _SYSTEMS if name in said), "").replace("Mac OS", "macOS")
    return " on ".join(filter(None, (browser or "A browser", system)))


def _end_all() -> None:
    user = current_user()
    server.shared().accounts.sign_out_everywhere(user.id, by=user)


def show_own_links(user: User) -> None:
    """Draw the section: the number of the visitor's open links, and a button that withdraws them."""
    st.header("Share links")
    links = _open(user.id)
    if not links:
        st.write("No share link of yours is open. Links are made on *Results*, by *Share*.")
        return
    st.write(f"{number(links, 'share link')} of yours {agree(links, 'is', 'are')} open, in all projects.")
    _offer_withdrawal(user.id, "Withdraw all my links", "you made")


def _offer_withdrawal(person_id: str, label: str, whose: str) -> None:
    def say() -> None:
        ui.warn(
            f"{number(_open(person_id), 'link')} that {whose}, in every project: whoever has one sees "
            "nothing by it any more, at once and for good."
        )

    title, key = "Withdraw all these links?", f"withdraw-links-{person_id}"
    answers = "Withdraw all of them", "Keep them"
    ui.ask_first(label, "link_off", title, say, withdraw_links, person_id, answers=answers, key=key)


def withdraw_links(person_id: str) -> None:
    """Withdraw all links that a person made, if the visitor is that person or an admin."""
    shared = server.shared()
    withdraw_of_person(shared.links, shared.audit, person_id, by=current_user())


def _open(person_id: str) -> int:
    return sum(link.goes_on for link in server.shared().links.of_person(person_id))


_MADE, _REFUSED = "token-made", "token-refused"
_NAME, _SCOPE, _TERM = "token-name", "token-scope", "token-term"
_TERMS = {"7 days": 7, "30 days": 30, "90 days": 90, "A year": 365}
_SCOPES: dict[Scope, str] = {
    "read": "Read: look at what you may see",
    "run": "Run: also upload, run, and manage what is yours",
    "admin": "Admin: all that you may do",
}


def show_tokens(user: User) -> None:
    """Draw the section; a token gives a program its person's rights, and no more."""
    st.header("Tokens")
    st.write(
        "With a token, a program of yours uses this server's API as you: notebooks, pipelines, scripts. "
        "Keep it like a password. docs/api.md tells what it can do."
    )
    with st.form("token-form", border=False):
        name, scope, term = st.columns(3)
        name.text_input("What for", max_chars=NAME_LENGTH, key=_NAME)
        allowed = list(_SCOPES)[: ROLES.index(user.role) + 1]
        ui.pick("It may", {one: _SCOPES[one] for one in allowed}, place=scope, key=_SCOPE)
        term.selectbox("Works for", list(_TERMS), index=2, key=_TERM)
        st.form_submit_button("Make a token", icon=":material/key:", on_click=make_token)
    ui.say_refusal(_REFUSED)
    ui.show_made(_MADE, "token")
    st.subheader("Your tokens")
    tokens = server.shared().tokens.of(user.id)
    if not tokens:
        st.write("There are none yet.")
    for token in tokens:
        with st.container(border=True, key=f"token-{token.id}"):
            _show_token(token)


def _show_token(token: Token) -> None:
    name = escape_markdown(token.name)
    state = "works"
    if not token.works:
        state = "expired" if token.revoked_at is None else "withdrawn"
    used = "never used" if token.last_used_at is None else f"last used {in_full(token.last_used_at)}"
    st.markdown(f"**{name}** · {token.scope} · {state}")
    ui.caption(f"made {in_full(token.created_at)}", ending(token), used)
    if token.works:
        say = partial(ui.say_of, token.name, "Programs that use it are refused at once, and for good.")
        title, looks = "Withdraw this token?", {"key": f"withdraw-{token.id}"}
        looks |= {"answers": ("Withdraw it", "Keep it")}
        ui.ask_first(f"Withdraw {name}", "key_off", title, say, withdraw_token, token.id, **looks)


def make_token() -> None:
    """Make the token that the form describes; once, however often the button is pressed."""
    user = current_user()
    if ui.just_made(_MADE):
        return
    ui.forget(_MADE)
    scope, days = st.session_state[_SCOPE], _TERMS[st.session_state[_TERM]]
    with ui.refusals(_REFUSED):
        name = st.session_state[_NAME]
        token = server.shared().tokens.create(owner=user.id, name=name, scope=scope, days=days)
        server.shared().audit.record(user.id, "token", "token", "", {"scope": scope, "days": days})
        ui.keep_made(_MADE, token)


def withdraw_token(token_id: str) -> None:
    """Withdraw one of the person's own tokens, and no other."""
    user = current_user()
    if server.shared().tokens.revoke(token_id, owner=user.id):
        server.shared().audit.record(user.id, "withdraw", "token", token_id)
    ui.forget(_MADE)  # it may be the one shown for copying


_PER_PAGE = 50


def _page(key: str) -> dict[str, int]:
    return {"start": (st.session_state.get(key, 1) - 1) * _PER_PAGE, "limit": _PER_PAGE}


def show_log() -> None:
    """Draw the search in the log, the entries found, and the whole log as a file."""
    audit = server.shared().audit
    left, right = st.columns(2)
    action = left.selectbox("What was done", ACTIONS, index=None, key="log-action", placeholder="Anything")
    looks = {"key": "log-object", "placeholder": "Id of a run, file, link or person"}
    object_id = right.text_input("To which object", **looks).strip() or None
    found, total = audit.search(action=action, object_id=object_id, **_page("log-page"))
    if not found:
        st.info("There is no such entry.")
        return
    names = owner_names(entry.actor for entry in found)
    names = {id: "the command line" if name == access.COMMAND else name for id, name in names.items()}
    rows = []
    for entry in found:
        who = {"When": exactly(entry.at), "Who": names[entry.actor] or "somebody unknown"}
        what = {"What": entry.action, "Object": f"{entry.kind} {entry.object_id}".strip()}
        details = ", ".join(f"{name} {value}" for name, value in entry.details.items())
        rows.append({**who, **what, "Details": details})
    st.dataframe(rows, hide_index=True)
    if total > _PER_PAGE:
        st.pagination(-(-total // _PER_PAGE), key="log-page")
    if ui.button("Check it and make a file", "fact_check"):
        try:
            lines = "".join(audit.lines())
        except StoreError as broken:
            st.error(escape_markdown(str(broken)))
            return

        def note() -> None:
            audit.record(require_admin().id, "export", "log")

        st.download_button("Download the log", lines, "log.jsonl", "application/x-ndjson", on_click=note)


_PEOPLE_REFUSED = "people-refused"
_ROLES: tuple[Role | None, ...] = (None, "viewer", "analyst", "admin")


def list_people(user: User) -> None:
    """Draw people by name, one page of them at a time."""
    looks = {"icon": ":material/search:", "placeholder": "Part of a name or mail address"}
    text = st.text_input("Search", key="people-text", **looks)
    found, total = server.shared().accounts.people.search(text.strip(), **_page("people-page"))
    ui.say_refusal(_PEOPLE_REFUSED)
    if not found:
        st.info("Nobody is called like that." if text else "Nobody has signed in yet.")
    for person in found:
        with st.container(border=True, key=f"person-{person.id}", gap="xsmall"):
            _show_person(person, is_visitor=person.id == user.id)
    if total > _PER_PAGE:
        st.pagination(-(-total // _PER_PAGE), key="people-page")


def _show_person(person: Person, *, is_visitor: bool) -> None:
    settings, name = server.shared().settings, escape_markdown(person.identity.name)
    st.markdown(_whom(person, " (you)" if is_visitor else ""))
    disabled = person.disabled_at
    facts = [] if disabled is None else [f":material/block: disabled {in_full(disabled)}"]
    st.caption(" · ".join([*facts, f"last signed in {in_full(person.signed_in_at)}"]))
    if person.other_holder is not None:
        _say_who_holds(person, person.other_holder)
    withdrawal = (person.id, f"Withdraw links of {name}", f"{person.identity.name} made")
    if access.is_admin_by_settings(person, settings):
        st.caption("Admin by the server's settings, which only whoever runs it can change.")
        _offer_withdrawal(*withdrawal)
        return
    by_settings = role_of(dataclasses.replace(person, role=None), settings)
    role = f"role-{person.id}-{person.role}"

    def set_role() -> None:
        _change("set_role", person.id, st.session_state[role])

    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {one: one or f"as set for all ({by_settings})" for one in _ROLES}
        looks = {"index": _ROLES.index(person.role), "on_change": set_role, "width": 240}
        ui.pick(f"Role of {name}", names, key=role, **looks)
        if disabled is None:
            words = (
                f"{name} is signed out everywhere within seconds and cannot sign in again until you enable "
                "the account. What is theirs stays."
            )
            title, looks = "Disable this account?", {"key": f"disable-{person.id}", "help": None}
            looks |= {"answers": ("Disable", "Leave it"), "width": "small"}
            ui.ask_first(f"Disable {name}", "block", title, words, _change, "disable", person.id, **looks)
        else:
            enable = partial(_change, "enable", person.id)
            st.button(f"Enable {name}", key=f"enable-{person.id}", on_click=enable)
        _offer_leaving(person)
        _offer_withdrawal(*withdrawal)


def _say_who_holds(person: Person, holder: str) -> None:
    name, address = escape_markdown(person.identity.name), escape_markdown(person.identity.email)
    held_by = escape_markdown(owner_names([holder])[holder])
    st.caption(
        f":material/warning: {held_by} holds the mail address {address}. This account has nothing by it, "
        "neither in the server's settings nor in projects."
    )
    if person.identity.email in server.shared().settings.admins:
        st.caption(
            "It is an admin's by the server's settings, so only whoever runs the server can assign it: "
            f"`people assign-address {person.id}`"
        )
    elif person.disabled_at is None:
        words = (
            f"Projects and settings that name {address} are then for {name}, and no longer for {held_by}, "
            "within a second. What either of them made stays theirs."
        )
        assign = partial(_change, "assign_address", person.id, person.identity.email)
        label, title = f"Assign {address} to {name}", "Assign the mail address?"
        looks = {"answers": ("Assign it", "Leave it"), "width": "small", "key": f"address-{person.id}"}
        ui.ask_first(label, "alternate_email", title, words, assign, **looks)


def _change(what: Literal["set_role", "assign_address", "disable", "enable"], *about: object) -> None:
    """Change an account; if that is refused, the page drawn next says why."""
    with ui.refusals(_PEOPLE_REFUSED):
        getattr(server.shared().accounts, what)(*about, by=require_admin())


_TYPED, _TO, _PROBLEM = "erase-typed", "erase-to", "erase-problem"
_NOBODY = ""


def _offer_leaving(person: Person) -> None:
    name = escape_markdown(person.identity.name)
    if ui.button(f"Export {name}", "folder_zip", key=f"export-{person.id}"):
        _export_dialog(person)
    if ui.button(f"Erase {name}", "person_off", key=f"erase-{person.id}", help="Asks first"):
        ui.forget(_TYPED, _TO, _PROBLEM)
        _erase_dialog(person)


def _whom(person: Person, note: str = "") -> str:
    name, address = escape_markdown(person.identity.name), escape_markdown(person.identity.email)
    return f"**{name}**{note} · {address}"


@st.dialog("Export all that names a person", width="medium")
def _export_dialog(person: Person) -> None:
    st.markdown(_whom(person))
    st.write(
        "A zip archive with a list of each kind, as JSON: the account, sessions, tokens, memberships, runs "
        "with their results, links, submissions, entries of the log. The content of uploaded files is not in "
        "it, nor anything that opens something."
    )
    make, name = ui.as_this_session(partial(_export, person.id)), f"{person.id}.zip"
    looks = {"icon": ":material/download:", "type": "primary", "on_click": "ignore"}
    st.download_button("Download", make, name, "application/zip", **looks)


def _export(person_id: str) -> bytes:
    user = require_admin()
    with tempfile.TemporaryFile() as file:
        server.shared().accounts.take_away(person_id, file, by=user)
        file.seek(0)
        return file.read()


@st.dialog("Erase this person?", width="large")
def _erase_dialog(person: Person) -> None:
    accounts = server.shared().accounts
    if accounts.people.get(person.id) is None:
        st.success("Erased. Open tabs close within seconds.", icon=":material/check_circle:")
        if st.button("Close"):
            st.rerun()
        return
    st.markdown(_whom(person))
    traces = accounts.personal.traces(person.id)
    asked = bool(traces.held or traces.led)
    heir = _ask_heir(person) if asked else _NOBODY
    if heir is not None:
        st.markdown(ui.entries(erasing(traces, handed_over=heir != _NOBODY)))
    st.warning(f"This cannot be taken back.\n{ui.entries(STAYS)}", icon=":material/warning:")
    st.text_input(f"To go on, type {escape_markdown(person.identity.email)}", key=_TYPED, autocomplete="off")
    erase = ui.refusals(_PROBLEM)(_erase)
    ui.button("Erase for good", "person_off", erase, person.id, asked, type="primary")
    ui.say_refusal(_PROBLEM)


def _ask_heir(person: Person) -> str | None:
    """Choose another person who may run analyses; erasing checks that they belong to the projects."""
    accounts = server.shared().accounts
    found = {
        one.id: f"{one.identity.name} ({one.identity.email})"
        for one in accounts.people.enabled()
        if one.id != person.id and role_of(one, accounts.settings) != "viewer"
    }
    names = {_NOBODY: "Nobody: delete it for everybody", **found}
    more = "Runs, files, readings, submissions, links, and projects that nobody else owns."
    looks = {"placeholder": "Choose somebody, or nobody", "key": _TO, "help": more}
    return ui.pick("Who gets what they own in projects", names, index=None, **looks)


def _erase(person_id: str, asked: bool) -> None:
    heir, user = st.session_state.get(_TO) if asked else _NOBODY, require_admin()
    if heir is None:
        raise SpecError("Choose who gets what they own, or nobody.")
    server.shared().accounts.erase(person_id, by=user, confirm=st.session_state[_TYPED], heir=heir or None)
