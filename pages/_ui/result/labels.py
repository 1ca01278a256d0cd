"""Label use of all groups: who gives which label more often than the others do to the same items."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from grasp_core.outcome import Outcome
from grasp_core.report.findings import label_outcome, named_groups
from grasp_core.report.so_far import p_so_far, q_so_far
from grasp_core.report.words import STARS, axis_label, format_p_value
from grasp_core.result import GroupResult, RunResult
from pages._ui.widgets.shown import Shown

_IN_FULL = 40
_HEIGHT = 900


def has_label_use(result: RunResult) -> bool:
    """Whether it was part of this run: results of earlier versions lack it."""
    return any(row.label_use is not None for row in result.groups)


def show_labels(shown: Shown) -> None:
    """A row per group, a column per label, in percentage points."""
    result = shown.result
    st.header("Who says what more often")
    st.caption(
        "Percentage points by which a group gives a label more often (below 0: less often) than the others "
        "give it to the same items. p and q are of the group: of any label as far off as its furthest."
    )
    rows = [_row(result, name, row) for name, row in named_groups(result).items() if row.label_use]
    frame = pd.DataFrame(rows)
    st.dataframe(
        frame,
        hide_index=True,
        height="content" if len(frame) <= _IN_FULL else _HEIGHT,
        column_config={
            "Group": st.column_config.Column(pinned=True, width=180),
            "p": st.column_config.Column(width="small"),
        },
        alt="Label use of every group, in percentage points",
    )


def _row(result: RunResult, name: str, row: GroupResult) -> dict[str, Any]:
    use = row.label_use
    if use is None:
        return {}
    labels = {
        f"“{label}”": None if shift.value is None else round(100 * shift.value, 1)
        for label, shift in use.labels.items()
    }
    outcome = label_outcome(use, use.most) if use.most else Outcome(None)
    tests = (
        (p_so_far(outcome), q_so_far(outcome))
        if result.provisional
        else tuple(format_p_value(one, permutations=result.permutations) for one in (use.p, use.q))
    )
    return {
        "Group": name,
        "Axis": axis_label(row.group.axes),
        "Raters": row.n_raters,
        **labels,
        "p": tests[0],
        "q": tests[1],
        "*": STARS[use.significance],
    }
