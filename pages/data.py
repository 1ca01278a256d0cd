from functools import partial

import streamlit as st

from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.dataset.load import Dataset
from pages._ui.data import decisions, files, quality, remembered
from pages._ui.data.arriving import offer_deletion
from pages._ui.data.columns import choose_columns
from pages._ui.data.recoding import choose_recoding
from pages._ui.helpers.screens import go, link_to
from pages._ui.helpers.state import work
from pages._ui.helpers.widgets import button, when_open

_WHAT_TO_BRING = (
    "The **labels**: a row per annotation, or a matrix of items and raters. What you know of the **raters**, "
    "in a file of its own or in the same one: gender, age, region and the like. Topics or languages of the "
    "**items**, to look at each by itself.\n\n"
    "CSV, TSV, Excel, ODS, JSON, Parquet, Arrow, SPSS or Stata, also zipped, and a file or sheet per "
    "annotator. Exports of Label Studio, Prodigy, doccano, Argilla, INCEpTION, Potato, Mechanical Turk, "
    "Prolific, Qualtrics, SurveyMonkey, SoSci Survey, Zooniverse, LeWiDi and Hugging Face are known, and "
    "DICES, D3CODE, POPQUORN and MultiPICo as published."
)


def _decide() -> tuple[bool, Dataset | None]:
    """Draw the questions in the page's order; return whether the columns are chosen, and the data set."""
    session = work()
    guess = session.guess
    if session.annotations is None or guess is None:
        return False, None
    understood, heads = st.container(), st.container(key="roles", horizontal=True, gap=None)
    remembered.say_what_is_known(guess)
    remembered.say_what_is_remembered()
    inside = {one.field for one in guess.uncertain} - {"item", "rater", "label"}
    opened = bool(inside) or bool(session.recode)
    more = st.expander("Change how the files are read", expanded=opened, icon=":material/tune:")
    first = st.container()
    spec = choose_columns(guess, heads, more)
    if spec is None:
        session.use_dataset(None, None)
        understood.title("Data")
        return False, None
    with more:
        begun = choose_recoding(spec)
        spec = decisions.choose_exclusions(spec, guess)
    session.chosen = spec
    with first:
        heading = st.empty()
        dataset = decisions.decide(spec, guess)
        session.open += ("the step begun under Recode values: apply it, or choose none",) if begun else ()
        if session.asked or dataset is None:
            heading.header("Decide first")
    with understood:
        if dataset is None:
            st.title("Data")
        else:
            quality.say_what_was_understood(dataset)
            quality.say_what_is_no_axis(guess, dataset, spec)
    return True, dataset


remembered.resume_draft()
if work().annotations is None:
    st.title("Data")
    files.drop_zone()
    opened = files.opened_result()
    if opened is not None:
        go("results", run_id=opened.id)
    files.say_messages()
    if work().raters is not None or work().items is not None:
        files.show_files(adding=False)
        st.info("Now add the labels that these raters gave.")
    files.other_ways()
    with st.expander("Which files are read", icon=":material/help:"):
        st.markdown(_WHAT_TO_BRING)
    offer_deletion()
    link_to("start", "No file at hand? Try the example on Start")
else:
    files.show_files()
    remembered.say_what_was_found()
    files.say_messages()
    (chosen, dataset), session = _decide(), work()
    if dataset is not None:
        axes = tuple(name for name in session.proposed_axes if name in dataset.raters.axes)
        st.header("Good to know")
        if dataset.problems:
            label = f"{number(len(dataset.problems), 'note')} on these files"
            when_open(label, partial(decisions.list_problems, dataset.problems), key="notes")
        account = partial(decisions.show_account, dataset, axes)
        when_open(quality.account_title(dataset), account, key="account")
        overview = partial(quality.show_overview, dataset, axes)
        when_open("Labels, and raters by group", overview, key="overview")
        quality.show_quality(dataset, axes)
        quality.show_preview()
    remembered.keep_draft()
    with st.container(
        key="always-there", horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        if not chosen:
            left = "Something is still to be chosen above."
        elif dataset is None:
            left = "Something is to be mended first."
        elif session.open:
            more = f" and {number(len(session.open) - 1, 'more question')}" if len(session.open) > 1 else ""
            left = f"Still to be decided: {session.open[0]}{more}"
        else:
            left = "Everything is decided."
        st.markdown(escape_markdown(left))
        ready = chosen and dataset is not None and not session.open
        looks = {"type": "primary", "disabled": not ready}
        if button("Continue to the analysis", "arrow_forward", **looks):
            remembered.remember_reading(decisions.answers_to_keep())
            go("analysis")
