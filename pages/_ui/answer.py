"""The answer in words, at the top of the results."""

from __future__ import annotations

import streamlit as st

from grasp_core.raft.raters.result import ModelsResult
from grasp_core.report.sentences import answer
from grasp_core.report.stopping import ending, guarantee
from grasp_core.report.text import escape_markdown
from grasp_core.result import RunResult
from grasp_core.spec import PAPER_CONVENTIONS


def show_facts(result: RunResult | ModelsResult) -> None:
    """One line on what was run."""
    data, analysis = result.data, result.spec.analysis
    permutations = result.permutations if isinstance(result, RunResult) else analysis.permutations
    facts = [
        f"{data.raters:,} raters",
        f"{data.items:,} items",
        f"{data.annotations:,} annotations",
        f"{permutations:,} permutations",
        f"seed {analysis.seed}",
    ]
    if all(getattr(analysis, name) == value for name, value in PAPER_CONVENTIONS.items()):
        facts.append("*as in the paper*")
    st.markdown(" · ".join(facts))


def show_answer(result: RunResult) -> None:
    """Headline and details; warnings are announced here and listed further down."""
    words = answer(result)
    with st.container(border=True):
        st.header(words.headline.markdown)
        for sentence in words.details:
            st.markdown(sentence.markdown)
        if result.stopping is not None:
            analysis = result.spec.analysis
            st.caption(escape_markdown(ending(analysis, result.stopping)))
            st.caption(escape_markdown(guarantee(analysis, result.stopping)))
        if result.warnings:
            count = len(result.warnings)
            noun = "warning" if count == 1 else "warnings"
            st.markdown(f":material/warning: {count} {noun}: see [Warnings](#warnings).")
