import streamlit as st

from pages._ui.helpers.identity import stores
from pages._ui.helpers.screens import link_to
from pages._ui.watch import follow, show_watch

st.title("Watch")
st.write(
    "A watch looks at the files of a run, and runs the same again when they have changed. Here is what "
    "changed from run to run: what moved further than noise explains, and what did not."
)
watches = stores().watches.all()
if not watches:
    st.info(
        "Nothing is watched in this project. Open a result under Runs and press Watch; that is possible "
        "where its files are in this server's folder or at an address that it may read."
    )
    link_to("runs", "Go to Runs")
follow(watches)
for watch in watches:
    show_watch(watch)
