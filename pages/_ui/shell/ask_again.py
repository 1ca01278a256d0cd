"""A run asked again with something else: on its own files, or on Analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import escape_markdown
from grasp_core.report.findings.mending import mend, ways_back
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.session.identity import current_user, require_run, stores_of, why_not_run
from pages._ui.session.state import KEPT_RATERS, submit, work
from pages._ui.shell.links import go


@dataclass(frozen=True)
class Saved:
    """A saved run as one drawing of a page has it."""

    run: RunRecord

    @cached_property
    def may_be_asked_again(self) -> bool:
        """Whether the session's person may run in its project, and its files are still there.

        Looked up once, when first needed: a page may offer many ways to go on.
        """
        allowed = why_not_run(current_user(), self.run.project) is None
        return allowed and server.shared().service.inputs.are_at_hand(self.run)

    @cached_property
    def kept(self) -> tuple[tuple[str, str], ...]:
        """Columns and values of raters who count although the data mark them."""
        found = stores_of(self.run).answers.find(self.run.id, KEPT_RATERS) or ()
        return tuple((column, value) for column, value in found)


def ask_again(run: RunRecord, spec: RunSpec) -> None:
    """Read the run's files under another spec, run it in the run's project, and show that run."""
    require_run(run.project)
    try:
        with st.spinner("Reading the data"):
            dataset = server.shared().service.data_of(replace(run, spec=spec))
            back = [one for one in run.spec.data.exclude if one not in spec.data.exclude]
            again = submit(dataset, spec, 0.0, project=run.project, kept=back)
    except DataError as error:
        st.warning(escape_markdown(str(error)))
        return
    go("results", run_id=again.id)


def offer_ways_back(saved: Saved) -> None:
    """What was left out, kept or held alike by one click, each with the click that takes it back."""
    found = list(ways_back(saved.run.spec, saved.kept))
    if not found or not saved.may_be_asked_again:
        return
    for place, back in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(back.mended, width="content")
            if st.button(back.mend.label, icon=":material/undo:", key=f"back-{place}"):
                ask_again(saved.run, back.mend.spec)


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
