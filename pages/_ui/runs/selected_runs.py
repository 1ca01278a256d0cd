"""The two runs that are to be compared."""

from __future__ import annotations

import streamlit as st

from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.session.projects import here
from pages._ui.shell.links import link_to_two

_PICKED = "picked-runs"


def pick(run: RunRecord) -> None:
    """A box to tick; only results can be compared."""
    if run.state == "done":
        st.checkbox(
            "Compare",
            value=run.id in _picked(),
            key=_key(run.id),
            on_change=_toggle,
            args=(run.id,),
            persist_state="session",
        )


def offer_comparison() -> None:
    """The runs that are picked, and the way to see them side by side."""
    runs = [run for run in map(here().runs.get, _picked()) if run is not None]
    if not runs:
        st.caption("Tick *Compare* on two runs to see them side by side.")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="picked"):
        titles = " and ".join(f"**{escape_markdown(run.title)}**" for run in runs)
        if len(runs) == 1:
            st.markdown(f"{titles} is picked; tick one more.", width="content")
        elif len(runs) > 2:
            st.markdown(f"{len(runs)} runs are picked; two can be compared.", width="content")
        else:
            st.markdown(f"Picked: {titles}", width="content")
            link_to_two(runs[0].id, runs[1].id, "Compare the two")
        st.button("Clear", key="clear-picks", type="tertiary", on_click=_clear)


def _picked() -> list[str]:
    picked: list[str] = st.session_state.setdefault(_PICKED, [])
    return picked


def _toggle(run_id: str) -> None:
    picked = _picked()
    if run_id in picked:
        picked.remove(run_id)
    else:
        picked.append(run_id)


def _clear() -> None:
    for run_id in _picked():
        st.session_state[_key(run_id)] = False
    _picked().clear()


def _key(run_id: str) -> str:
    return f"pick-{run_id}"
