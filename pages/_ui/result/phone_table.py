"""The table of groups on a phone: what matters in the columns that are seen without scrolling."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from grasp_core.report.tables.groups import column_label
from grasp_core.report.words.names import NOT_ESTIMABLE, WORDS, format_p_value, format_value

_GROUP, _VALUE = 140, 195
"""Pixels of both first columns, which 390 have room for."""
_ROWS_IN_FULL = 40
_LONG_TABLE_HEIGHT = 640


def show_phone_table(
    frame: pd.DataFrame, statistics: Sequence[str], permutations: int, *, lead: str, p: bool, alt: str
) -> None:
    """Each group with a statistic's value, mark and interval in one cell, the lead statistic first.

    Parameters
    ----------
    frame : DataFrame
        As of :func:`grasp_core.report.tables.groups.results_table`.
    statistics : sequence of str
    permutations : int
    lead : str
        Where it is among the statistics, it stands first.
    p : bool
        Whether p and q follow each value.
    alt : str
    """
    ordered = sorted(statistics, key=lambda name: name != lead)
    values = {WORDS[name].name: _cells(frame, name) for name in ordered}
    cells: dict[str, Sequence[str]] = {}
    for name in ordered:
        cells[WORDS[name].name] = values[WORDS[name].name]
        for test in (f"{name}_p", f"{name}_q") if p else ():
            cells[column_label(test)] = [_p(one, permutations) for one in frame[test]]
    shown = pd.DataFrame({"Group": frame["group"], **cells, "Axis": frame["axis"], "Raters": frame["raters"]})
    st.dataframe(
        shown,
        hide_index=True,
        height="content" if len(frame) <= _ROWS_IN_FULL else _LONG_TABLE_HEIGHT,
        column_config={
            "Group": st.column_config.Column(pinned=True, width=_GROUP),
            **{head: st.column_config.Column(width=_VALUE) for head in values},
        },
        placeholder=NOT_ESTIMABLE,
        alt=alt,
    )


def _p(value: float | str, permutations: int) -> str:
    """As a text; of a run that goes on it is one with its interval."""
    return value if isinstance(value, str) else format_p_value(_or_none(value), permutations=permutations)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _cells(frame: pd.DataFrame, name: str) -> list[str]:
    """Texts such as "1.590 ↑** [1.337, 1.843]"."""
    signs = [f"{name}_{sign}" for sign in ("arrow", "stars", "unsure", "fitted") if f"{name}_{sign}" in frame]
    marks = frame[signs].to_numpy().sum(axis=1).tolist()
    intervals = frame[f"{name}_interval"]
    return [
        " ".join(part for part in (format_value(_or_none(value)), mark, interval) if part)
        for value, mark, interval in zip(frame[name], marks, intervals, strict=True)
    ]
