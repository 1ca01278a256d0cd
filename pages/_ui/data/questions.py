"""Several questions about the same items: chosen on Data; on Analysis together, or one by itself."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.handling.limited import loaded
from grasp_core.report.words.names import one_line
from grasp_core.report.words.text import escape_markdown
from grasp_core.wording import listed
from pages._ui.session.state import work
from pages._ui.shell.links import link_to


def choose_further(options: Sequence[str], guessed: Sequence[str], alike: Sequence[str]) -> list[str]:
    """Label columns of questions besides the first; `alike` look like questions, too, and come first."""
    chosen: list[str] = st.multiselect(
        "Further questions about the same items (optional)",
        list(dict.fromkeys([*alike, *options])),
        default=[name for name in guessed if name in options],
        key=work().key("further"),
        persist_state="session",
        placeholder="None; choose their label columns",
        help="They are then analysed together with the first, or one by itself: two raters differ by the "
        "share of questions that they answer differently. Any answer may be missing.",
    )
    if left := [name for name in alike if name not in chosen]:
        st.caption(escape_markdown(f"These look like further questions: {listed(left)}."))
    return chosen


def choose_question() -> tuple[Dataset, DataSpec, float] | None:
    """The data of all questions or of the one chosen, their reading, and the seconds that it took."""
    session = work()
    dataset, spec = session.dataset, session.data_spec
    if dataset is None or spec is None:
        return None
    if not spec.further:
        return dataset, spec, session.load_s
    names = ["All together", *(one_line(name) for name in spec.labels)]
    chosen = st.segmented_control(
        "Questions",
        range(len(names)),
        default=0,
        format_func=names.__getitem__,
        key=session.key("question"),
        persist_state="session",
        help="One answer for all questions together, or for one of them by itself.",
    )
    return _by_itself(spec.questions[chosen - 1]) if chosen else (dataset, spec, session.load_s)


def _by_itself(question: DataSpec) -> tuple[Dataset, DataSpec, float] | None:
    session = work()
    if session.annotations is None:
        return None
    if session.apart is None or session.apart[1] != question:
        started = time.perf_counter()
        try:
            dataset = loaded(session.annotations, session.raters, question, items=session.items)
        except DataError as error:
            st.error(escape_markdown(str(error)))
            return None
        session.apart = dataset, question, time.perf_counter() - started
    return session.apart


def one_question_only(spec: DataSpec) -> bool:
    """Whether there is one question; else says what would do, for what takes one alone."""
    if spec.further:
        st.info("This looks at one question at a time: take the further questions away on Data.")
        link_to("data", "Go to Data")
    return not spec.further
