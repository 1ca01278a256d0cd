"""Which pages there are for whom, and which of them the menu names."""

from __future__ import annotations

import functools
from copy import copy
from typing import Any

import streamlit as st

from grasp_core.access import User
from pages._ui.shell.screens import SCREENS, Audience, Screen


def audiences(named: User | None) -> dict[Any, Audience]:
    """For whom each page is; who has signed in sees those about that in the menu, as far as they may."""
    pages = _pages(tuple(_in_menu(screen, named) for screen in SCREENS))
    # Copies: Streamlit notes in a page that it is the one to be drawn.
    return {copy(page): screen.audience for page, screen in zip(pages, SCREENS, strict=True)}


@functools.cache
def _pages(in_menu: tuple[bool, ...]) -> list[Any]:
    """The pages, with what is in the menu; making them for every view is a twentieth of its work."""
    return [
        st.Page(
            f"{screen.name}.py",
            title=screen.title,
            icon=screen.icon,
            default=screen is SCREENS[0],
            visibility="visible" if seen else "hidden",
        )
        for screen, seen in zip(SCREENS, in_menu, strict=True)
    ]


def _in_menu(screen: Screen, named: User | None) -> bool:
    if named is None:
        return screen.in_menu and not screen.about_sign_in
    return screen.in_menu and (screen.audience != "admins" or named.may_administer)
