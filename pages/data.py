from __future__ import annotations

import streamlit as st

from pages._ui.columns import choose_columns
from pages._ui.files import file_slots
from pages._ui.links import go, link_to
from pages._ui.overview import show_overview, show_preview
from pages._ui.problems import load_or_list, show_notes
from pages._ui.state import work
from pages._ui.uploads import offer_deletion

st.title("Data")
st.write("Drop your files, check what was recognised, and see what was understood.")
file_slots()
offer_deletion()
session = work()
if session.annotations is None or session.guess is None:
    st.info(
        "CSV, TSV (also gzipped) or Parquet. The annotations file has one row per annotation, with columns "
        "for the item, the rater and the label; or it is a matrix with one row per item or per rater. The "
        "raters file has one row per rater, with gender, age, region or whatever else you know."
    )
    link_to("start", "No file at hand? Try the example on Start")
    st.stop()

st.header("Columns")
spec = choose_columns(session.annotations, session.raters, session.guess)
show_preview(session.annotations, session.raters)
dataset = load_or_list(spec) if spec else None
if dataset is None:
    st.stop()
st.header("What was understood")
show_overview(dataset, session.guess.axes)
show_notes(dataset)
if st.button("Continue to the analysis", type="primary", icon=":material/arrow_forward:"):
    go("analysis")
