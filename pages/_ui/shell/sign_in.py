"""The sign-in screen: the way in, or why somebody may not see a page."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.report.words.text import escape_markdown
from pages._ui.session.sign_ins import SIGN_OUT
from pages._ui.shell.page_style import SIGN_OUT_FORM


def ask_to_sign_in() -> None:
    """The way in."""
    st.title("GRASP")
    st.write("Sign in to see this page.")
    st.button("Sign in", type="primary", icon=":material/login:", on_click=st.login)


def say_not_admitted(reason: str) -> None:
    """Why somebody who has signed in may not see anything, and the way out."""
    st.title("GRASP")
    st.error(escape_markdown(reason))
    offer_sign_out()


def offer_sign_out() -> None:
    """The way out: a form, for no link of anybody else's may end a session."""
    address = server.shared().settings.base_path + SIGN_OUT
    st.html(
        f'<form class="{SIGN_OUT_FORM}" method="post" action="{address}"><button>Sign out</button></form>'
    )
