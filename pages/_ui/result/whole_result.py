"""Everything that was found, by views, in the same words and figures for colleagues and for strangers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown
from grasp_core.report.account import account_sentence
from grasp_core.report.contents import stated
from grasp_core.report.everybody import in_one_line
from grasp_core.report.findings.sentences import axes_to_watch
from grasp_core.report.words.levels import left_out, step_sentence
from grasp_core.report.words.names import (
    DSI_EXPLANATION,
    DSI_FORMULA,
    DSI_NAME,
    WORDS,
    reported_statistics,
    statistic_formula,
    what_is_provisional,
)
from pages._ui.helpers.page_style import PROVISIONAL
from pages._ui.helpers.widgets import Shown, follow_address, put_in_address, show_table, show_warned
from pages._ui.result.cache import kept
from pages._ui.result.comparisons import has_given, has_pairs, has_slices, show_given, show_pairs, show_slices
from pages._ui.result.findings import (
    has_disputed,
    show_agreement,
    show_disputed,
    show_facts,
    show_findings,
    show_raters_agreement,
)
from pages._ui.result.groups import draw_groups, has_label_use, show_dsi, show_groups, show_labels
from pages._ui.result.items import has_items, show_items
from pages._ui.result.one_group import choose_group, named_group, open_group, show_group
from pages._ui.result.rater_map import has_rater_map, show_rater_map

_COUNT = st.column_config.NumberColumn(format="localized")


def show_methods(result: RunResult) -> None:
    """Each statistic in plain words with its formula one click away, then this run's conventions."""
    formulas = {}
    for name in reported_statistics(result):
        words = WORDS[name]
        st.markdown(f"**{words.name}**: {escape_markdown(words.explanation)}")
        formulas[words.name] = statistic_formula(name, result)
    if result.dsi:
        st.markdown(f"**{DSI_NAME}**: {escape_markdown(DSI_EXPLANATION)}")
        formulas[DSI_NAME] = DSI_FORMULA
    with st.expander("Formulas"):
        for name, formula in formulas.items():
            st.markdown(f"**{name}**: {escape_markdown(formula)}")
    st.subheader("Conventions of this run")
    for name, sentence in stated(result.spec, result.stopping):
        st.markdown(f"**{name}**: {escape_markdown(sentence)}")


def show_data(result: RunResult) -> None:
    """Counts, labels, files with their hashes, and the time it took."""
    show_facts(result)
    data, timing = result.data, result.timing
    low, median, high = data.raters_per_item
    counts, labels = st.columns(2)
    facts = {
        "Items": f"{data.items:,}",
        "Raters": f"{data.raters:,}",
        "Annotations": f"{data.annotations:,}",
        "Raters per item": f"{low:,} to {high:,}, median {median:,g}",
        "Read in": f"{timing.load_s:.2f} s",
        "Observed values in": f"{timing.observed_s:.2f} s",
        "Permutations in": f"{timing.permutations_s:.1f} s",
        "GRASP version": result.code_version,
    }
    counts.dataframe(
        pd.DataFrame({"What": list(facts), "Value": list(facts.values())}),
        hide_index=True,
        height="content",
        alt="Counts and timing",
    )
    labels.dataframe(
        pd.DataFrame({"Label": data.categories, "Annotations": data.label_counts}),
        hide_index=True,
        column_config={"Annotations": _COUNT},
        alt="Annotations per label",
    )
    if data.files:
        rows = [(file.name, file.bytes, file.sha256, file.source) for file in data.files]
        shown = pd.DataFrame(rows, columns=["File", "Bytes", "SHA-256", "Fetched from"])
        show_table(
            shown if any(file.source for file in data.files) else shown.drop(columns="Fetched from"),
            "Input files with their hashes",
            column_config={"Bytes": _COUNT},
        )
    for what, sentences in (
        ("Recoded", [step_sentence(step) for step in result.spec.data.recode]),
        ("Left out", left_out(result.spec.data)),
    ):
        if sentences:
            st.markdown(f"**{what}**: {escape_markdown('; '.join(sentences))}")
    if data.account is not None:
        st.markdown(escape_markdown(f"{account_sentence(data.account)}."))
    st.text(f"Fingerprint of the data (SHA-256): {data.sha256}")


View = Callable[[Shown], None]
_VIEW, _VIEWS = "view", "result-views"
_NUMBERS = "Groups in numbers"
_BESIDE_THE_VERDICT: Mapping[str, str] = {
    "Items": "The verdict above says whether a group differs; items say where.",
    "Compare groups": "Two groups alone have fewer raters, so less shows. The verdict above stands: for it "
    "each group was compared with everybody else.",
    _NUMBERS: "The verdict above takes all tests of a group together. Stars here are of one statistic alone.",
    "Raters": "The verdict above says whether groups differ from everybody else; the map, whether raters of "
    "one group answer alike.",
}
"""How the question of a view relates to the verdict."""


