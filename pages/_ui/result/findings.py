"""What is told first of a result: the answer, groups by verdict or how well all agree, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from grasp_core.analysis.everybody import DisputedItem, disputed_items
from grasp_core.model.errors import DataError
from grasp_core.model.groups import one_line
from grasp_core.model.result import Result, RunResult
from grasp_core.model.spec import PAPER_CONVENTIONS
from grasp_core.model.text import Sentence, escape_markdown, number, printable
from grasp_core.report import charts
from grasp_core.report.charts.verdicts import CHOSEN, NOT_DRAWN
from grasp_core.report.everybody import (
    agreement_advice,
    agreement_table,
    in_one_line,
    no_groups,
    over_batches,
    who_differs,
)
from grasp_core.report.findings.findings import judged
from grasp_core.report.findings.mending import warned
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.names import lead_statistic
from grasp_core.server import server
from pages._ui.helpers import page_style
from pages._ui.helpers.identity import require_run, visitor
from pages._ui.helpers.navigation import link_to
from pages._ui.helpers.outputs import choose_page, page_theme
from pages._ui.helpers.widgets import Shown, put_in_address, show_one, show_table
from pages._ui.result import cache
from pages._ui.result.items import item_texts, show_where
from pages._ui.result.one_group import choose_group, open_group


def show_answer(shown: Shown, buttons: Callable[[], None]) -> None:
    """The caption and buttons, the title, which is the verdict, and how many groups have which verdict."""
    result = shown.result
    told = cache.told_first(shown.key, result)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(escape_markdown(" · ".join([shown.title, *_counted(result)])), width="stretch")
        buttons()
    st.title(told.title.markdown)
    if told.counts is not None:
        st.markdown(told.counts.markdown)


def _counted(result: RunResult) -> Iterator[str]:
    """How much was looked at; beside a result about groups also how well all raters agree."""
    data, found = result.data, result.everybody
    yield number(data.annotations, "answer")
    yield number(data.items, "item")
    yield number(data.raters, "rater")
    if found is not None and found.alpha is not None and not result.of_everybody:
        yield f"overall agreement {found.alpha:.2f}"


def show_facts(result: Result) -> None:
    """Which labels were looked at and how many, and one line on what was run."""
    data, analysis = result.data, result.spec.analysis
    st.markdown(escape_markdown(printable(labelled_sentence(result.spec.data, data))))
    facts = [f"{result.permutations:,} permutations", f"seed {analysis.seed}"] if result.permutations else []
    if result.permutations and all(
        getattr(analysis, name) == value for name, value in PAPER_CONVENTIONS.items()
    ):
        facts.append("*as in the paper*")
    st.markdown(" · ".join(facts))


_ROWS = "rows-of-groups"


def show_findings(shown: Shown) -> None:
    """The groups, clearest first, and what stands beside them."""
    chart, side = st.columns([2, 1], gap="large")
    with chart:
        _groups(shown)
        choose_group(shown.result)
    with side, st.container(key=page_style.BESIDE):
        told = cache.told_first(shown.key, shown.result)
        _section("How sure", told.sure)
        _section("What to do", told.to_do)
        if shown.run is not None and not shown.stranger and told.to_do:
            asked = {"run": shown.run.id}
            st.page_link("plan.py", label="Plan it", query_params=asked, icon=":material/calculate:")
        warnings = warned(shown.result)
        if warnings.first:
            st.header("Careful")
            show_one(warnings.first[0], shown.way, brief=True)
            if shown.result.later is None:  # else that view comes with the last stage
                _more(len(warnings.first) + len(warnings.others) - 1, "warning", "Data and methods")
        if told.clearest is not None:
            show_where(shown, told.clearest)


def _groups(shown: Shown) -> None:
    result, theme = shown.result, page_theme()
    if not judged(result):
        page = choose_page(result, "findings-page")
        lead = lead_statistic(result)
        cache.chart(
            shown.key,
            f"forest_plot {lead} q {page}",
            result,
            lambda result, theme: charts.forest_plot(result, lead, theme, "q", page=page),
        )
        return
    told = cache.told_first(shown.key, result)
    if not told.drawn:
        st.info(NOT_DRAWN)
        return
    for key, narrow in ((page_style.ON_SCREENS, False), (page_style.ON_PHONES, True)):
        with st.container(key=f"{key}-{page_style.VERDICTS}"):
            st.vega_lite_chart(
                spec=dict(cache.verdict_chart(shown.key, result, theme, narrow=narrow)),
                theme=None,
                key=f"{_ROWS}-{narrow}",
                on_select=partial(_open, narrow=narrow),
                selection_mode=CHOSEN,
            )
    st.caption(
        "Dot: estimate, filled where it makes the group differ. Line: its plausible range. In brackets: "
        "raters. Click a row for more."
    )
    _more(told.not_drawn, "group", "Groups in numbers")


def _more(count: int, what: str, view: str) -> None:
    """How many more there are, and the way to the view that has them."""
    if count:
        label = number(count, f"more {what}")
        st.button(
            label,
            type="tertiary",
            icon=":material/arrow_forward:",
            key=f"more-{what}s",
            on_click=put_in_address,
            args=("view", view),
        )


def _open(*, narrow: bool) -> None:
    """Go to the group whose row was clicked."""
    clicked = st.session_state[f"{_ROWS}-{narrow}"].selection[CHOSEN]
    name = clicked[0].get("name") if clicked else None
    if name is not None:
        open_group(name)


def _section(heading: str, said: Sequence[Sentence]) -> None:
    if said:
        st.header(heading)
        st.markdown(" ".join(one.markdown for one in said))


_DISPUTED = "disputed-items"


def show_agreement(shown: Shown) -> None:
    """Labels by how often another rater gives them too, and beside them who differs and what to do."""
    found = shown.result.everybody
    if found is None:
        return
    chart, side = st.columns([2, 1], gap="large")
    with chart:
        if found.labels:
            cache.chart(shown.key, "agreement", shown.result, charts.agreement_chart)
        st.caption(in_one_line(shown.result))
    with side, st.container(key=page_style.BESIDE):
        _part("Who differs", [who_differs(found)])
        _part("Over batches and topics", over_batches(found))
        _part("What to do", [agreement_advice(found)])
        st.header("Do groups of raters differ?")
        st.markdown(no_groups(shown.result).markdown)
        if not shown.stranger:
            link_to("data", "Add raters")
    with st.expander("These figures as tables"):
        if found.labels:
            show_table(
                agreement_table(found, "labels"),
                "How often another rater says the same, by label",
                height="content",
            )
        if found.batches:
            show_table(agreement_table(found, "batches"), "Agreement by batch", height="content")


def show_raters_agreement(shown: Shown) -> None:
    """A row a rater, least agreement first; nobody is named."""
    found = shown.result.everybody
    if found is None or not found.raters:
        st.info("Raters are not listed here: there are too many, or this is a shared result.")
        return
    _part(None, [who_differs(found)])
    show_table(
        agreement_table(found, "raters"), "Raters by how often they answer as another did", height="content"
    )
    st.caption(
        "Of 100 answers, how many another rater of the same item gave too. Raters are numbered in the order "
        "of their ids: no result names one."
    )


def has_disputed(shown: Shown) -> bool:
    """Whether single items can be looked at: not by strangers, for their ids and texts are data."""
    known = shown.run is not None and not shown.stranger and visitor() is not None
    return known and len(shown.result.spec.data.questions) == 1


def show_disputed(shown: Shown) -> None:
    """The items on which raters agree least, or those that one rater alone gave a label."""
    run, found = shown.run, shown.result.everybody
    if run is None or found is None:
        return
    st.header("On which items do they agree least?")
    label = st.selectbox(
        "Items",
        [None, *(one.label for one in found.labels)],
        format_func=lambda name: (
            "On which they agree least" if name is None else f"That one rater only called {one_line(name)}"
        ),
    )
    try:
        require_run(run.project)
        key, kept = (run.id, label), st.session_state.get(_DISPUTED)
        if kept is None or kept[0] != key:
            data = server.shared().service.data_of(run)
            kept = st.session_state[_DISPUTED] = (
                key,
                disputed_items(data.annotations, run.spec.analysis.level, label),
            )
        rows: tuple[DisputedItem, ...] = kept[1]
    except DataError as error:
        st.info(escape_markdown(str(error)))
        return
    answers = [" · ".join(f"{one_line(name)}: {n:,}" for name, n in one.answers) for one in rows]
    frame = {"Item": [one.item for one in rows]}
    texts = item_texts(run, shown.result.spec.data.text)
    if texts is not None:
        frame["Text"] = [texts.get(one.item, "") for one in rows]
    show_table(
        pd.DataFrame(frame | {"Answers": answers}), "Items with the answers that they got", height="content"
    )


def _part(heading: str | None, said: Sequence[Sentence | None]) -> None:
    known = [one for one in said if one is not None]
    if known:
        if heading is not None:
            st.header(heading)
        st.markdown(" ".join(one.markdown for one in known))
