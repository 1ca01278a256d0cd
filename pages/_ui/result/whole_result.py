"""The whole result in views: first the answer, then groups, items, raters, data and methods."""

import functools
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from grasp_core.analysis.everybody import DisputedItem, disputed_items
from grasp_core.model.errors import DataError
from grasp_core.model.groups import one_line
from grasp_core.model.result import Result, RunResult
from grasp_core.model.spec import PAPER_CONVENTIONS
from grasp_core.model.text import Sentence, escape_markdown, number, printable
from grasp_core.report import everybody
from grasp_core.report.account import account_sentence
from grasp_core.report.charts.forest import agreement_chart
from grasp_core.report.charts.verdicts import CHOSEN, NOT_DRAWN, named_rows
from grasp_core.report.contents import conventions, counts_of, methods
from grasp_core.report.findings.advice import WHICH_ITEMS
from grasp_core.report.findings.answer import HOW_SURE
from grasp_core.report.findings.mending import warned
from grasp_core.report.findings.selection import of_verdict
from grasp_core.report.words import names as words
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.levels import left_out, step_sentence
from grasp_core.server import server
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import require_run
from pages._ui.helpers.screens import for_pages, link_to
from pages._ui.helpers.widgets import Shown
from pages._ui.result import cache, groups, on_demand
from pages._ui.result.groups import choose_group, named_group, open_group, show_group, show_groups


def show_answer(shown: Shown, buttons: Callable[[], None]) -> None:
    """Draw caption and buttons, the verdict as title, and the number of groups with each verdict."""
    result = shown.result
    told, data, found = cache.first_screen(shown.key, result), result.data, result.everybody
    amounts = (data.annotations, "answer"), (data.items, "item"), (data.raters, "rater")
    facts = [shown.title, *(number(*amount) for amount in amounts)]
    if found is not None and found.alpha is not None and not result.of_everybody:
        facts.append(f"overall agreement {words.two_decimals(found.alpha)} of 1")
    ui.show_headline(facts, buttons, told.title, told.counts)


def show_facts(result: Result) -> None:
    """Draw which labels were analysed, their number, and one line on the run."""
    data, analysis = result.data, result.spec.analysis
    st.markdown(escape_markdown(printable(labelled_sentence(result.spec.data, data))))
    facts = []
    if result.permutations:
        facts = [f"{result.permutations:,} permutations", f"seed {analysis.seed}"]
        if all(getattr(analysis, name) == value for name, value in PAPER_CONVENTIONS.items()):
            facts.append("*as in the paper*")
    st.markdown(" · ".join(facts))


_ANSWER = Path(__file__).parents[1] / "example_answer.json"  # tools/example_answer.py writes it


def show_small_answer() -> None:
    """Draw three groups of the example's answer, as Results shows them."""
    result = _example_answer()
    with st.container(border=True):
        st.caption("An answer looks like this (the built-in example)")
        st.header(cache.first_screen("example in small", result).title.plain)
        chart = cache.verdict_chart("example in small", result, ui.page_theme(), narrow=True)
        st.vega_lite_chart(spec=dict(chart), theme=None)
        st.caption(HOW_SURE)


@functools.cache
def _example_answer() -> RunResult:
    return RunResult.from_dict(json.loads(_ANSWER.read_text(encoding="utf-8")))


_ROWS = "rows-of-groups"


def _show_findings(shown: Shown) -> None:
    told = cache.first_screen(shown.key, shown.result)
    chart, side = st.columns([2, 1], gap="large")
    with chart:
        _groups(shown, told)
        choose_group(shown.result)
    with side, st.container(key="beside"):
        _part("How sure", told.sure)
        which = None if on_demand.has_items(shown) else WHICH_ITEMS.for_pages
        to_do = tuple(one for one in told.to_do if one != which)
        _part("What to do", to_do)
        to_plan = told.certain or not told.doubtful  # otherwise it is too early to recruit
        if shown.run is not None and not shown.stranger and to_do and to_plan:
            asked = {"run": shown.run.id}
            st.page_link("plan.py", label="Plan it", query_params=asked, icon=":material/calculate:")
        warnings = warned(shown.result)
        if warnings.first:
            st.header("Careful")
            ui.show_one(warnings.first[0], shown.way, brief=True)
            if shown.result.later is None:  # that view comes with the last stage
                _more(len(warnings.first) + len(warnings.others) - 1, "warning", "Data and methods")
        if told.clearest is not None:
            on_demand.show_where(shown, told.clearest)
        else:
            _part("All raters together", [everybody.all_together(shown.result)])
            if _has_disputed(shown):
                looks = {"type": "tertiary", "key": "disputed"}
                ui.button("See on which items", "arrow_forward", ui.put_in_address, _VIEW, _ITEMS, **looks)


