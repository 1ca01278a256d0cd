"""Entry script: it runs first at every page view."""

import streamlit as st

from grasp_core.model.errors import AccessError
from grasp_core.model.text import escape_markdown
from pages._ui.helpers.identity import ADMINS_ONLY, note_refusal, visitor, why_not_run
from pages._ui.helpers.page_frame import audiences, choose_project, offer_sign_out, show_error
from pages._ui.helpers.screens import BEFORE_HELP, ICON, SCREENS, mend


def view() -> None:
    """Find out who is visiting, and show the page if they may see it."""
    st.set_page_config(page_title="GRASP", page_icon=ICON, layout="wide")
    mend()
    user, refusal, failure = None, None, None
    try:
        user = visitor(seen=True)
    except AccessError as error:
        refusal = str(error)
    except Exception as error:  # e.g. the database is unreachable, so no visitor is known
        failure = error
    by_page = audiences(user)
    asked = (st.context.url or "").rpartition("/")[2]
    alone = asked in [screen.name for screen in SCREENS if screen.audience == "everybody"]
    page = st.navigation(list(by_page), position="top" if user and not alone else "hidden")
    audience = by_page[page]
    if page.url_path != "help":
        st.session_state[BEFORE_HELP] = page.url_path
    try:
        if failure:
            show_error(failure)
        elif audience == "everybody":
            page.run()
        elif refusal:
            st.title("GRASP")
            st.error(escape_markdown(refusal))
            offer_sign_out()
        elif user is None:
            st.title("GRASP")
            st.write("Sign in to see this page.")
            st.button("Sign in", type="primary", icon=":material/login:", on_click=st.login)
        else:
            if audience == "admins" and not user.may_administer:
                refusal = ADMINS_ONLY
            else:
                choose_project()
                refusal = why_not_run(user) if audience == "analysts" else None
            if refusal is None:
                page.run()
            else:
                st.title(page.title)
                st.info(refusal)
                note_refusal(page.title)
    except Exception as error:  # app.py catches those of fragments and callbacks, which run outside this call
        show_error(error)


# A new worker process loads this file as its parent's main module, under another name: it shows no page.
if __name__ == "__main__":
    view()
