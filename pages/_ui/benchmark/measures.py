"""Scores of a submission: by task, by class, what is confused with what, and what mistakes cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from grasp_core.benchmark.scoring.compare import confusion_table
from grasp_core.benchmark.scoring.scores import ClassScore
from grasp_core.model.text import escape_markdown
from grasp_core.store.submissions import SubmissionRecord


def show_scores(record: SubmissionRecord) -> None:
    """The mean over all tasks, a row a task, and one task by class."""
    scores = record.scores
    overall, ends = scores["overall"], scores.get("overall_ci95")
    shown = "incomplete" if overall is None else f"{overall:.3f}"
    st.metric("Macro-F1 over all tasks", shown)
    if ends is not None:
        st.caption(f"95 % interval {ends[0]:.3f} to {ends[1]:.3f}.")
    st.dataframe(
        [
            {
                "Task": task,
                "Macro-F1": f"{one['macro_f1']:.3f}",
                "95 % interval": f"{one['ci95'][0]:.3f} to {one['ci95'][1]:.3f}",
                "Over declared classes": f"{one['macro_f1_declared']:.3f}",
                "Items": f"{one['n']:,}",
            }
            for task, one in scores["tasks"].items()
        ],
        hide_index=True,
        height="content",
        alt="Scores by task",
    )
    st.caption(f"It now stands on the Leaderboard, as {escape_markdown(record.name)}.")
    detailed = {task: one for task, one in scores["tasks"].items() if "classes" in one}
    if detailed:  # scores of earlier versions have none
        with st.expander("By class, and what mistakes cost"):
            _show_classes(detailed)


def _show_classes(tasks: dict[str, Any]) -> None:
    task = st.selectbox("Task", list(tasks), key="measures-task")
    plain = tasks[task]
    found = [
        ClassScore(one["class"], one["right"], one["false_positives"], one["false_negatives"])
        for one in plain["classes"]
    ]
    st.dataframe(
        [
            {
                "Class": one.name,
                "Precision": one.precision,
                "Recall": one.recall,
                "F1": one.f1,
                "False positives": one.false_positives,
                "False negatives": one.false_negatives,
            }
            for one in found
        ],
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%.3f") for name in ("Precision", "Recall", "F1")
        },
        placeholder="–",
        alt="Precision, recall and F1 of each class",
    )
    st.caption("How many rows of each class (down) were given which class (across).")
    table = confusion_table(np.array(plain["confusion"]), [one.name for one in found])
    st.dataframe(table.rename_axis(index="Right class"), alt="Rows by right class and class given")
    _show_costs(found, plain["n"])


def _show_costs(found: list[ClassScore], n: int) -> None:
    left, middle, right = st.columns(3)
    chosen = left.selectbox("Costs of the class", [one.name for one in found], key="measures-class")
    wrong = middle.number_input(
        "Of a false positive",
        min_value=0.0,
        value=1.0,
        help="A row wrongly given the class",
        key="measures-fp",
    )
    missed = right.number_input(
        "Of a false negative",
        min_value=0.0,
        value=1.0,
        help="A row of the class that was missed",
        key="measures-fn",
    )
    one = next(one for one in found if one.name == chosen)
    total = one.cost(wrong, missed)
    st.markdown(
        escape_markdown(
            f"{one.false_positives:,} at {wrong:g} and {one.false_negatives:,} at {missed:g} make {total:g}, "
            f"{total / n:.3g} a row."
        )
    )
