"""The top of a result: what was looked at, the answer in one sentence, and a line of counts."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from grasp_core.report.words.labelled import counted_sentence, labelled_sentence
from grasp_core.report.words.printable import printable
from grasp_core.report.words.text import escape_markdown
from grasp_core.result import Result, RunResult
from grasp_core.spec import PAPER_CONVENTIONS
from pages._ui.result import cache
from pages._ui.widgets.shown import Shown


def show_answer(shown: Shown, buttons: Callable[[], None]) -> None:
    """The caption and buttons, the title, which is the verdict, and how many groups have which verdict."""
    result = shown.result
    told = cache.told_first(shown.key, result)
    counted = printable(counted_sentence(result.spec.data, result.data))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(escape_markdown(f"{shown.title} · {counted}{_overall(result)}"), width="stretch")
        buttons()
    st.title(told.title.markdown)
    if told.counts is not None:
        st.markdown(told.counts.markdown)


def _overall(result: RunResult) -> str:
    """How well all raters agree, beside a result about groups."""
    found = result.everybody
    if found is None or found.alpha is None or result.of_everybody:
        return ""
    return f" · agreement of all {found.alpha:.2f}"


def show_facts(result: Result) -> None:
    """Which labels were looked at and how many, and one line on what was run."""
    data, analysis = result.data, result.spec.analysis
    st.markdown(escape_markdown(printable(labelled_sentence(result.spec.data, data))))
    facts = [f"{result.permutations:,} permutations", f"seed {analysis.seed}"] if result.permutations else []
    if result.permutations and all(
        getattr(analysis, name) == value for name, value in PAPER_CONVENTIONS.items()
    ):
        facts.append("*as in the paper*")
    st.markdown(" · ".join(facts))
