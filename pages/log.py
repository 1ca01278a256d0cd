import streamlit as st

from pages._ui.helpers.identity import require_admin
from pages._ui.people import show_log

require_admin()
st.title("Log")
st.write(
    "Who did what to which object when. Entries are added and never changed; they hold nothing of raters."
)
show_log()
