"""What a run has found while its permutations go on: the same figures and tables, marked as provisional."""

from __future__ import annotations

import streamlit as st

from grasp_core.report.so_far import what_is_provisional
from pages._ui.result.figures import show_cohesion, show_dsi
from pages._ui.result.groups import draw_groups
from pages._ui.shell.page_style import PROVISIONAL
from pages._ui.widgets.shown import Shown


def show_so_far(shown: Shown) -> None:
    """Draw what is known; answer, methods and files come with the final result."""
    with st.container(key=PROVISIONAL):
        st.info(what_is_provisional(shown.result), icon=":material/pending:")
        st.header("Which axis should recruitment watch?")
        show_dsi(shown)
        st.header("Agreement inside and across groups")
        show_cohesion(shown)
        st.header("Groups")
        draw_groups(shown)
