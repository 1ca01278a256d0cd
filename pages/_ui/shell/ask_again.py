"""A saved run asked again with something else in its spec, on the run's own files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st

from grasp_core import server
from grasp_core.errors import DataError
from grasp_core.report.findings.mending import ways_back
from grasp_core.report.words.text import escape_markdown
from grasp_core.spec import RunSpec
from grasp_core.store.runs import RunRecord
from pages._ui.session.identity import current_user
from pages._ui.session.permissions import require_run, why_not_run
from pages._ui.session.state import submit
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


def ask_again(run: RunRecord, spec: RunSpec) -> None:
    """Read the run's files under another spec, run it in the run's project, and show that run.

    Raises
    ------
    AccessError
        If the session's person may not run in that project.
    """
    require_run(run.project)
    try:
        with st.spinner("Reading the data"):
            dataset = server.shared().service.data_of(replace(run, spec=spec))
            again = submit(dataset, spec, 0.0, project=run.project)
    except DataError as error:
        st.warning(escape_markdown(str(error)))
        return
    go("results", run_id=again.id)


def offer_ways_back(saved: Saved) -> None:
    """What was left out or held alike by one click, each with the click that takes it back."""
    found = list(ways_back(saved.run.spec))
    if not found or not saved.may_be_asked_again:
        return
    for place, back in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(back.mended, width="content")
            if st.button(back.mend.label, icon=":material/undo:", key=f"back-{place}"):
                ask_again(saved.run, back.mend.spec)
