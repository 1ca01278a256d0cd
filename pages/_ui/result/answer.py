"""Facts of a run, at the top of its results."""

from __future__ import annotations

import streamlit as st

from grasp_core.report.words.labelled import labelled_sentence
from grasp_core.report.words.printable import printable
from grasp_core.report.words.text import escape_markdown
from grasp_core.result import Result
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
