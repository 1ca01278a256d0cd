"""Reading the files under a spec, and what is wrong or odd about them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError, Problem
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.handling.limited import loaded
from grasp_core.report.words.text import escape_markdown
from pages._ui.data.repeated import offer_repeated
from pages._ui.session.state import work


def load_or_list(spec: DataSpec) -> Dataset | None:
    """The data set under this spec; where it cannot be formed, every problem that stops it."""
    session = work()
    if session.annotations is None:
        return None
    if session.dataset is None or session.data_spec != spec:
        started = time.perf_counter()
        try:
            dataset = loaded(session.annotations, session.raters, spec, items=session.items)
        except DataError as error:
            session.use_dataset(None, None)
            st.header("Problems to mend first")
            st.write("No analysis can run until these are mended, here or in the file.")
            _list(error.problems)
            offer_repeated(error.problems)
            return None
        session.use_dataset(dataset, spec, time.perf_counter() - started)
    return session.dataset


def show_notes(dataset: Dataset) -> None:
    """Notes on the data; none of them stops a run."""
    st.header("To know about")
    if not dataset.problems:
        st.write("Nothing odd was found.")
    _list(dataset.problems)


def _list(problems: Sequence[Problem]) -> None:
    for problem in problems:
        show = st.error if problem.stops else st.warning
        examples = "; ".join(problem.further_examples)
        shown = f" For example: {examples}." if examples else ""
        said = problem.count < 2 or problem.count in dict(problem.remark.numbers).values()
        count = "" if said else f" ({problem.count:,})"
        icon = ":material/block:" if problem.stops else ":material/info:"
        show(escape_markdown(f"{problem.message.rstrip('.')}{count}.{shown}"), icon=icon)
