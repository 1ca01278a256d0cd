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

FIRST_S = 2.0
"""How long a page waits for the first result, which most runs have by then."""
SELDOM_S = 2.0
"""How seldom a page looks at a run at most: others beside it, which make news rarer, may end before it."""


def once_known(run: RunRecord) -> RunRecord:
    """The run as it is once something of it is known, or after a moment."""
    if run.ended:
        return run
    server.shared().service.wait(run.computed_as, FIRST_S)
    return stores_of(run).runs.get(run.id) or run


def watch(run_id: str, show: Callable[[Result], None]) -> None:
    """Show how far the run is and what it has found so far; when it ends, draw the page anew."""

    def look() -> None:
        run = _going(here().runs.get(run_id))
        st.caption("The run goes on when you close this page; its address leads back to it.")
        if may_manage(run.owner, run.project) and st.button("Cancel the run", icon=":material/stop_circle:"):
            cancel(run)
            st.rerun()
        found = server.shared().service.provisional(run.computed_as)
        if found is not None:
            show(found)

    _now_and_then(look, run_id)


def watch_from_outside(
    asked: RunRecord, show: Callable[[Result], None], check: Callable[[], None], *, small_groups: bool
) -> None:
    """The same for people without an account, as long as their link works, with what it shows."""

    def look() -> None:
        try:
            check()
        except AccessError:
            st.rerun()
        run = _going(stores_of(asked).runs.get(asked.id))
        found = server.shared().service.provisional(run.computed_as)
        if found is not None:
            show(public_view(found, small_groups=small_groups))

    _now_and_then(look, asked.id)


def _now_and_then(look: Callable[[], None], run_id: str) -> None:
    """Look as often as there is something new, for each look draws all that is known; it stays so.

    Only the whole page, drawn anew, sets how often; that would close a dialog that is open before it.
    """
    every_s = min(server.shared().service.news_every(run_id), SELDOM_S)
    st.fragment(look, run_every=every_s)()


def _going(run: RunRecord | None) -> RunRecord:
    """Show how far the run is; once it has ended, draw the page anew."""
    if run is None or run.ended:
        st.rerun()
    show_progress(run)
    return run


def show_progress(run: RunRecord) -> None:
    """How far the run is."""
    progress = server.shared().service.progress(run)
    share = progress.share
    if share is None:
        share = min(progress.done / progress.total, 1.0) if progress.total else 0.0
    st.progress(share, text=how_far(run, progress))


def how_far(run: RunRecord, progress: Progress) -> str:
    """The same in words; an adaptive run may stop before all its permutations."""
    if run.state == "queued":
        return "Waiting for another run to finish"
    if run.cancel_requested:
        return "Being cancelled"
    if progress.waiting is not None:
        return progress.waiting
    left = _time_left(progress.seconds_left)
    if progress.stages:
        return f"{progress.stages}{left}"
    most = "at most " if run.spec.analysis.adaptive else ""
    return f"{progress.done:,} of {most}{progress.total:,} permutations{left}"


def cancel(run: RunRecord) -> None:
    """Stop the run, if the visitor may."""
    require_manage(run.owner, run.project)
    server.shared().service.cancel(run.id)


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 5:
        return ", a few seconds left"
    if seconds < 90:
        return f", about {seconds:.0f} seconds left"
    if seconds < 5400:
        return f", about {seconds / 60:.0f} minutes left"
    return f", about {seconds / 3600:.1f} hours left"
