import streamlit as st

from pages._ui.benchmark.baselines import show_baselines
from pages._ui.benchmark.leaderboard import show_leaderboard
from pages._ui.benchmark.people import show_human_baseline
from pages._ui.benchmark.submissions import benchmark_or_say, show_submission
from pages._ui.helpers.screens import go
from pages._ui.models import show_models_as_raters

_VIEWS = {
    "Whose judgements": show_models_as_raters,
    "Leaderboard": show_leaderboard,
    "Submit": show_submission,
    "Baselines": show_baselines,
    "People": show_human_baseline,
}

saved = st.query_params.get("saved")
if saved:  # an address from older versions, in which such a result was no run
    go("results", run_id=saved)
st.title("Models")
st.write(
    "A model is one more rater. See whose judgements it reproduces, and how it does on a benchmark of few "
    "labelled examples."
)
view = st.segmented_control(
    "View", list(_VIEWS), default="Whose judgements", required=True, key="models-view", bind="query-params"
)
if view == "Whose judgements" or benchmark_or_say():
    _VIEWS[view]()
