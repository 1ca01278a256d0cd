"""Pairs of groups in an HTML report: what holds in words, a matrix for each axis, and every number."""

from __future__ import annotations

from html import escape

from grasp_core.charts import pairs_matrix
from grasp_core.export.html.parts import figure, listing, number, sentence, table, text
from grasp_core.report.pairs.sentences import most_told
from grasp_core.report.pairs.tables import pairs_in_words
from grasp_core.report.pairs.words import PAIRS_EXPLANATION, Measure, measures
from grasp_core.result import RunResult

_TEXTS = 3


def pairs(result: RunResult) -> str:
    """The section's content."""
    axes = dict.fromkeys(row.a.axes for row in result.pairs)
    drawn = [measure for measure in measures(result).values() if _worth_a_figure(measure, result)]
    figures = (
        figure(pairs_matrix(result, of, measure), f"pairs-{position}-{place}")
        for position, of in enumerate(axes)
        for place, measure in enumerate(drawn)
    )
    numbers = pairs_in_words(result)
    heads = [*map(text, numbers.columns[:_TEXTS]), *map(number, numbers.columns[_TEXTS:])]
    rows = [[*map(text, row[:_TEXTS]), *map(number, row[_TEXTS:])] for row in numbers.to_numpy().tolist()]
    return "\n".join(
        [
            f"<p>{escape(PAIRS_EXPLANATION)}</p>",
            listing(map(sentence, most_told(result, len(result.pairs)))),
            *figures,
            "<details><summary>Pairs in numbers</summary>",
            table("Every pair of groups", heads, rows),
            "</details>",
        ]
    )


def _worth_a_figure(measure: Measure, result: RunResult) -> bool:
    """The first measure, and those of which a pair is marked after correction."""
    first = next(iter(measures(result)))
    marked = any(measure.of(row).significance == "corrected" for row in result.pairs)
    return measure.key == first or marked
