"""A run that is still going: how far, how long, and a way to stop it."""

from __future__ import annotations

import math
import time
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
SHARE = 5
"""Looks at a run take at most one part of so many of the time, so that others' pages are not kept waiting."""


def once_known(run: RunRecord) -> RunRecord:
    """The run as it is once something of it is known, or after a moment."""
    if run.ended:
        return run
    server.shared().service.wait(run.id, FIRST_S)
    return stores_of(run).runs.get(run.id) or run


def watch(run_id: str, show: Callable[[Result], None]) -> None:
    """Show how far the run is and what it has found so far; when it ends, draw the page anew."""

    def look() -> None:
        run = _going(here().runs.get(run_id))
        st.caption("The run goes on when you close this page; its address leads back to it.")
        if may_manage(run.owner, run.project) and st.button("Cancel the run", icon=":material/stop_circle:"):
            cancel(run)
            st.rerun()
        found = server.shared().service.provisional(run.id)
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
        found = server.shared().service.provisional(run.id)
        if found is not None:
            show(public_view(found, small_groups=small_groups))

    _now_and_then(look, asked.id)


def _now_and_then(look: Callable[[], None], run_id: str) -> None:
    """Look as often as there is something new, or as others leave room: each look draws all that is known."""
    key = f"look-{run_id}"
    every_s = pace(server.shared().service.news_every(run_id), st.session_state.get(key, 0.0))
    looked = 0

    def look_again() -> None:
        nonlocal looked
        looked += 1
        began = time.perf_counter()
        wanted = pace(server.shared().service.news_every(run_id), st.session_state.get(key, 0.0), every_s)
        if looked > 1 and wanted != every_s:
            st.rerun()  # only the whole page sets how often
        look()
        if looked > 1:  # the first is drawn with the page, charts and all
            st.session_state[key] = time.perf_counter() - began

    st.fragment(look_again, run_every=every_s)()


def pace(news_every_s: float, took_s: float, now_s: float = 0.0) -> float:
    """Seconds from one look at a run to the next.

    Parameters
    ----------
    news_every_s : float
        How often there is something new.
    took_s : float
        How long the last look took, waiting for others' pages included.
    now_s : float
        The present pace, which is kept where it is near.
    """
    spared = 2.0 ** math.ceil(math.log2(SHARE * took_s)) if took_s > 0 else 0.0
    wanted = max(news_every_s, spared)
    near = wanted / 2 < now_s < wanted * 2 or (spared > news_every_s and now_s == wanted * 2)
    return now_s if near else wanted


def _going(run: RunRecord | None) -> RunRecord:
    """Show how far the run is; once it has ended, draw the page anew."""
    if run is None or run.ended:
        st.rerun()
    show_progress(run)
    return run


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
