"""The answer about models as raters: sentences, a chart, tables and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st

from grasp_core.charts.models import models_chart
from grasp_core.models_as_raters.sentences import sentences
from grasp_core.models_as_raters.tables import plurality_table, sides_csv, statistic_table
from grasp_core.panels.models.result import ModelsResult
from grasp_core.remarks.remark import Remark
from grasp_core.report.contents import marks_legend
from grasp_core.report.stopping import how_it_ended
from grasp_core.report.words.models import REPRODUCED, SIDE_WORDS, SIDES_WITH
from grasp_core.report.words.printable import json_text
from grasp_core.report.words.so_far import what_is_provisional
from grasp_core.report.words.text import escape_markdown
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.widgets.outputs import download, drawn
from pages._ui.widgets.shown import always
from pages._ui.widgets.warned import no_way

_CHARACTER = 7
_WIDEST = 400


def show_answer(
    key: str,
    result: ModelsResult,
    check: Callable[[], None] = always,
    way: Callable[[Remark, int], None] = no_way,
) -> None:
    """The answer in words first; every chart has a table with the same numbers.

    `key` and `check` are those of :class:`~pages._ui.widgets.shown.Shown`, `way` draws how to mend a warning.
    """
    if result.provisional:
        st.info(what_is_provisional(result), icon=":material/pending:")
    else:
        st.header("Answer")
        for sentence in sentences(result):
            st.markdown(f"- {sentence.markdown}")
    st.caption(f"{escape_markdown(SIDES_WITH)} {escape_markdown(REPRODUCED)}")
    for words in how_it_ended(result):
        st.caption(escape_markdown(words))
    for place, warning in enumerate(result.warnings):
        st.caption(escape_markdown(f"Note: {warning}."))
        way(warning, place)
    hidden = plurality_table(result)
    columns = {"Group": st.column_config.Column(pinned=True, width=_width(hidden["Group"]))}
    st.header("What a plurality label hides")
    cache.models_chart(key, result, page_theme())
    st.dataframe(
        hidden,
        hide_index=True,
        column_config=columns,
        alt="Macro-F1 of each model against each group's own plurality",
    )
    st.caption(escape_markdown(marks_legend(result.spec.analysis)))
    st.header("Every statistic")
    statistic = st.segmented_control(
        "Statistic",
        list(SIDE_WORDS),
        default="macro_f1",
        required=True,
        format_func=lambda name: SIDE_WORDS[name].name,
        key="models-statistic",
    )
    words = SIDE_WORDS[statistic]
    st.caption(escape_markdown(words.explanation))
    st.dataframe(
        statistic_table(result, statistic),
        hide_index=True,
        column_config=columns,
        alt=f"{words.name} of each model and group",
    )
    if not result.provisional:
        _downloads(result, check)


def _width(names: Iterable[str]) -> int:
    """Pixels that hold every name: left to itself, the table measures those of its first rows."""
    return min(_WIDEST, 20 + _CHARACTER * max(map(len, names)))


def _downloads(result: ModelsResult, check: Callable[[], None]) -> None:
    with st.container(horizontal=True):
        for label, extension, media_type, make in (
            ("Result (JSON)", "json", "application/json", lambda: json_text(result.to_dict())),
            ("Table (CSV)", "csv", "text/csv", lambda: sides_csv(result)),
            ("Chart (PNG)", "png", "image/png", lambda: drawn(models_chart(result), "png")),
            ("Chart (SVG)", "svg", "image/svg+xml", lambda: drawn(models_chart(result), "svg")),
        ):
            download(
                check, label, make, file_name=f"models.{extension}", media_type=media_type, type="tertiary"
            )
