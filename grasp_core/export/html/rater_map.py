"""The map of raters in an HTML report: which axes disagreement follows, drawn by these, and every number."""

from __future__ import annotations

from html import escape

import pandas as pd

from grasp_core.charts.rater_map import rater_map_chart
from grasp_core.export.html.parts import figure, listing, number, sentence, table, text
from grasp_core.rater_map.reported import drawn_axes
from grasp_core.rater_map.tables import axes_table, distance_words, groups_table
from grasp_core.rater_map.values import RaterMap
from grasp_core.rater_map.words import EXPLANATION, sentences
from grasp_core.spec import Level


def rater_map(found: RaterMap, level: Level) -> str:
    """The section's content."""
    told = listing(sentence(one) for one in sentences(found, level))
    if found.reason is not None:
        return told
    figures = (
        figure(rater_map_chart(found, axes), f"map-{position}")
        for position, axes in enumerate(drawn_axes(found))
    )
    return "\n".join(
        [
            told,
            f"<p>{escape(EXPLANATION)}</p>",
            *figures,
            _table("What each axis explains", axes_table(found), ("Axis", "Result")),
            "<details><summary>How far raters differ</summary>",
            _table(distance_words(level), groups_table(found, level), ("Axis", "Group")),
            "</details>",
        ]
    )


def _table(caption: str, shown: pd.DataFrame, texts: tuple[str, str]) -> str:
    kinds = [text if head in texts else number for head in shown.columns]
    heads = [kind(str(head)) for kind, head in zip(kinds, shown.columns, strict=True)]
    rows = (
        [kind(str(cell)) for kind, cell in zip(kinds, row, strict=True)] for row in shown.to_numpy().tolist()
    )
    return table(caption, heads, rows)