def show_result(shown: Shown, *, check_often: bool = False) -> None:
    """Draw the result below its facts and buttons: one group, or first what holds and then all by views."""
    groups = draw_groups if check_often or _goes_on(shown.result) else show_groups
    if _show_asked_group(shown):
        return
    st.set_page_config(page_title=f"{shown.title} · GRASP")
    views = _views(shown, groups)
    names = list(views)
    asked = st.query_params.get(_VIEW)
    follow_address(_VIEWS, asked if asked in names else names[0])

    def put() -> None:
        chosen = st.session_state[_VIEWS]
        put_in_address(_VIEW, None if chosen == names[0] else chosen)

    chosen = st.segmented_control(
        "View", names, key=_VIEWS, on_change=put, required=True, label_visibility="collapsed"
    )
    chosen = chosen or names[0]
    if chosen in _BESIDE_THE_VERDICT and shown.result.groups and not shown.result.provisional:
        st.caption(_BESIDE_THE_VERDICT[chosen])
    views[chosen](shown)


def _goes_on(result: RunResult) -> bool:
    """Whether its run goes on, with permutations of groups or with a later stage."""
    return result.provisional or result.later is not None


def _show_asked_group(shown: Shown) -> bool:
    """Draw the group that the address names; whether there is one."""
    asked = named_group(shown.result)
    if asked is None:
        return False
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("All groups", icon=":material/arrow_back:", on_click=open_group, args=(None,))
        choose_group(shown.result)
    show_group(shown, asked)
    return True


def _views(shown: Shown, groups: View) -> Mapping[str, View]:
    """The views that this result has, by their names."""
    result = shown.result
    if result.of_everybody:
        items = {"Items": show_disputed} if has_disputed(shown) else {}
        return {
            "Agreement": show_agreement,
            **items,
            "Raters": show_raters_agreement,
            "Data and methods": _data_of_everybody,
        }
    numbers = partial(_in_numbers, groups)
    views: dict[str, View] = {_NUMBERS: numbers} if result.provisional else {"Findings": show_findings}
    if has_items(shown):
        views["Items"] = _items
    if has_pairs(result) or has_slices(result) or has_given(shown):
        views["Compare groups"] = _compare
    views[_NUMBERS] = numbers
    if has_rater_map(shown):
        views["Raters"] = _raters
    if not _goes_on(result):
        views["Data and methods"] = _data_and_methods
    return views


def _compare(shown: Shown) -> None:
    if has_pairs(shown.result):
        st.header("Groups two by two")
        show_pairs(shown)
    if has_slices(shown.result):
        st.header("Groups on the items of each value")
        show_slices(shown)
    if has_given(shown):
        st.header("What is left of one axis, given another?")
        show_given(shown)


def _in_numbers(groups: View, shown: Shown) -> None:
    """What the paper's tables and figures show, and label use."""
    if shown.result.provisional:
        choose_group(shown.result)
    line = in_one_line(shown.result)
    if line:
        st.markdown(line)
    groups(shown)
    if has_label_use(shown.result):
        show_labels(shown)
    if shown.result.dsi:
        st.header("Along which axis does it matter most who is asked?")
        if not shown.result.provisional:
            for sentence in axes_to_watch(shown.result):
                st.markdown(sentence.markdown)
        show_dsi(shown)


def _items(shown: Shown) -> None:
    st.header("Which items cause the difference?")
    show_items(shown)


def _raters(shown: Shown) -> None:
    st.header("Does disagreement follow an axis at all?")
    show_rater_map(shown)


def _data_of_everybody(shown: Shown) -> None:
    st.header("Data")
    kept(shown.key, "data", None, lambda: show_data(shown.result))


def _data_and_methods(shown: Shown) -> None:
    key, result = shown.key, shown.result
    if result.warnings:
        st.header("Warnings")
        show_warned(result.warnings, shown.way)
    st.header("Methods")
    kept(key, "methods", None, lambda: show_methods(result))
    st.header("Data")
    kept(key, "data", None, lambda: show_data(result))


MORE = 1.5
"""Charts are drawn anew once there are so many times as many permutations: it is most of a browser's work."""


def show_so_far(shown: Shown) -> None:
    """Draw what is known; answer, methods and files come with the final result."""
    key = f"charted-{shown.key}"
    before: RunResult | None = st.session_state.get(key)
    if before is None or shown.result.permutations >= MORE * before.permutations:
        st.session_state[key] = before = shown.result
    shown = replace(shown, charted=before)
    with st.container(key=PROVISIONAL):
        st.info(what_is_provisional(shown.result), icon=":material/pending:")
        show_result(shown)
