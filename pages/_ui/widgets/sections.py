"""Sections and menus that are closed at first, and made when they are opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st


def when_open(label: str, draw: Callable[[], object], *, key: str, icon: str | None = None) -> None:
    """A section that costs nothing until somebody opens it.

    Parameters
    ----------
    label : str
    draw : callable
        Draws what is inside; not called while the section is closed.
    key : str
        Whether it is open is kept under this name for the visit.
    icon : str, optional
    """
    section = st.expander(label, key=key, icon=icon, on_change="rerun")
    if section.open:
        with section:
            draw()


def menu_when_open(
    label: str,
    draw: Callable[[], object],
    *,
    key: str,
    icon: str,
    type: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """A button that opens a menu, which costs nothing until then.

    Parameters
    ----------
    label, draw, icon
        As of :func:`when_open`.
    key : str
        No two menus of a page have the same.
    type : str
        How much the button stands out.
    """
    menu = st.popover(label, key=f"menu-{key}", icon=icon, type=type, on_change="rerun")
    if menu.open:
        with menu:
            draw()
