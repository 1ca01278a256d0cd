"""What a result says first: its headline, and a card for each of the strongest findings."""

from __future__ import annotations

import streamlit as st

from grasp_core.report.findings import CARDS, Finding, findings, nearest
from grasp_core.report.no_findings import nothing_holds
from grasp_core.report.sentences import answer
from grasp_core.report.text import escape_markdown
from grasp_core.result import RunResult
from grasp_core.wording import agree, number
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.result.one_group import open_group
from pages._ui.shell import page_style
from pages._ui.widgets.shown import Shown


def show_first(shown: Shown) -> None:
    """Headline and cards."""
    result = shown.result
    found = findings(result)
    st.header(answer(result).headline.markdown)
    with st.container(key=page_style.CARDS):
        for place, finding in enumerate(found[:CARDS]):
            _card(shown, finding, place)
        if not found and result.groups:
            _nothing(result)
    rest = len(found) - CARDS
    if rest > 0:
        st.caption(
            f"And {number(rest, 'more group')} {agree(rest, 'holds', 'hold')} after correction: see Groups."
        )
    if result.warnings:
        count = number(len(result.warnings), "warning")
        st.caption(f":material/warning: {count}: see Data and methods.")


def _card(shown: Shown, finding: Finding, place: int) -> None:
    with st.container(border=True, height="stretch"):
        st.subheader(escape_markdown(finding.name))
        st.markdown(finding.short.markdown)
        cache.finding_chart(shown.key, finding.name, finding, page_theme())
        st.caption(escape_markdown(finding.tested))
        _way_to(finding.name, place)


def _nothing(result: RunResult) -> None:
    with st.container(border=True):
        st.subheader("Nothing holds after correction")
        for sentence in nothing_holds(result):
            st.markdown(sentence.markdown)
        for place, finding in enumerate(nearest(result)[:1]):
            _way_to(finding.name, place)


def _way_to(name: str, place: int) -> None:
    st.button(
        f"Look at {escape_markdown(name)}",
        key=f"card-{place}",
        icon=":material/arrow_forward:",
        on_click=open_group,
        args=(name,),
    )
