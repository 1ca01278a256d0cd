from dataclasses import replace

import streamlit as st

from grasp_core.engine.run import check_order
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import GraspError, SpecError
from grasp_core.model.groups import one_line
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import escape_markdown
from grasp_core.reading.dataset.load import Dataset
from pages._ui.analysis import choose, say_what_is_compared, say_who_rated_what
from pages._ui.data.columns import choose_question
from pages._ui.data.decisions import kept_raters
from pages._ui.data.remembered import keep_draft, resume_draft
from pages._ui.helpers.screens import for_pages, go, link_to
from pages._ui.helpers.state import submit, work


def _say_what_to_load() -> None:
    if work().annotations is not None:
        st.info("Something about your files is still to be decided.")
        link_to("data", "Decide it on Data")
        return
    st.info(
        "Load the data first; the settings of the result you came from are kept."
        if work().settings
        else "There is no data to analyse yet."
    )
    link_to("data", "Go to Data")


def _in_order(dataset: Dataset, spec: RunSpec) -> RunSpec | None:
    """Return the spec with the order of its labels; None until somebody confirms the order shown."""
    try:
        check_order(dataset, spec)
    except SpecError as error:
        shown = " < ".join(map(one_line, dataset.summary.categories))
        st.warning(for_pages(f"{error.sentence[0].upper()}{error.sentence[1:]}."))
        if st.checkbox(escape_markdown(f"They rank so: {shown}"), key=work().key(f"order-{shown}")):
            return replace(spec, data=replace(spec.data, categories=dataset.summary.categories))
        return None
    return spec


def _offer_run(dataset: Dataset, reading: DataSpec, load_s: float) -> None:
    try:
        spec = RunSpec(reading, AnalysisSpec(**choose(dataset)))
    except GraspError as error:
        st.error(for_pages(str(error)))
        return
    if dataset.raters.axes and not spec.analysis.axes:
        st.info("Without an axis no groups are compared: this tells how well all raters agree.")
    ranked = _in_order(dataset, spec)
    if ranked is None:
        return
    if spec.analysis.axes and not say_what_is_compared(dataset, spec.analysis):
        return
    spec = ranked
    keep_draft(spec.analysis)
    if spec.analysis.axes:
        say_who_rated_what(dataset, spec.analysis)
    with st.container(key="always-there", horizontal=True, horizontal_alignment="right"):
        pressed = st.button("Run", type="primary", icon=":material/play_arrow:")
    if pressed:
        go("results", run_id=submit(dataset, spec, load_s, kept=kept_raters()).id)


resume_draft()
st.title("Analysis")
if work().dataset is None:
    _say_what_to_load()
else:
    st.write("Everything has a default: press Run, or change what you like first.")
    chosen = choose_question()
    if chosen is not None:
        _offer_run(*chosen)
