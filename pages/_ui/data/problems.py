"""Reading the files under a spec, and what is wrong or odd about them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from grasp_core.errors import DataError, Problem
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.handling.limited import loaded
from grasp_core.report.words.text import escape_markdown
from pages._ui.data.advised import Decided
from pages._ui.data.repeated import offer_repeated
from pages._ui.session.state import work


def load_or_list(decided: Decided) -> Dataset | None:
    """The data set by what was decided; where it cannot be formed, every problem that stops it.

    It can be analysed once no question is open.
    """
    session = work()
    if session.annotations is None:
        return None
    session.open = decided.open
    if session.shown is None or session.shown[1] != decided.spec:
        started = time.perf_counter()
        try:
            dataset = loaded(session.annotations, session.raters, decided.spec, items=session.items)
        except DataError as error:
            session.shown = None
            session.use_dataset(None, None)
            st.write("No analysis can run until this is mended, here or in the file.")
            list_problems(error.problems)
            offer_repeated(error.problems)
            return None
        session.shown = dataset, decided.spec, time.perf_counter() - started
    dataset, spec, seconds = session.shown
    if decided.open:
        session.use_dataset(None, None)
    elif session.dataset is not dataset:
        session.use_dataset(dataset, spec, seconds)
    return dataset


def list_problems(problems: Sequence[Problem]) -> None:
    """Each in a box: those that stop a run, and notes, which stop none."""
    for problem in problems:
        show = st.error if problem.stops else st.warning
        examples = "; ".join(problem.further_examples)
        shown = f" For example: {examples}." if examples else ""
        said = problem.count < 2 or problem.count in dict(problem.remark.numbers).values()
        count = "" if said else f" ({problem.count:,})"
        icon = ":material/block:" if problem.stops else ":material/info:"
        show(escape_markdown(f"{problem.message.rstrip('.')}{count}.{shown}"), icon=icon)
