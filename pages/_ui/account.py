"""Account: one's own sessions, links and tokens."""

from __future__ import annotations

import re

import streamlit as st

from grasp_core.model.access import ROLES, Scope, Token, User
from grasp_core.model.text import agree, escape_markdown, number
from grasp_core.server import server
from grasp_core.server.links import withdraw_of_person
from grasp_core.store.people.credentials import NAME_LENGTH
from pages._ui.helpers.identity import current_user, this_session
from pages._ui.helpers.state import told
from pages._ui.helpers.widgets import confirm, just_made, keep_made, refusals, say_refusal, show_made

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
    for session in server.shared().accounts.sessions.of_person(user.id):
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
    withdraw_of_person(shared.links, shared.audit, person_id, by=current_user())


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
    say_refusal(_REFUSED)
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
    with refusals(_REFUSED):
        name = st.session_state[_NAME]
        token = server.shared().tokens.create(owner=user.id, name=name, scope=scope, days=days)
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
