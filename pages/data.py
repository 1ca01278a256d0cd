from __future__ import annotations

import streamlit as st

from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.guess.recognise import Guess
from grasp_core.io.table.table import Table
from pages._ui.data.advised import answer_advice
from pages._ui.data.columns import choose_columns
from pages._ui.data.files import file_slots
from pages._ui.data.known import say_what_is_known
from pages._ui.data.leaving_out import choose_exclusions, show_account
from pages._ui.data.overview import show_overview, show_preview
from pages._ui.data.problems import load_or_list, show_notes
from pages._ui.data.quality import show_quality
from pages._ui.data.recoding import choose_recoding
from pages._ui.data.remembered import remember_reading, say_what_is_remembered
from pages._ui.data.uploads import offer_deletion
from pages._ui.session.state import work
from pages._ui.shell.links import go, link_to


def _say_what_to_bring() -> None:
    st.info(
        "The **annotations file** has one row per annotation, or it is a matrix of items and raters. The "
        "**raters file** has one row per rater, with gender, age, region or whatever else you know; the "
        "annotations file may say that instead. The **items file** has one row per item, with topic, kind of "
        "harm or language: results can then be had once more for each.\n\n"
        "Drop what your tool exports: CSV, TSV, Excel, ODS, JSON, Parquet, Arrow, SPSS or Stata, also "
        "zipped, and a file or sheet per annotator. Known are the "
        "exports of Label Studio, Prodigy, doccano, Argilla, INCEpTION, Potato, Mechanical Turk, Prolific, "
        "Qualtrics, SurveyMonkey, SoSci Survey, Zooniverse and LeWiDi, Hugging Face datasets, and DICES, "
        "D3CODE, POPQUORN and MultiPICo as published."
    )
    link_to("start", "No file at hand? Try the example on Start")


def _choose_reading(annotations: Table, guess: Guess) -> DataSpec | None:
    session = work()
    st.header("Columns")
    say_what_is_known(guess)
    say_what_is_remembered()
    spec = choose_columns(annotations, session.raters, session.items, guess)
    if spec is not None:
        choose_recoding(spec)
        spec = answer_advice(choose_exclusions(spec, guess), guess)
    show_preview(annotations, session.raters, session.items)
    return spec


def _say_what_was_understood(dataset: Dataset, axes: tuple[str, ...]) -> None:
    st.header("What was understood")
    show_overview(dataset, axes)
    show_account(dataset, axes)
    show_notes(dataset)
    show_quality(dataset, tuple(name for name in axes if name in dataset.raters.axes))


st.title("Data")
st.write("Drop your files, check what was recognised, and see what was understood.")
file_slots()
offer_deletion()
session = work()
if session.annotations is None or session.guess is None:
    _say_what_to_bring()
else:
    spec = _choose_reading(session.annotations, session.guess)
    dataset = load_or_list(spec) if spec else None
    if spec is not None and dataset is not None:
        _say_what_was_understood(dataset, session.proposed_axes)
        if st.button("Continue to the analysis", type="primary", icon=":material/arrow_forward:"):
            remember_reading(spec, session.proposed_axes)
            go("analysis")
