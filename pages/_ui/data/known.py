"""A format or data set that was recognised, and the way straight to the published set-up."""

from __future__ import annotations

import time

import streamlit as st

from grasp_core.errors import DataError
from grasp_core.io.guess.recognise import Guess
from grasp_core.io.handling.limited import loaded
from grasp_core.report.words.text import escape_markdown
from grasp_core.spec import PAPER_CONVENTIONS, AnalysisSpec, RunSpec
from pages._ui.session.state import submit, work
from pages._ui.shell.links import go


def say_what_is_known(guess: Guess) -> None:
    """Name the format; a published set-up can be run at once."""
    recipe = guess.recipe
    if recipe is None:
        return
    done = "".join(f"\n- {escape_markdown(sentence)}" for sentence in recipe.sentences)
    st.success(escape_markdown(f"Recognised: {recipe.name}.") + done, icon=":material/fact_check:")
    if recipe.paper and st.button(
        "Run as published",
        type="primary",
        icon=":material/play_arrow:",
        help="The paper's groups, labels and conventions, without the raters whom its authors left out; "
        "everything below can be changed instead.",
    ):
        _run_as_published(guess)


def _run_as_published(guess: Guess) -> None:
    session = work()
    recipe = guess.recipe
    if recipe is None or session.annotations is None:
        return
    started = time.perf_counter()
    try:
        dataset = loaded(session.annotations, session.raters, guess.advised, items=session.items)
    except DataError as error:
        st.error(escape_markdown(str(error)))
        return
    session.use_dataset(dataset, guess.advised, time.perf_counter() - started)
    analysis = AnalysisSpec(axes=recipe.axes, **PAPER_CONVENTIONS)
    session.use_settings(analysis)
    go("results", run_id=submit(dataset, RunSpec(guess.advised, analysis), session.load_s).id)
