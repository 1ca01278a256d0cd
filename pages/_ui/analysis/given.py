"""The choice of axes given which the others are tested, on the Analysis page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from grasp_core.groups import AxisSet
from grasp_core.report.words.names import one_line
from pages._ui.session.state import work


def choose_given(names: Sequence[str], axes: Sequence[AxisSet], strata: Sequence[str]) -> tuple[str, ...]:
    """Axes given which the others are tested once more; offered where there is another, and no stratum."""
    possible = [name for name in names if name not in strata and any(name not in of for of in axes)]
    session = work()
    start = session.settings.given if session.settings else ()
    if not possible or len(names) < 2:
        return ()
    chosen: list[str] = st.multiselect(
        "Given another axis (optional)",
        possible,
        default=[name for name in start if name in possible],
        format_func=one_line,
        key=f"given-{session.generation}-{session.settings_generation}",
        persist_state="session",
        placeholder="None; choose axes that may stand behind the others",
        help="The other axes are tested once more, with profiles shuffled within the values of each axis "
        "chosen here: what is left of race, given age.",
    )
    return tuple(chosen)
