"""From a result back to the settings that made it."""

from __future__ import annotations

import streamlit as st

from grasp_core.spec import RunSpec
from pages._ui.links import go
from pages._ui.state import work


def change_and_run_again(spec: RunSpec) -> None:
    """A button to the Analysis page with this run's settings."""
    if st.button("Change and run again", icon=":material/tune:"):
        work().use_settings(spec.analysis)
        go("analysis")
