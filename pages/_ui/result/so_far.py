"""What a run has found while its permutations go on: the same figures and tables, marked as provisional."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from grasp_core.report.words.so_far import what_is_provisional
from grasp_core.result import RunResult
from pages._ui.result.whole_result import show_result
from pages._ui.shell.page_style import PROVISIONAL
from pages._ui.widgets.shown import Shown

MORE = 1.5
"""Charts are drawn anew once there are so many times as many permutations: it is most of a browser's work."""


def show_so_far(shown: Shown) -> None:
    """Draw what is known; answer, methods and files come with the final result."""
    shown = replace(shown, charted=_charted(shown))
    with st.container(key=PROVISIONAL):
        st.info(what_is_provisional(shown.result), icon=":material/pending:")
        show_result(shown)


def _charted(shown: Shown) -> RunResult:
    """The result of which charts were drawn last, unless the newest says much more."""
    key = f"charted-{shown.key}"
    before: RunResult | None = st.session_state.get(key)
    if before is None or shown.result.permutations >= MORE * before.permutations:
        st.session_state[key] = before = shown.result
    return before