def _part(heading: str | None, said: Sequence[Sentence | None]) -> None:
    known = [one for one in said if one is not None]
    if known:
        if heading is not None:
            st.header(heading)
        st.markdown(" ".join(one.markdown for one in known))


def _groups(shown: Shown, told: cache.FirstScreen) -> None:
    if not told.drawn:
        st.caption(NOT_DRAWN)
        return
    for key, narrow in (("on-screens", False), ("on-phones", True)):
        with st.container(key=f"{key}-verdicts"):
            _rows(shown, f"{_ROWS}-{narrow}", narrow=narrow)
    filled = ", filled if clear" if told.certain else ""
    halves = ", of two groups the first’s" if told.halves else ""
    luck = "; some miss “same” by luck" if told.hints else ""
    st.caption(
        f"Dot: estimate{filled}{halves}. Line: where it likely lies{luck}. In brackets: raters. "
        "Click a row for more."
    )
    _more(told.not_drawn, "group", "Groups in numbers")


def _more(count: int, what: str, view: str) -> None:
    if count:
        looks = {"type": "tertiary", "key": f"more-{what}s"}
        ui.button(number(count, f"more {what}"), "arrow_forward", ui.put_in_address, "view", view, **looks)


def _rows(shown: Shown, key: str, *, narrow: bool) -> None:
    """Draw the groups by verdict; a click on a row, or Enter, opens its group."""

    def open_clicked() -> None:
        clicked = st.session_state[key].selection[CHOSEN]
        name = clicked[0].get("name") if clicked else None
        if name is not None:
            open_group(name)

    spec = dict(cache.verdict_chart(shown.key, shown.result, ui.page_theme(), narrow=narrow))
    size = "narrow" if narrow else "wide"
    with st.container(key=f"drawn-{size}-{key}", gap=None):
        st.vega_lite_chart(spec=spec, theme=None, key=key, on_select=open_clicked, selection_mode=CHOSEN)
        # A chart takes no keys: an invisible button lies on each of its rows, for Tab and Enter. The chart's
        # description tells all rows.
        with st.container(key=f"buttons-{size}-{key}", gap=None):
            for name, of in named_rows(spec):
                looks = {"on_click": open_group, "args": (name,), "key": f"{key}-{name}", "width": "stretch"}
                st.button(escape_markdown(of), **looks)


def _show_agreement(shown: Shown) -> None:
    found = shown.result.everybody
    if found is None:
        return
    chart, side = st.columns([2, 1], gap="large")
    with chart:
        if found.labels:
            cache.chart(shown.key, "agreement", shown.result, agreement_chart)
        st.caption(everybody.in_one_line(shown.result))
    with side, st.container(key="beside"):
        _part("Who differs", [everybody.who_differs(found)])
        _part("Over batches and topics", everybody.over_batches(found))
        _part("What to do", [everybody.agreement_advice(found)])
        _part("Do groups of raters differ?", [everybody.no_groups(shown.result).for_pages])
        if not shown.stranger:
            link_to("data", "Add raters")
    with st.expander("These figures as tables"):
        for kind, alt_text in (
            ("labels", "How often another rater says the same, by label"),
            ("batches", "Agreement by batch"),
        ):
            if getattr(found, kind):
                ui.show_table(everybody.agreement_table(found, kind), alt_text, height="content")


def _show_raters_agreement(shown: Shown) -> None:
    """Draw a row for each rater, least agreement first, without their ids."""
    found = shown.result.everybody
    if found is None or not found.raters:
        st.info("Raters are not listed here: there are too many, or this is a shared result.")
        return
    _part(None, [everybody.who_differs(found)])
    alt_text = "Raters by how often they answer as another did"
    ui.show_table(everybody.agreement_table(found, "raters"), alt_text, height="content")
    st.caption(
        "Of 100 answers, how many another rater of the same item gave too. Raters are numbered in the order "
        "of their ids: no result names one."
    )


def _has_disputed(shown: Shown) -> bool:
    one_question = len(shown.result.spec.data.questions) == 1
    return one_question and shown.result.everybody is not None and on_demand.sees_items(shown)


