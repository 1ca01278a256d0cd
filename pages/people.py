import streamlit as st

from pages._ui.helpers.identity import require_admin
from pages._ui.people import list_people

user = require_admin()
st.title("People")
st.write("Everybody who has signed in. What you change here holds within seconds, in open tabs too.")
list_people(user)
