"""From a result back to the settings that made it, or at once to the same run with others."""

from __future__ import annotations

import streamlit as st

from grasp_core.remarks.remark import Remark
from grasp_core.report.findings.mending import mend
from grasp_core.report.words.text import escape_markdown
from grasp_core.spec import AnalysisSpec, RunSpec
from pages._ui.session.state import work
from pages._ui.shell.ask_again import Saved, ask_again
from pages._ui.shell.links import go


def change_and_run_again(spec: RunSpec) -> None:
    """A button to the page where this run was asked, with its settings."""
    if st.button("Change and run again", icon=":material/tune:"):
        _change(spec, spec.analysis)


def way_to_mend(saved: Saved, warning: Remark, place: int) -> None:
    """A button that runs a run again as mends a warning of it, or leads to where that is chosen."""
    run = saved.run
    found, key = mend(warning, run.spec), f"mend-{place}"
    if found is None:
        return
    leaves_out = found.spec.data.screens != run.spec.data.screens
    icon = ":material/person_remove:" if leaves_out else ":material/build:"
    if found.spec != run.spec and saved.may_be_asked_again:
        if st.button(escape_markdown(found.label), icon=icon, key=key):
            ask_again(run, found.spec)
    elif found.on_data:
        if st.button(escape_markdown(found.on_data), icon=icon, key=key):
            go("data")
    elif st.button(escape_markdown(found.label), icon=icon, key=key):
        _change(run.spec, found.spec.analysis)


def _change(spec: RunSpec, analysis: AnalysisSpec) -> None:
    work().use_settings(analysis)
    go("models" if spec.models else "analysis")
