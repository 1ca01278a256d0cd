import streamlit as st

from grasp_core.model.errors import SpecError
from pages._ui.helpers.screens import for_pages
from pages._ui.plan import choose_assumed, choose_from_run, chosen_run, offer, show_asked

st.title("Plan")
st.write(
    "Whom do you have to recruit, and how many items have to be labelled, to find a difference next time?"
)
_SOURCES = ("A run as pilot", "Assumed figures")
source = st.segmented_control(
    "Plan from", _SOURCES, default=_SOURCES[0], required=True, key="plan-from", bind="query-params"
)
run = chosen_run() if source == _SOURCES[0] else None
if run is None and source == _SOURCES[0]:
    st.info("There is no result of groups here yet: run an analysis, or plan from assumed figures.")
else:
    try:
        offer(choose_assumed() if run is None else choose_from_run(run))
    except SpecError as error:
        st.error(for_pages(str(error)))
    show_asked(run)
