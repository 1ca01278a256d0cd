"""From a result back to the settings that made it."""

from __future__ import annotations

import streamlit as st

from grasp_core.remarks.cautions import Caution
from grasp_core.remarks.remark import Remark
from grasp_core.report.mending import mend
from grasp_core.spec import AnalysisSpec, RunSpec
from pages._ui.session.state import work
from pages._ui.shell.links import go

_MENDED_ON_DATA = (Caution.RANDOM_RESPONDERS, Caution.CONSTANT_RATERS, Caution.NEAR_DUPLICATES)


def change_and_run_again(spec: RunSpec) -> None:
    """A button to the page where this run was asked, with its settings."""
    if st.button("Change and run again", icon=":material/tune:"):
        _change(spec, spec.analysis)


def way_to_mend(spec: RunSpec, warning: Remark, place: int) -> None:
    """A button to the settings that mend a warning of this run, or to the page that does, if any do."""
    if warning.code in _MENDED_ON_DATA:
        if st.button("Leave raters out on Data", icon=":material/person_remove:", key=f"mend-{place}"):
            go("data")
        return
    found = mend(warning, spec.analysis)
    if found is not None and st.button(found.label, icon=":material/build:", key=f"mend-{place}"):
        _change(spec, found.analysis)


def _change(spec: RunSpec, analysis: AnalysisSpec) -> None:
    work().use_settings(analysis)
    go("models" if spec.models else "analysis")
