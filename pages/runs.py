import streamlit as st

from grasp_core.server import server
from pages._ui.helpers.screens import link_to
from pages._ui.runs import find_runs, list_runs, offer_comparison, show_side_by_side, watch_all


def _show_runs() -> None:
    st.query_params.clear()  # a link back from a comparison leaves the two run ids in the address
    st.title("Runs")
    days = server.shared().settings.keep_runs_days
    kept = (
        f"for {days:g} day{'' if days == 1 else 's'} after they ended" if days else "until they are deleted"
    )
    st.write(f"Every run of this project, latest first. Runs are kept {kept}.")
    runs = find_runs()
    if not runs:
        link_to("start", "Try the example or open a saved result on Start")
        return
    running = [run for run in runs if not run.ended]
    if running:
        st.header("Still going")
        watch_all([run.id for run in running])
        st.header("Ended")
    offer_comparison()
    list_runs([run for run in runs if run.ended])


a, b = (st.query_params.get(name) for name in ("a", "b"))
if a and b:
    show_side_by_side(a, b)
else:
    _show_runs()