def _show_disputed(shown: Shown) -> None:
    run, found = shown.run, shown.result.everybody
    if run is None or found is None:
        return
    names = {one.label: f"That one rater only called {one_line(one.label)}" for one in found.labels}
    label = ui.pick("Items", {None: "On which they agree least", **names})

    def look() -> tuple[DisputedItem, ...]:
        data = server.shared().service.data_of(run)
        return disputed_items(data.annotations, run.spec.analysis.level, label)

    try:
        require_run(run.project)
        rows = ui.once("disputed-items", (run.id, label), look)
    except DataError as error:
        st.info(for_pages(str(error)))
        return
    frame = {"Item": [one.item for one in rows]}
    texts = on_demand.item_texts(run, shown.result.spec.data.text)
    if texts is not None:
        frame["Text"] = [texts.get(one.item, "") for one in rows]
    frame["Answers"] = [" · ".join(f"{one_line(name)}: {n:,}" for name, n in one.answers) for one in rows]
    ui.show_table(pd.DataFrame(frame), "Items with the answers that they got", height="content")


def _show_methods(result: RunResult) -> None:
    told = methods(result)
    for one in told:
        st.markdown(f"**{one.name}**: {escape_markdown(one.explanation)}")
    with st.expander("Formulas"):
        for one in told:
            st.markdown(f"**{one.name}**: {escape_markdown(one.formula)}")
    st.subheader("Conventions of this run")
    for name, sentence in conventions(result.spec, result.stopping).items():
        st.markdown(f"**{name}**: {escape_markdown(sentence)}")


def _show_data(result: RunResult) -> None:
    show_facts(result)
    data, timing = result.data, result.timing
    counts, labels = st.columns(2)
    facts = {
        **counts_of(data),
        "Read in": f"{timing.load_s:.2f} s",
        "Observed values in": f"{timing.observed_s:.2f} s",
        "Permutations in": f"{timing.permutations_s:.1f} s",
        "GRASP version": result.code_version,
    }
    counted = st.column_config.NumberColumn(format="localized")
    with counts:
        shown = pd.DataFrame(facts.items(), columns=["What", "Value"])
        ui.show_table(shown, "Counts and timing", height="content")
    with labels:
        shown = pd.DataFrame({"Label": data.categories, "Annotations": data.label_counts})
        ui.show_table(shown, "Annotations per label", column_config={"Annotations": counted})
    if data.files:
        rows = [(file.name, file.bytes, file.sha256, file.source) for file in data.files]
        shown = pd.DataFrame(rows, columns=["File", "Bytes", "SHA-256", "Fetched from"])
        if not any(file.source for file in data.files):
            shown = shown.drop(columns="Fetched from")
        ui.show_table(shown, "Input files with their hashes", column_config={"Bytes": counted})
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
_ITEMS = "Items"
_NUMBERS = "Groups in numbers"
_BESIDE_THE_VERDICT: Mapping[str, str] = {
    _ITEMS: "The verdict above says whether a group differs; items say where.",
    "Compare groups": "Two groups alone have fewer raters, so less shows. The verdict above stands: for it "
    "each group was compared with everybody else.",
    _NUMBERS: "The verdict above takes all tests of a group together. Stars here are of one statistic alone.",
    "Raters": "The verdict above says whether groups differ from everybody else; the map, whether raters of "
    "one group answer alike.",
}
"""Relation of a view's question to the verdict."""
_OF_HALVES = "Of an axis of two groups the verdict above compares the same two."


def show_result(shown: Shown, *, check_often: bool = False) -> None:
    """Draw the result below its facts and buttons: one group if the address names it, else the views."""
    group = named_group(shown.result)
    if group is not None:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            ui.button("All groups", "arrow_back", open_group, None)
            choose_group(shown.result)
        if shown.result.provisional or not cache.first_screen(shown.key, shown.result).drawn:
            show_group(shown, group)
            return
        others, beside = st.columns([1, 2], gap="large")
        with others, st.container(key="others"):
            _rows(shown, f"{_ROWS}-others", narrow=True)
        with beside:
            show_group(shown, group)
        return
    st.set_page_config(page_title=f"{shown.title} · GRASP")
    views = _views(shown, check_often=check_often)
    names = list(views)
    asked = st.query_params.get(_VIEW)
    # A key for each list: while a run ends, the browser still sends the first view of the list before.
    key = f"{_VIEWS}-{names[0]}"
    ui.follow_address(key, asked if asked in names else names[0])

    def put() -> None:
        chosen = st.session_state[key]
        ui.put_in_address(_VIEW, None if chosen == names[0] else chosen)

    looks = {"key": key, "on_change": put, "required": True, "label_visibility": "collapsed"}
    chosen = st.segmented_control("View", names, **looks) or names[0]
    if chosen in _BESIDE_THE_VERDICT and shown.result.groups and not shown.result.provisional:
        axes = Counter(row.group.axes for row in shown.result.groups)
        halves = chosen == "Compare groups" and max(axes.values()) == 2
        st.caption(_OF_HALVES if halves else _BESIDE_THE_VERDICT[chosen])
    views[chosen](shown)


