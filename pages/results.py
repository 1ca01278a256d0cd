from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.report.text import escape_markdown
from pages._ui.answer import show_answer, show_facts
from pages._ui.figures import show_cohesion, show_dsi
from pages._ui.groups import show_groups
from pages._ui.links import link_to
from pages._ui.methods import show_data, show_methods, show_warnings
from pages._ui.outputs import result_downloads
from pages._ui.progress import watch
from pages._ui.rerun import change_and_run_again
from pages._ui.state import shown_run, work

run = shown_run()
if run is None:
    st.title("Results")
    if "run" in st.query_params:
        st.warning(
            "This run is not on this server: the link may be incomplete, or the run has been deleted. Open "
            "the saved result on Start, or run the analysis again."
        )
    else:
        st.info("Nothing has been run yet.")
    link_to("start", "Go to Start")
    link_to("data", "Go to Data")
    st.stop()

st.title(escape_markdown(run.title))
if not run.ended:
    watch(run.id)
    st.stop()
if run.state != "done":
    st.warning(
        "This run was cancelled."
        if run.state == "cancelled"
        else escape_markdown(run.error or "This run failed.")
    )
    change_and_run_again(run.spec)
    st.stop()

result = server.shared().service.result(run.id)
show_facts(result)
if work().found_again == run.id:
    st.caption("The same data and settings were run before: this is that result, found again.")
with st.container(horizontal=True):
    result_downloads(run.id, result)
    change_and_run_again(run.spec)
show_answer(result)
st.header("Which axis should recruitment watch?")
show_dsi(run.id, result)
st.header("Agreement inside and across groups")
show_cohesion(run.id, result)
st.header("Groups")
show_groups(run.id, result)
st.header("Methods")
show_methods(result)
st.header("Warnings", anchor="warnings")
show_warnings(result)
st.header("Data", anchor="data")
show_data(result)
