"""All screens, in the order of the menu; addresses to hand on, and ways from one screen to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from grasp_core.model.text import escape_markdown
from grasp_core.server import server

Audience = Literal["everybody", "signed in", "analysts", "admins"]


BEFORE_HELP = "before-help"
"""Where the session keeps the screen from which somebody asked for help."""


@dataclass(frozen=True)
class Screen:
    """A file of `pages/`."""

    name: str
    title: str
    icon: str
    audience: Audience = "signed in"
    in_menu: bool = True
    about_sign_in: bool = False

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
    Screen("models", "Models", ":material/smart_toy:"),
    Screen("runs", "Runs", ":material/history:"),
    Screen("watch", "Watch", ":material/notifications:"),
    Screen("projects", "Projects", ":material/folder_shared:"),
    Screen("help", "Help", ":material/help:"),
    Screen("people", "People", ":material/group:", "admins", about_sign_in=True),
    Screen("log", "Log", ":material/fact_check:", "admins", about_sign_in=True),
    Screen("account", "Account", ":material/account_circle:", about_sign_in=True),
    Screen("shared", "Shared result", ":material/link:", "everybody", in_menu=False),
)


def address(screen: str, **query: str) -> str:
    """Of a screen, as people outside reach it: under the public address, else as this browser does."""
    base = server.shared().settings.public_url or (st.context.url or "").rpartition("/")[0]
    return f"{base.rstrip('/')}/{screen}?{urlencode(query)}"


Linked = Literal["start", "data", "analysis", "models", "results", "runs", "watch"]


def go(screen: Linked, run_id: str | None = None) -> None:
    """Show another screen; with a run, its results."""
    if run_id is None:
        st.switch_page(f"{screen}.py")
    else:
        st.switch_page(f"{screen}.py", query_params={"run": run_id})


def link_to(screen: Linked, label: str) -> None:
    """A link to another screen."""
    st.page_link(f"{screen}.py", label=label, icon=":material/arrow_forward:")


def link_to_two(before: str, now: str, label: str) -> None:
    """A link to two runs side by side."""
    st.page_link(
        "runs.py", label=label, query_params={"a": before, "b": now}, icon=":material/compare_arrows:"
    )


def link_to_run(run_id: str, title: str) -> None:
    """A link to a run's results."""
    st.page_link(
        "results.py",
        label=escape_markdown(title),
        query_params={"run": run_id},
        icon=":material/insights:",
        width="stretch",
    )
