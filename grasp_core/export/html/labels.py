"""Label use in an HTML report: what was found in words, forest plots, and every label of every group."""

from __future__ import annotations

from html import escape

from grasp_core.charts import label_forest_plot
from grasp_core.export.html.parts import Cell, figure, listing, number, sentence, table, text
from grasp_core.outcome import LabelUse, Shift
from grasp_core.report.tables.labels import drawn_labels, with_label_use
from grasp_core.report.words.label_use import (
    format_points,
    format_points_interval,
    label_use_sentence,
    mean_words,
)
from grasp_core.report.words.names import (
    LABEL_USE_EXPLANATION,
    LABEL_USE_FORMULA,
    format_p_value,
    group_label,
    one_line,
    p_text,
    signs,
)
from grasp_core.result import GroupResult, RunResult

_HEADS = ("Points", "95 % interval", "p", "p of all labels", "q of all labels")


def label_use(result: RunResult) -> str:
    """The section's content."""
    found = with_label_use(result)
    marked = [(row, use) for row, use in found if use.significance != "none"]
    figures = (
        figure(label_forest_plot(result, label), f"forest-label-{position}")
        for position, label in enumerate(drawn_labels(result))
    )
    cells = [one for row, use in found for one in _rows(row, use, result)]
    heads = [text("Group"), text("Label"), *map(number, _HEADS)]
    return "\n".join(
        [
            f"<p>{escape(LABEL_USE_EXPLANATION)}</p>",
            listing(sentence(label_use_sentence(row, use, result)) for row, use in marked),
            *figures,
            "<details><summary>Label use in numbers</summary>",
            table("Label use of every group", heads, cells),
            "</details>",
            f"<p>{escape(LABEL_USE_FORMULA)}</p>",
            listing(filter(None, (escape(_mean(row, use, result)) for row, use in found))),
        ]
    )


def _rows(row: GroupResult, use: LabelUse, result: RunResult) -> list[list[Cell]]:
    return [_row(row, use, label, shift, result) for label, shift in use.labels.items()]


def _row(row: GroupResult, use: LabelUse, label: str, shift: Shift, result: RunResult) -> list[Cell]:
    p, q = (format_p_value(value, permutations=result.permutations) for value in (shift.p, use.q))
    return [
        text(group_label(row.group)),
        text(one_line(label)),
        number(format_points(shift.value)),
        number(format_points_interval(shift) or str(use.no_interval or "")),
        number(p),
        number(p_text(use, permutations=result.permutations)),
        number(f"{q} {signs(use)}".rstrip()),
    ]


def _mean(row: GroupResult, use: LabelUse, result: RunResult) -> str:
    words = mean_words(use, result)
    return f"{group_label(row.group)}: {words}" if words else ""
