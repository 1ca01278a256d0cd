"""Everything that was found, in the same words and figures for colleagues and for strangers."""

from __future__ import annotations

import streamlit as st

from pages._ui.result.answer import show_answer
from pages._ui.result.cache import section
from pages._ui.result.figures import show_cohesion, show_dsi
from pages._ui.result.groups import draw_groups, show_groups
from pages._ui.result.methods import show_data, show_methods, show_warnings
from pages._ui.widgets.shown import Shown


def show_result(shown: Shown, *, check_often: bool = False) -> None:
    """Draw the result below its facts and buttons.

    Parameters
    ----------
    check_often : bool
        Let every interaction run the whole page, and so its checks, not only the part that changes.
    """
    key, result = shown.key, shown.result
    section(key, "answer", lambda: show_answer(result))
    st.header("Which axis should recruitment watch?")
    show_dsi(shown)
    st.header("Agreement inside and across groups")
    show_cohesion(shown)
    st.header("Groups")
    (draw_groups if check_often else show_groups)(shown)
    st.header("Methods")
    section(key, "methods", lambda: show_methods(result))
    st.header("Warnings", anchor="warnings")
    show_warnings(result)
    st.header("Data", anchor="data")
    section(key, "data", lambda: show_data(result))
