"""From a result back to the settings that made it."""

from __future__ import annotations

import streamlit as st

from grasp_core.spec import RunSpec
from pages._ui.session.state import work
from pages._ui.shell.links import go


def change_and_run_again(spec: RunSpec) -> None:
    """A button to the page where this run was asked, with its settings."""
    if st.button("Change and run again", icon=":material/tune:"):
        work().use_settings(spec.analysis)
        go("models" if spec.models else "analysis")
