from __future__ import annotations

import streamlit as st

from pages._ui.session.identity import current_user
from pages._ui.session.permissions import why_not_run
from pages._ui.session.state import work
from pages._ui.shell.links import go, link_to_run
from pages._ui.start.start_actions import open_result, try_example

st.title("GRASP")
st.markdown(
    "**Which groups of raters see this task differently, and is it real?** GRASP measures how much each "
    "group agrees with itself and with everyone else, and compares that with thousands of random groupings."
)
refusal = why_not_run(current_user())
viewer = refusal is not None
if refusal is not None:
    st.info(refusal)
example, own, saved = st.columns(3, border=True)
with example:
    st.header("Try the example", divider=False)
    st.write(
        "Made-up ratings in which two groups really do differ. No file needed; the answer takes seconds."
    )
    if st.button("Try the example", type="primary", icon=":material/play_arrow:", disabled=viewer):
        go("results", run_id=try_example().id)
with own:
    st.header("Bring your data", divider=False)
    st.write("A file with one row per annotation, or a matrix, and what you know of the raters.")
    if st.button("Bring your data", icon=":material/upload_file:", disabled=viewer):
        go("data")
with saved:
    st.header("Open a saved result", divider=False)
    st.write("The JSON file that Results, Models or the command line wrote. Nothing is computed again.")
    open_result(disabled=viewer)

if work().runs:
    st.header("Runs of this visit")
    for run_id, title in work().runs:
        link_to_run(run_id, title)
