"""The answer in words, at the top of the results."""

from __future__ import annotations

import streamlit as st

from grasp_core.report.labelled import labelled_sentence
from grasp_core.report.printable import printable
from grasp_core.report.sentences import answer
from grasp_core.report.stopping import how_it_ended
from grasp_core.report.text import escape_markdown
from grasp_core.result import Result, RunResult
from grasp_core.spec import PAPER_CONVENTIONS


def show_facts(result: Result) -> None:
    """Which labels were looked at and how many, and one line on what was run."""
    data, analysis = result.data, result.spec.analysis
    st.markdown(escape_markdown(printable(labelled_sentence(result.spec.data, data))))
    facts = [
        f"{result.permutations:,} permutations",
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
        for how in how_it_ended(result):
            st.caption(escape_markdown(how))
        if result.warnings:
            count = len(result.warnings)
            noun = "warning" if count == 1 else "warnings"
            st.markdown(f":material/warning: {count} {noun}: see [Warnings](#warnings).")
