"""What a source brought that was fetched again, and the same analysis on it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from grasp_core.io.table.table import Table
from grasp_core.report.words.text import escape_markdown
from grasp_core.wording import number
from pages._ui.session.projects import here
from pages._ui.session.state import work
from pages._ui.shell.links import go


@dataclass(frozen=True)
class _News:
    """A sentence about the file with this hash, and the run of the earlier one."""

    sha256: str
    sentence: str
    run: str | None = None


def tell_news(slot: str, before: Table | None, now: Table) -> None:
    """Note what is new in a file that was fetched again."""
    st.session_state.pop(_key(slot), None)
    if before is None or before.source != now.source:
        return
    if before.sha256 == now.sha256:
        sentence = f"Nothing is new: {now.name} is what it was, {number(len(now), 'row')}."
        st.session_state[_key(slot)] = _News(now.sha256, sentence)
        return
    sentence = f"{now.name} has changed: {number(len(now), 'row')}, before {len(before):,}."
    st.session_state[_key(slot)] = _News(now.sha256, sentence, _run_on(before.sha256))


def say_news(slot: str) -> None:
    """Say it as long as that file is in use, and offer the analysis that the earlier one had."""
    news: _News | None = st.session_state.get(_key(slot))
    table: Table | None = getattr(work(), slot)
    if news is None or table is None or table.sha256 != news.sha256:
        return
    st.info(escape_markdown(news.sentence))
    if news.run is not None and st.button(
        "The same analysis again", icon=":material/replay:", key=f"{slot}-same-analysis"
    ):
        run = here().runs.get(news.run)
        if run is not None:
            work().use_settings(run.spec.analysis)
            go("analysis")


def _run_on(sha256: str) -> str | None:
    """The latest run of the session on a file."""
    runs = here().runs
    return next((run for run, _ in work().runs if sha256 in {found for _, found in runs.files_of(run)}), None)


def _key(slot: str) -> str:
    return f"{slot}-news"
