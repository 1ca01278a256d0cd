from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from grasp_core.engine.run import check_order
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import GraspError, SpecError
from grasp_core.model.groups import one_line
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import escape_markdown
from grasp_core.reading.dataset.load import Dataset
from pages._ui.analysis import (
    choose_axes,
    choose_conventions,
    choose_given,
    choose_how_profiles_move,
    choose_level,
    choose_numbers,
    choose_pairs,
    choose_preset,
    choose_slices,
    choose_statistics,
    proposal_of,
    say_what_is_compared,
    say_who_rated_what,
)
from pages._ui.data.columns import choose_question
from pages._ui.data.decisions import kept_raters
from pages._ui.helpers.drafts import keep_draft, resume_draft
from pages._ui.helpers.navigation import go, link_to
from pages._ui.helpers.page_style import ALWAYS_THERE
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


def _choose(dataset: Dataset) -> dict[str, Any]:
    names = tuple(dataset.raters.axes)
    if not names:
        st.info(
            "Nothing is known of the raters, so there are no groups to compare: this tells how well all of "
            "them agree, on which labels, and who differs. Add a file with their age, gender or background "
            "on Data to compare groups."
        )
        return {
            "axes": (),
            "slices": choose_slices(dataset),
            "level": choose_level(dataset.questions, proposal_of(dataset.questions)),
        }
    choose_preset()
    st.header("Who is compared")
    axes = choose_axes(names, tuple(name for name in work().proposed_axes if name in names))
    slices = choose_slices(dataset)
    st.header("What is computed")
    statistics = choose_statistics()
    numbers = choose_numbers(dataset, axes, slices)
    pairs = choose_pairs(dataset, axes, numbers["min_raters"])
    proposal = proposal_of(dataset.questions)
    level = None if proposal is None else choose_level(dataset.questions, proposal)
    strata, cluster = choose_how_profiles_move(names)
    given = choose_given(names, axes, strata)
    with st.expander("Advanced"):
        conventions = choose_conventions()
        conventions["level"] = level or choose_level(dataset.questions, None)
    return {
        "axes": axes,
        "statistics": statistics,
        "pairs": pairs,
        "slices": slices,
        "strata": strata,
        "cluster": cluster,
        "given": given,
        **numbers,
        **conventions,
    }


def _in_order(dataset: Dataset, spec: RunSpec) -> RunSpec | None:
    """The spec with the order of its labels; None while nobody says that the one shown is right."""
    try:
        check_order(dataset, spec)
    except SpecError as error:
        shown = " < ".join(map(one_line, dataset.summary.categories))
        st.warning(escape_markdown(f"{error.sentence[0].upper()}{error.sentence[1:]}."))
        if st.checkbox(escape_markdown(f"They rank so: {shown}"), key=work().key(f"order-{shown}")):
            return replace(spec, data=replace(spec.data, categories=dataset.summary.categories))
        return None
    return spec


def _offer_run(dataset: Dataset, reading: DataSpec, load_s: float) -> None:
    try:
        spec = RunSpec(reading, AnalysisSpec(**_choose(dataset)))
    except GraspError as error:
        st.error(escape_markdown(str(error)))
        return
    if dataset.raters.axes and not spec.analysis.axes:
        st.error("Choose at least one demographic axis.")
        return
    ranked = _in_order(dataset, spec)
    if ranked is None:
        return
    if spec.analysis.axes and not say_what_is_compared(dataset, spec.analysis):
        return
    spec = ranked
    keep_draft(spec.analysis)
    if spec.analysis.axes:
        say_who_rated_what(dataset, spec.analysis)
    with st.container(key=ALWAYS_THERE, horizontal=True, horizontal_alignment="right"):
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
