"""Ways from one screen to another."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from grasp_core.model.text import escape_markdown

Screen = Literal["start", "data", "analysis", "models", "results", "runs", "watch"]


def go(screen: Screen, run_id: str | None = None) -> None:
    """Show another screen; with a run, its results."""
    if run_id is None:
        st.switch_page(f"{screen}.py")
    else:
        st.switch_page(f"{screen}.py", query_params={"run": run_id})


def link_to(screen: Screen, label: str) -> None:
    """A link to another screen."""
    st.page_link(f"{screen}.py", label=label, icon=":material/arrow_forward:")


def link_to_two(before: str, now: str, label: str) -> None:
    """A link to two runs side by side."""
    st.page_link(
        "runs.py",
        label=label,
        query_params={"a": before, "b": now},
        icon=":material/compare_arrows:",
    )


def link_to_run(run_id: str, title: str) -> None:
    """A link to a run's results."""
    st.page_link(
        "results.py",
        label=escape_markdown(title),
        query_params={"run": run_id},
        icon=":material/insights:",
        width="stretch",
    )
