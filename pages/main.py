"""Entry script: what every page view does first."""

from __future__ import annotations

from typing import Any

import streamlit as st

from grasp_core.access import LOCAL_USER, User
from grasp_core.errors import AccessError
from pages._ui.session.identity import visitor
from pages._ui.session.permissions import ADMINS_ONLY, why_not_run
from pages._ui.session.taking import note_refusal
from pages._ui.shell.choose_project import choose_project
from pages._ui.shell.guard import show_error
from pages._ui.shell.page_style import ICON, mend
from pages._ui.shell.screens import SCREENS, Audience, Screen
from pages._ui.shell.sign_in import ask_to_sign_in, say_not_admitted


def view() -> None:
    """Find out who is looking, and show them the page if they may see it."""
    st.set_page_config(page_title="GRASP", page_icon=ICON, layout="wide")
    mend()
    user, refusal, failure = None, None, None
    try:
        user = visitor(seen=True)
    except AccessError as error:
        refusal = str(error)
    except Exception as error:  # e.g. the database is away: nobody is known
        failure = error
    audiences = _audiences(None if user == LOCAL_USER else user)
    asked = (st.context.url or "").rpartition("/")[2]
    alone = asked in [screen.name for screen in SCREENS if screen.audience == "everybody"]
    page = st.navigation(list(audiences), position="top" if user and not alone else "hidden")
    audience = audiences[page]
    try:
        if failure:
            show_error(failure)
        elif audience == "everybody":
            page.run()
        elif refusal:
            say_not_admitted(refusal)
        elif user is None:
            ask_to_sign_in()
        elif audience == "admins" and not user.may_administer:
            st.title(page.title)
            st.info(ADMINS_ONLY)
            note_refusal(page.title)
        else:
            choose_project()
            refusal = why_not_run(user) if audience == "analysts" else None
            if refusal is None:
                page.run()
            else:
                st.title(page.title)
                st.info(refusal)
                note_refusal(page.title)
    except Exception as error:  # fragments and callbacks run outside this call: app.py hands theirs over
        show_error(error)


def _audiences(named: User | None) -> dict[Any, Audience]:
    """For whom each page is; who has signed in sees those about that in the menu, as far as they may."""
    return {
        st.Page(
            f"{screen.name}.py",
            title=screen.title,
            icon=screen.icon,
            default=screen is SCREENS[0],
            visibility="visible" if _in_menu(screen, named) else "hidden",
        ): screen.audience
        for screen in SCREENS
    }


def _in_menu(screen: Screen, named: User | None) -> bool:
    if named is None:
        return screen.in_menu and not screen.about_sign_in
    return screen.in_menu and (screen.audience != "admins" or named.may_administer)


# Not where a worker process, started anew, loads this file as its parent's main module.
if __name__ == "__main__":
    view()
