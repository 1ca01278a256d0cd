"""All screens in menu order, links between them, and the style of their pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from grasp_core.model import text as texts
from grasp_core.model.access import LOCAL_USER, User
from grasp_core.model.text import escape_markdown
from grasp_core.server import server

Audience = Literal["everybody", "signed in", "analysts", "admins"]
BEFORE_HELP = "before-help"
"""Key under which the session keeps the screen from which somebody opened Help."""


@dataclass(frozen=True)
class Screen:
    """A screen, drawn by a file of `pages/`."""

    name: str
    title: str
    icon: str
    audience: Audience = "signed in"
    in_menu: bool = True
    about_sign_in: bool = False
    more: str = ""
    """Purpose of a screen that *More* lists instead of the menu."""

    @property
    def path(self) -> str:
        """Path in the address."""
        return "/" if self is SCREENS[0] else f"/{self.name}"


SCREENS = (
    Screen("start", "Start", ":material/home:"),
    Screen("data", "Data", ":material/table_view:", "analysts"),
    Screen("analysis", "Analysis", ":material/tune:", "analysts"),
    Screen("results", "Results", ":material/insights:"),
    Screen("plan", "Plan", ":material/calculate:"),
    Screen("more", "More", ":material/more_horiz:"),
    Screen("help", "Help", ":material/help:"),
    Screen("account", "Account", ":material/account_circle:", about_sign_in=True),
    Screen("models", "Models", ":material/smart_toy:", more="Score models, and compare them with groups."),
    Screen("runs", "Runs", ":material/history:", more="All results: find, compare and delete them."),
    Screen("watch", "Watch", ":material/notifications:", more="Run again when a file changes."),
    Screen("projects", "Projects", ":material/folder_shared:", more="Who sees which runs."),
    Screen("people", "People", ":material/group:", "admins", about_sign_in=True, more="Who may do what."),
    Screen("log", "Log", ":material/fact_check:", "admins", about_sign_in=True, more="Who did what."),
    Screen("shared", "Shared result", ":material/link:", "everybody", in_menu=False),
)


def for_person(user: User) -> list[Screen]:
    """Return the screens that the menu and *More* offer somebody."""
    named, admin = user != LOCAL_USER, user.may_administer
    return [
        screen
        for screen in SCREENS
        if screen.in_menu and (named or not screen.about_sign_in) and (screen.audience != "admins" or admin)
    ]


def for_pages(sentence: str) -> str:
    """Return a sentence as Streamlit's markdown for the page that is shown, which it does not name."""
    path = st.session_state.get(BEFORE_HELP)
    here = next((screen.title for screen in SCREENS if screen.path == f"/{path}"), None)
    return texts.for_pages(sentence, here)


def address(screen: str, **query: str) -> str:
    """Return a screen's address for other people: below the public address, else as in this browser."""
    base = server.shared().settings.public_url or (st.context.url or "").rpartition("/")[0]
    return f"{base.rstrip('/')}/{screen}?{urlencode(query)}"


Linked = Literal["start", "data", "analysis", "models", "results", "runs", "watch"]


def go(screen: Linked, run_id: str | None = None) -> None:
    """Show another screen; with a run, its results."""
    st.switch_page(f"{screen}.py", query_params=None if run_id is None else {"run": run_id})


def link_to(screen: Linked, label: str) -> None:
    """Draw a link to another screen."""
    st.page_link(f"{screen}.py", label=label, icon=":material/arrow_forward:")


def link_to_two(before: str, now: str, label: str) -> None:
    """Draw a link to two runs side by side."""
    both, icon = {"a": before, "b": now}, ":material/compare_arrows:"
    st.page_link("runs.py", label=label, query_params=both, icon=icon)


def link_to_run(run_id: str, title: str) -> None:
    """Draw a link to a run's results."""
    looks = {"icon": ":material/insights:", "width": "stretch"}
    st.page_link("results.py", label=escape_markdown(title), query_params={"run": run_id}, **looks)


ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
    '<path fill="#006D4E" d="M12 1 23 12 12 23 1 12Z"/>'
    '<path stroke="#FFF" stroke-width="2" fill="none" d="M6 14q6-12 12 0"/></svg>'
)
"""Inline, because Streamlit fetches a named icon from another server."""
_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
"""Style by the keys of containers; comments in the file explain it."""
_BUTTONS_IN_DARK = """
[data-testid^="stBaseButton-primary"], [data-testid^="stBaseButton-primary"]:hover { color: #12181A; }
"""


def mend() -> None:
    """Apply the style of every page; on the dark theme, primary buttons get dark text on light green."""
    dark = st.context.theme.type == "dark"
    scheme = f".st-key-always-there {{ color-scheme: {'dark' if dark else 'light'}; }}"
    st.html(f"<style>{_STYLE}{scheme}{_BUTTONS_IN_DARK if dark else ''}</style>")
