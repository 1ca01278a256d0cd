"""Saved runs, one below the other: what they are, and what can be done with them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from grasp_core import server
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.runs.progress import cancel, show_progress
from pages._ui.runs.run_edit import delete, edit
from pages._ui.runs.selected_runs import pick
from pages._ui.session.identity import owner_names
from pages._ui.session.permissions import may_manage
from pages._ui.session.projects import here
from pages._ui.session.times import exactly, lasted, told
from pages._ui.shell.links import link_to_run

_EVERY_S = 1.0
_PER_PAGE = 20
_NOTE_SHOWN = 300
_STATES = {
    "done": ":material/check_circle: done",
    "failed": ":material/error: failed",
    "cancelled": ":material/block: cancelled",
    "running": ":material/hourglass_top: running",
    "queued": ":material/schedule: waiting",
}


@st.fragment(run_every=_EVERY_S)
def watch_all(ids: Sequence[str]) -> None:
    """Progress of the runs that have not ended; when one does, draw the page anew."""
    going_on = [run for run in map(here().runs.get, ids) if run is not None and not run.ended]
    if len(going_on) < len(ids):
        st.rerun()
    names = owner_names(run.owner for run in going_on)
    for run in going_on:
        with st.container(border=True, key=f"running-{run.id}"):
            link_to_run(run.id, run.title)
            _facts(run, names[run.owner])
            show_progress(run)
            if may_manage(run.owner, run.project) and not run.cancel_requested:
                st.button(
                    "Cancel",
                    key=f"cancel-{run.id}",
                    icon=":material/stop_circle:",
                    on_click=cancel,
                    args=(run,),
                )


def list_runs(runs: Sequence[RunRecord]) -> None:
    """Ended runs, a page of them at a time."""
    pages = -(-len(runs) // _PER_PAGE)
    page = min(st.session_state.get("runs-page", 1), pages)
    shown = runs[(page - 1) * _PER_PAGE : page * _PER_PAGE]
    names = owner_names(run.owner for run in shown)
    for run in shown:
        with st.container(border=True, key=f"run-{run.id}", gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                link_to_run(run.id, run.title)
                pick(run)
                edit(run)
                delete(run)
            if run.verdict:
                st.markdown(escape_markdown(run.verdict))
            _facts(run, names[run.owner])
            if run.note:
                st.markdown(escape_markdown(_shortened(run.note)))
    if pages > 1:
        st.pagination(pages, key="runs-page")


def _facts(run: RunRecord, owner: str) -> None:
    facts = [f"made by {owner}"] if owner else []
    facts += [told(run.created_at), f"{run.total:,} permutations"]
    if run.duration_s is not None:
        facts.append(f"took {lasted(run.duration_s)}")
    if run.tags:
        facts.append(f"tagged {', '.join(run.tags)}")
    days = server.shared().settings.keep_runs_days
    if days and run.finished_at is not None:
        facts.append(f"kept until {exactly(run.finished_at + days * 86400)}")
    st.caption(f"{_STATES[run.state]} · {escape_markdown(' · '.join(facts))}")


def _shortened(note: str) -> str:
    return note if len(note) <= _NOTE_SHOWN else f"{note[:_NOTE_SHOWN].rstrip()} …"
