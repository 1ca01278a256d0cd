"""Whether groups are compared with each other two by two."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from grasp_core.engine.cost import LONG_SECONDS, pairs_seconds
from grasp_core.groups import AxisSet
from grasp_core.io.dataset.load import Dataset
from pages._ui.session.state import work


def choose_pairs(dataset: Dataset, axes: Sequence[AxisSet], min_raters: int) -> bool:
    """Until somebody decides, pairs are compared unless that takes long."""
    session = work()
    key, decided = (
        f"{name}-{session.generation}-{session.settings_generation}" for name in ("pairs", "pairs-decided")
    )
    seconds = pairs_seconds(dataset, axes, min_raters) if axes else 0.0
    undecided = session.settings is None and decided not in st.session_state
    if undecided:
        st.session_state[key] = seconds <= LONG_SECONDS
    chosen = st.toggle(
        "Compare groups two by two",
        session.settings is not None and session.settings.pairs,
        key=key,
        persist_state="session",
        on_change=lambda: st.session_state.update({decided: True}),
        help="Holds each group of an axis against each other one: what these two say differently, whatever "
        "the others do. Profiles are shuffled among the two alone.",
    )
    if undecided and seconds > LONG_SECONDS:
        st.caption(
            f"Pairs of these groups take about {seconds:.0f} seconds on two cores, so they are left out by "
            "default."
        )
    return chosen
