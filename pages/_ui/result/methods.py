"""Sections on what every number means and on the data."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from grasp_core.report.account import account_sentence
from grasp_core.report.conventions import stated
from grasp_core.report.words.names import (
    DSI_EXPLANATION,
    DSI_FORMULA,
    DSI_NAME,
    WORDS,
    reported_statistics,
    statistic_formula,
)
from grasp_core.report.words.reading import left_out, step_sentence
from grasp_core.report.words.text import escape_markdown
from grasp_core.result import FileFingerprint, RunResult
from pages._ui.result.answer import show_facts

_COUNT = st.column_config.NumberColumn(format="localized")


def show_methods(result: RunResult) -> None:
    """Each statistic in plain words with its formula one click away, then this run's conventions."""
    formulas = {}
    for name in reported_statistics(result):
        words = WORDS[name]
        st.markdown(f"**{words.name}**: {escape_markdown(words.explanation)}")
        formulas[words.name] = statistic_formula(name, result)
    if result.dsi:
        st.markdown(f"**{DSI_NAME}**: {escape_markdown(DSI_EXPLANATION)}")
        formulas[DSI_NAME] = DSI_FORMULA
    with st.expander("Formulas"):
        for name, formula in formulas.items():
            st.markdown(f"**{name}**: {escape_markdown(formula)}")
    st.subheader("Conventions of this run")
    for name, sentence in stated(result.spec, result.stopping):
        st.markdown(f"**{name}**: {escape_markdown(sentence)}")


def show_data(result: RunResult) -> None:
    """Counts, labels, files with their hashes, and the time it took."""
    show_facts(result)
    data, timing = result.data, result.timing
    low, median, high = data.raters_per_item
    counts, labels = st.columns(2)
    facts = {
        "Items": f"{data.items:,}",
        "Raters": f"{data.raters:,}",
        "Annotations": f"{data.annotations:,}",
        "Raters per item": f"{low:,} to {high:,}, median {median:,g}",
        "Read in": f"{timing.load_s:.2f} s",
        "Observed values in": f"{timing.observed_s:.2f} s",
        "Permutations in": f"{timing.permutations_s:.1f} s",
        "GRASP version": result.code_version,
    }
    counts.dataframe(
        pd.DataFrame({"What": list(facts), "Value": list(facts.values())}),
        hide_index=True,
        height="content",
        alt="Counts and timing",
    )
    labels.dataframe(
        pd.DataFrame({"Label": data.categories, "Annotations": data.label_counts}),
        hide_index=True,
        column_config={"Annotations": _COUNT},
        alt="Annotations per label",
    )
    if data.files:
        _list_files(data.files)
    for what, sentences in (
        ("Recoded", [step_sentence(step) for step in result.spec.data.recode]),
        ("Left out", left_out(result.spec.data)),
    ):
        if sentences:
            st.markdown(f"**{what}**: {escape_markdown('; '.join(sentences))}")
    if data.account is not None:
        st.markdown(escape_markdown(f"{account_sentence(data.account)}."))
    st.text(f"Fingerprint of the data (SHA-256): {data.sha256}")


def _list_files(files: Sequence[FileFingerprint]) -> None:
    rows = [(file.name, file.bytes, file.sha256, file.source) for file in files]
    shown = pd.DataFrame(rows, columns=["File", "Bytes", "SHA-256", "Fetched from"])
    st.dataframe(
        shown if any(file.source for file in files) else shown.drop(columns="Fetched from"),
        hide_index=True,
        column_config={"Bytes": _COUNT},
        alt="Input files with their hashes",
    )
