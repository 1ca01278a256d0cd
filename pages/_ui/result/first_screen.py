"""What a result says first: its headline, and a card for each of the strongest findings."""

from __future__ import annotations

import streamlit as st

from grasp_core.report.findings.finding import Finding, interval_note
from grasp_core.report.findings.findings import CARDS
from grasp_core.report.findings.warned import warned
from grasp_core.report.words.text import escape_markdown
from grasp_core.wording import agree, number
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.result.one_group import open_group
from pages._ui.shell import page_style
from pages._ui.widgets.shown import Shown
from pages._ui.widgets.warned import show_warned


def show_first(shown: Shown) -> None:
    """Headline, what may undo it, cards, and other warnings."""
    result, told = shown.result, cache.told_first(shown.key, shown.result)
    found = told.findings
    st.header(told.headline.markdown)
    warnings = warned(result)
    show_warned(warnings.first, shown.way)
    with st.container(key=page_style.CARDS):
        for place, finding in enumerate(found[:CARDS]):
            _card(shown, finding, place)
        if not found and result.groups:
            _nothing(told)
    for sentence in interval_note(found[:CARDS]):
        st.caption(sentence.markdown)
    rest = len(found) - CARDS
    if rest > 0:
        st.caption(f"And {number(rest, 'more group')} {agree(rest, 'stands', 'stand')} out: see Groups.")
    show_warned(warnings.others, shown.way, first_place=len(warnings.first))


def _card(shown: Shown, finding: Finding, place: int) -> None:
    with st.container(border=True, height="stretch"):
        st.subheader(escape_markdown(finding.title))
        st.markdown(finding.short.markdown)
        cache.finding_chart(shown.key, finding, finding.name, page_theme())
        st.caption(escape_markdown(finding.tested))
        for half, name in enumerate(finding.names):
            _way_to(name, f"{place}-{half}" if half else f"{place}")


def _nothing(told: cache.ToldFirst) -> None:
    with st.container(border=True):
        st.subheader("No group is clear")
        for sentence in told.nothing:
            st.markdown(sentence.markdown)
        for place, finding in enumerate(told.nearest):
            for half, name in enumerate(finding.names):
                _way_to(name, f"{place}-{half}" if half else f"{place}")


def _way_to(name: str, place: str) -> None:
    st.button(
        f"Look at {escape_markdown(name)}",
        key=f"card-{place}",
        icon=":material/arrow_forward:",
        on_click=open_group,
        args=(name,),
    )
