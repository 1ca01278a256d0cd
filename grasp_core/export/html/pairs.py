"""Pairs of groups in an HTML report: what holds in words, a matrix for each axis, and every number."""

from __future__ import annotations

from html import escape

from grasp_core.charts import pairs_matrix
from grasp_core.export.html.parts import figure, frame, listing, sentence
from grasp_core.report.in_numbers import pairs_in_numbers
from grasp_core.report.pairs.sentences import most_told
from grasp_core.report.pairs.tables import pairs_in_words
from grasp_core.report.pairs.words import PAIRS_EXPLANATION, Measure, measures
from grasp_core.result import RunResult


def pairs(result: RunResult) -> str:
    """The section's content."""
    axes = dict.fromkeys(row.a.axes for row in result.pairs)
    drawn = [measure for measure in measures(result).values() if _worth_a_figure(measure, result)]
    figures = (
        figure(pairs_matrix(result, of, measure), f"pairs-{position}-{place}")
        for position, of in enumerate(axes)
        for place, measure in enumerate(drawn)
    )
    return "\n".join(
        [
            f"<p>{escape(PAIRS_EXPLANATION)}</p>",
            listing(map(sentence, most_told(result, len(result.pairs)))),
            *figures,
            "<details><summary>Pairs in numbers</summary>",
            frame("Every pair of groups", pairs_in_words(result), 3),
            frame("Everything of every pair, with intervals", pairs_in_numbers(result), 4),
            "</details>",
        ]
    )


def _worth_a_figure(measure: Measure, result: RunResult) -> bool:
    """Label use and distance, of which findings are made, where a pair is marked after correction."""
    marked = any(measure.of(row).significance == "corrected" for row in result.pairs)
    return measure.key in ("label_use", "distance") and marked
