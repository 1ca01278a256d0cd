import streamlit as st

from pages._ui.helpers.identity import stores
from pages._ui.helpers.screens import link_to
from pages._ui.helpers.state import shown_run
from pages._ui.one_run import show_run

run = shown_run()
if run is not None:
    show_run(run)
else:
    st.title("Results")
    if "run" in st.query_params:
        st.warning(
            "This run is not on this server, or not for you: the link may be incomplete, the run may have "
            "been deleted, or its project is one that you do not belong to. Open the saved result on Start, "
            "or run the analysis again."
        )
    elif stores().runs.search(limit=1):
        st.info("No result is open here. Everything that was run is under Runs.")
        link_to("runs", "Go to Runs")
    else:
        st.info("Nothing has been run yet.")
    link_to("start", "Go to Start")
    link_to("data", "Go to Data")
