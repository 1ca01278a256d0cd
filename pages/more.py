"""Screens that are not in the menu, each with its purpose."""

import streamlit as st

from pages._ui.helpers.identity import current_user
from pages._ui.helpers.screens import for_person

st.title("More")
for screen in for_person(current_user()):
    if screen.more:
        st.page_link(f"{screen.name}.py", label=f"**{screen.title}**: {screen.more}", icon=screen.icon)