_DISPUTED: tuple[str, View] = ("On which items do all raters agree least?", _show_disputed)


def _views(shown: Shown, *, check_often: bool) -> Mapping[str, View]:
    result = shown.result
    if result.of_everybody:
        items = {_ITEMS: partial(_headed, [_DISPUTED])} if _has_disputed(shown) else {}
        whole = {"Agreement": _show_agreement, **items, "Raters": _show_raters_agreement}
        return {**whole, "Data and methods": partial(_data_and_methods, methods=False)}
    goes_on = result.provisional or result.later is not None
    numbers = partial(_in_numbers, at_once=check_often or goes_on)
    views: dict[str, View] = {_NUMBERS: numbers} if result.provisional else {"Findings": _show_findings}
    if on_demand.has_items(shown):
        clear = of_verdict(result, "clear")
        asks = "Which items cause the difference?" if clear else "On which items do groups differ most?"
        first = [] if clear or not _has_disputed(shown) else [_DISPUTED]
        views[_ITEMS] = partial(_headed, [*first, (asks, on_demand.show_items)])
    compared = [
        (heading, show)
        for heading, there, show in (
            ("Groups two by two", result.pairs, groups.show_pairs),
            ("Groups on the items of each value", result.slices, groups.show_slices),
            ("What is left of one axis, given another?", groups.has_given(shown), groups.show_given),
        )
        if there
    ]
    if compared:
        views["Compare groups"] = partial(_headed, compared)
    views[_NUMBERS] = numbers
    if on_demand.has_rater_map(shown):
        views["Raters"] = partial(
            _headed, [("Does disagreement follow an axis at all?", on_demand.show_rater_map)]
        )
    if not goes_on:
        views["Data and methods"] = _data_and_methods
    return views


def _headed(sections: Sequence[tuple[str, View]], shown: Shown) -> None:
    for heading, show in sections:
        st.header(heading)
        show(shown)


def _in_numbers(shown: Shown, *, at_once: bool) -> None:
    if shown.result.provisional:
        choose_group(shown.result)
    line = everybody.in_one_line(shown.result)
    if line:
        st.markdown(escape_markdown(line))
    show_groups(shown, at_once=at_once)


def _data_and_methods(shown: Shown, *, methods: bool = True) -> None:
    key, result = shown.key, shown.result
    if methods:
        if result.warnings:
            st.header("Warnings")
            ui.show_warned(result.warnings, shown.way)
        st.header("Methods")
        cache.kept(key, "methods", None, lambda: _show_methods(result))
    st.header("Data")
    cache.kept(key, "data", None, lambda: _show_data(result))


MORE = 1.5
"""Factor by which permutations grow before charts are redrawn, which is most of a browser's work."""


def show_so_far(shown: Shown) -> None:
    """Draw the provisional result; answer, methods and files come with the final one."""
    key = f"charted-{shown.key}"
    before: RunResult | None = st.session_state.get(key)
    if before is None or shown.result.permutations >= MORE * before.permutations:
        st.session_state[key] = before = shown.result
    shown = replace(shown, charted=before)
    with st.container(key="provisional"):
        if shown.result.provisional and named_group(shown.result) is None:
            # Who comes for the answer would meet all statistics first: they come for those who ask.
            st.info("Who differs is told here once all groups are tested.", icon=":material/pending:")
            if not st.toggle("Show the numbers so far", key="numbers-so-far", persist_state="page"):
                return
        told = None if shown.result.provisional else cache.first_screen(shown.key, shown.result)
        if told is not None and told.certain:  # later stages change no certain finding
            st.header(told.title.markdown)
        st.info(words.what_is_provisional(shown.result), icon=":material/pending:")
        show_result(shown)
