"""Watches that are being looked at now, or whose run goes on: the page is drawn anew once that has ended."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from grasp_core.store.watches.records import Watch
from pages._ui.session.projects import here

_EVERY_S = 2.0
_SOON_S = 10.0


def follow(watches: Sequence[Watch]) -> None:
    """Look after those of the watches that something is about to happen to."""
    waiting = {watch.id: _stand(watch) for watch in watches if _waits(watch)}
    if waiting:
        _look_after(waiting)


@st.fragment(run_every=_EVERY_S)
def _look_after(waiting: dict[str, tuple[object, ...]]) -> None:
    now = {watch.id: _stand(watch) for watch in here().watches.all() if watch.id in waiting}
    if now != waiting:
        st.rerun()
    st.caption(":material/hourglass_top: This page follows what is being looked at.")


def _waits(watch: Watch) -> bool:
    due = watch.paused is None and watch.next_at <= time.time() + _SOON_S
    return due or watch.going_run is not None


def _stand(watch: Watch) -> tuple[object, ...]:
    return (watch.looked_at, watch.going_run, watch.last_run, watch.paused)
