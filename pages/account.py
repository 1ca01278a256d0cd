import streamlit as st

from grasp_core.model.text import escape_markdown
from pages._ui.helpers.identity import VIEWERS_LOOK, current_user
from pages._ui.helpers.page_frame import offer_sign_out
from pages._ui.people import list_sessions, show_own_links, show_tokens

_MAY = {
    "viewer": VIEWERS_LOOK,
    "analyst": "Your role on this server is analyst: you may see every run, start runs, and rename, share "
    "and delete your own.",
    "admin": "Your role on this server is admin: you may see, rename, share and delete every run.",
}

user = current_user()
st.title("Account")
if user.id:
    st.write(f"Signed in as **{escape_markdown(user.name)}** ({escape_markdown(user.email)}).")
    st.write(_MAY[user.role])
    if user.email and not user.holds_address:
        st.warning(
            "Another account signed in with your mail address first. Until an admin assigns it to you, on "
            "*People*, you have no role and no project by it.",
            icon=":material/alternate_email:",
        )
    offer_sign_out()
    list_sessions(user)
    show_tokens(user)
else:
    st.write("This server asks nobody to sign in: everybody who can reach it may do everything.")
show_own_links(user)
