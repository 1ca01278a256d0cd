"""Entry script: what every page view does first."""

from __future__ import annotations

import streamlit as st

from pages._ui.guard import show_error
from pages._ui.look import ICON, mend

st.set_page_config(page_title="GRASP", page_icon=ICON, layout="wide")
mend()
page = st.navigation(
    [
        st.Page("start.py", title="Start", icon=":material/home:", default=True),
        st.Page("data.py", title="Data", icon=":material/table_view:"),
        st.Page("analysis.py", title="Analysis", icon=":material/tune:"),
        st.Page("results.py", title="Results", icon=":material/insights:"),
    ],
    position="top",
)
try:
    page.run()
except Exception as error:  # fragments and callbacks run outside this call: app.py hands theirs over
    show_error(error)
