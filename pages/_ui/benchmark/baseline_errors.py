"""Where a baseline goes wrong, on rows whose labels are known to whoever runs it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from grasp_core.benchmark.scoring.mistakes import confusion_table
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.statistics.f1 import confusion


def show_errors(rows: Rows, predicted: Sequence[str], task: Task) -> None:
    """Right class against class given, and the rows that were labelled wrongly.

    Parameters
    ----------
    rows : Rows
        With labels.
    predicted : sequence of str
        The class that each row was given.
    task : Task
    """
    right = rows.labels or ()
    wrong = [at for at, (one, other) in enumerate(zip(right, predicted, strict=True)) if one != other]
    with st.expander(f"Where it goes wrong: {len(wrong):,} of {len(right):,} rows"):
        st.caption("How many rows of each class (down) were given which class (across).")
        st.dataframe(_confusion(right, predicted, task), alt="Rows by right class and class given")
        if not wrong:
            return
        st.caption("The rows that were labelled wrongly.")
        st.dataframe(
            [
                {
                    "ID": rows.ids[at],
                    "Right": right[at],
                    "Given": predicted[at],
                    **{field: rows.texts[at][field] for field in task.prompt_fields},
                }
                for at in wrong
            ],
            hide_index=True,
            alt="Rows that were labelled wrongly, with their text",
        )


def _confusion(right: Sequence[str], predicted: Sequence[str], task: Task) -> pd.DataFrame:
    code_of = {name: code for code, name in enumerate(task.classes)}
    codes = [np.array([code_of[name] for name in names], dtype=np.int64) for names in (right, predicted)]
    counts = confusion(codes[0], codes[1], len(task.classes))
    return confusion_table(counts, task.classes).rename_axis(index="Right class")
