"""Where the person has signed in, and the way out of each place."""

from __future__ import annotations

import re

import streamlit as st

from grasp_core import server
from grasp_core.access import User
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.people.sessions import Session
from grasp_core.wording import number
from pages._ui.session.identity import current_user, this_session
from pages._ui.session.times import told

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
            st.markdown(_facts(session, here=session.key == here))
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


def _facts(session: Session, *, here: bool) -> str:
    name = escape_markdown(browser_name(session.browser))
    seen = "this one" if here else f"last seen {told(session.seen_at)}"
    began = escape_markdown(told(session.created_at))
    return f"**{name}**, {escape_markdown(seen)}  \n:small[signed in {began}]"


def _end(key: str) -> None:
    server.shared().accounts.end_session(key, current_user().id)


def _end_all() -> None:
    user = current_user()
    server.shared().accounts.sign_out_everywhere(user.id, by=user)
