"""A run that is still going: how far, how long, and a way to stop it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from grasp_core import server
from grasp_core.engine.pools.blocks import Progress
from grasp_core.errors import AccessError
from grasp_core.report.public_view import public_view
from grasp_core.result import Result
from grasp_core.store.runs import RunRecord
from pages._ui.session.permissions import may_manage, require_manage
from pages._ui.session.projects import here, stores_of

_EVERY_S = 1.0
FIRST_S = 2.0
"""How long a page waits for the first result, which most runs have by then."""


def once_known(run: RunRecord) -> RunRecord:
    """The run as it is once something of it is known, or after a moment."""
    if run.ended:
        return run
    server.shared().service.wait(run.id, FIRST_S)
    return stores_of(run).runs.get(run.id) or run


@st.fragment(run_every=_EVERY_S)
def watch(run_id: str, show: Callable[[Result], None]) -> None:
    """Show how far the run is and what it has found so far; when it ends, draw the page anew."""
    run = here().runs.get(run_id)
    if run is None or run.ended:
        st.rerun()
    show_progress(run)
    st.caption("The run goes on when you close this page; its address leads back to it.")
    if may_manage(run.owner, run.project) and st.button("Cancel the run", icon=":material/stop_circle:"):
        cancel(run)
        st.rerun()
    found = server.shared().service.provisional(run.id)
    if found is not None:
        show(found)


@st.fragment(run_every=_EVERY_S)
def watch_from_outside(
    asked: RunRecord, show: Callable[[Result], None], check: Callable[[], None], *, small_groups: bool
) -> None:
    """The same for people without an account, as long as their link works, with what it shows."""
    try:
        check()
    except AccessError:
        st.rerun()
    run = stores_of(asked).runs.get(asked.id)
    if run is None or run.ended:
        st.rerun()
    show_progress(run)
    found = server.shared().service.provisional(run.id)
    if found is not None:
        show(public_view(found, small_groups=small_groups))


def show_progress(run: RunRecord) -> None:
    """How far the run is."""
    progress = server.shared().service.progress(run)
    share = min(progress.done / progress.total, 1.0) if progress.total else 0.0
    st.progress(share, text=how_far(run, progress))


def how_far(run: RunRecord, progress: Progress) -> str:
    """The same in words; an adaptive run may stop before all its permutations."""
    if run.state == "queued":
        return "Waiting for another run to finish"
    if run.cancel_requested:
        return "Being cancelled"
    most = "at most " if run.spec.analysis.adaptive else ""
    of = "" if progress.of is None else f" of {progress.of}"
    left = _time_left(progress.seconds_left)
    return f"{progress.done:,} of {most}{progress.total:,} permutations{of}{left}"


def cancel(run: RunRecord) -> None:
    """Stop the run, if the visitor may."""
    require_manage(run.owner, run.project)
    server.shared().service.cancel(run.id)


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 1.5:
        return ", about 1 second left"
    if seconds < 90:
        return f", about {seconds:.0f} seconds left"
    if seconds < 5400:
        return f", about {seconds / 60:.0f} minutes left"
    return f", about {seconds / 3600:.1f} hours left"
