from __future__ import annotations

import streamlit as st

from pages._ui.account import list_people
from pages._ui.session.identity import require_admin

user = require_admin()
st.title("People")
st.write("Everybody who has signed in. What you change here holds within seconds, in open tabs too.")
list_people(user)
