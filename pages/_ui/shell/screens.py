"""All screens, in the order of the menu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
