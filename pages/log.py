from __future__ import annotations

import streamlit as st

from pages._ui.account import show_log
from pages._ui.session.identity import require_admin

require_admin()
st.title("Log")
st.write(
    "Who did what to which object when. Entries are added and never changed; they hold nothing of raters."
)
show_log()
