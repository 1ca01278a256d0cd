"""Slices in an HTML report: what stands out where, forest plots of those groups, and all numbers."""

from __future__ import annotations

from html import escape

from grasp_core.charts import slices_chart
from grasp_core.export.html.parts import figure, frame, listing, sentence
from grasp_core.report.in_numbers import slices_in_numbers
from grasp_core.report.slices import marked_groups, slice_sentences, sliced
from grasp_core.report.tables.groups import wide_table
from grasp_core.report.words.names import group_label, lead_statistic, one_line
from grasp_core.result import RunResult, SlicesResult

_DRAWN = 4
"""Groups of a column that have a figure."""
_TEXTS = 4
"""Columns of the table that hold texts: value, items, axis and group."""


def slices(result: RunResult) -> str:
    """The section's content."""
    return "\n".join(_column(result, found, position) for position, found in enumerate(result.slices))


def _column(result: RunResult, found: SlicesResult, position: int) -> str:
    lead = lead_statistic(result)
    name = one_line(found.column)
    figures = [
        f"<h4>{escape(group_label(group))}</h4>\n"
        + figure(slices_chart(result, found.column, group, (lead, False)), f"slices-{position}-{place}")
        for place, group in enumerate(marked_groups(found)[:_DRAWN])
    ]
    wide = sliced(result, found, wide_table)
    numbers = slices_in_numbers(result, found, "slices")
    return "\n".join(
        [
            f"<h3>By {escape(name)}</h3>",
            listing(sentence(one) for one in slice_sentences(result, found)),
            *figures,
            "<details><summary>Slices in numbers</summary>",
            frame(f"Every group on the items of each value of {name}", wide, _TEXTS),
            *(frame(one.title, one.table, one.names) for one in numbers if not one.table.empty),
            "</details>",
        ]
    )
