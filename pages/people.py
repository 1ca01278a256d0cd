from __future__ import annotations

import streamlit as st

from pages._ui.account.everybody import list_people
from pages._ui.session.permissions import require_admin

user = require_admin()
st.title("People")
st.write("Everybody who has signed in. What you change here holds within seconds, in open tabs too.")
list_people(user)
