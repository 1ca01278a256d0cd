"""The choice of slices on the Analysis page."""

from __future__ import annotations

import streamlit as st

from grasp_core.io.dataset.load import Dataset
from grasp_core.report.words.names import one_line
from grasp_core.wording import number
from pages._ui.session.state import work


def choose_slices(dataset: Dataset) -> tuple[str, ...]:
    """Columns that describe items, for each of whose values the groups are computed once more."""
    session = work()
    known = dataset.attributes
    if not known:
        return ()
    start = session.settings.slices if session.settings else ()
    chosen: list[str] = st.multiselect(
        "Slices (optional)",
        list(known),
        default=[name for name in start if name in known],
        format_func=lambda name: f"{one_line(name)} ({number(len(known[name].values), 'value')})",
        key=f"slices-{session.generation}-{session.settings_generation}",
        persist_state="session",
        placeholder="None; choose columns that describe items",
        help="All groups are computed once more on the items of each value, such as each topic.",
    )
    return tuple(chosen)
