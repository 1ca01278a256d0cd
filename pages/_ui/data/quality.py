"""The quality report of the Data page: what the data can and cannot show, before any run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from itertools import combinations
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from grasp_core import server
from grasp_core.annotations import Annotations
from grasp_core.data_quality import tables
from grasp_core.data_quality.constant import ConstantRaters
from grasp_core.data_quality.power import GroupPower, estimate, power_tasks
from grasp_core.data_quality.random_responders import RandomRaters
from grasp_core.data_quality.report import Looked, looked_at
from grasp_core.groups import AxisSet
from grasp_core.io.dataset.load import Dataset
from grasp_core.report.words.names import axis_label, one_line
from grasp_core.report.words.text import escape_markdown
from grasp_core.screens.constant import too_constant
from grasp_core.screens.duplicates import Duplicates, is_instant, is_quick, near_duplicates
from grasp_core.screens.random_responders import random_responders
from grasp_core.turns import Turns
from grasp_core.wording import number
from pages._ui.data.screened import offer_leaving_out
from pages._ui.session.permissions import require_run
from pages._ui.session.state import work
from pages._ui.widgets.sections import when_open

_KEY = "quality"
_KEPT = 12
LOOKING = Turns("looking at data", at_once=2, each=1, waiting=8, waiting_each=3, patience=120)

A = TypeVar("A")
T = TypeVar("T")


def show_quality(dataset: Dataset, proposed_axes: tuple[str, ...]) -> None:
    """Findings in words, the figures behind them, and what a run could detect."""
    reading = None if work().shown is None else work().shown[1]
    if dataset.further and reading is not None:
        first = escape_markdown(one_line(str(reading.label)))
        st.caption(f"Looked at by the answers to the first question, {first}.")
    looked = _once("looked at", dataset, lambda: _aside(looked_at, dataset, dataset.annotations))
    _, random, constant, small, close, assignment = looked
    duplicates = _near_duplicates(dataset)
    sentences = tables.findings(random, constant, duplicates, small, close, assignment)
    found = {
        "random": random.random,
        "constant": constant.constant,
        "duplicates": 0 if duplicates is None else len(duplicates.pairs),
    }

    def report() -> None:
        for sentence in sentences:
            st.warning(escape_markdown(sentence), icon=":material/info:")
        if not sentences:
            st.write("Nothing odd was found about the raters, their groups and the axes.")
        offer_leaving_out(found, reading)
        _show_figures(looked, duplicates)
        _show_whom(dataset.annotations, random, constant, duplicates)

    told = number(len(sentences), "remark") if sentences else "nothing odd"
    when_open(f"Quality of the ratings: {told}", report, key="quality-report")
    if not dataset.raters.axes:
        return
    when_open(
        "How small a difference these data could show",
        partial(_show_power, dataset, proposed_axes),
        key="power",
    )


def _aside(look: Callable[[A], T], at: A, annotations: Annotations) -> T:
    """In a worker, in turn by person, unless that takes longer than looking here."""
    if is_instant(annotations):
        return look(at)
    with st.spinner("Looking at raters, groups and axes"), LOOKING.turn():
        return next(server.shared().service.pool.each(look, [at]))


def _near_duplicates(dataset: Dataset) -> Duplicates | None:
    """The search, at once where it is short and else when it is asked for."""

    def search() -> Duplicates:
        return _aside(near_duplicates, dataset.annotations, dataset.annotations)

    if _known("duplicates", dataset) or is_quick(dataset.annotations):
        return _once("duplicates", dataset, search)
    if st.button("Look for raters who agree too closely", icon=":material/person_search:"):
        require_run()
        return _once("duplicates", dataset, search)
    return None


def _show_figures(looked: Looked, duplicates: Duplicates | None) -> None:
    found, random, constant, small, close, assignment = looked
    left, right = st.columns(2)
    with left:
        st.subheader("How much there is")
        _table(tables.overview_table(found), "Items, raters, annotations and what is missing")
    with right:
        st.subheader("Items by number of raters")
        _table(tables.histogram_table(found), "Items by number of raters")
    if random.by_group:
        st.subheader("Raters at chance")
        _table(tables.random_table(random), "Groups with raters who agree no more than chance does")
    if constant.by_group:
        st.subheader("Raters who gave one label always")
        _table(tables.constant_table(constant), "Groups with raters who gave one label always")
    st.write(escape_markdown(tables.random_sentence(random)))
    if duplicates is not None:
        st.write(escape_markdown(tables.duplicates_sentence(duplicates)))
    if small:
        st.subheader("Small groups")
        _table(tables.small_groups_table(small), "Small groups per axis and pair of axes")
    if close:
        st.subheader("Axes that go together")
        st.caption(
            "Cramér's V, corrected for bias: 0 where two axes have nothing to do with each other, 1 where "
            "one tells the other. From 0.8 the data cannot tell them apart. Their cross table is above."
        )
        _table(tables.overlap_table(close), "How closely each pair of axes goes together")
    if assignment:
        st.subheader("Items and workloads of groups")
        st.caption(
            "Of each axis the group that stands out most. 100 % and 1.00 where an axis has no part in who "
            "rates which items, and how many; p against shuffled groups."
        )
        _table(tables.assignment_table(assignment), "Which groups were given other items, or more of them")


def _show_whom(
    annotations: Annotations,
    random: RandomRaters,
    constant: ConstantRaters,
    duplicates: Duplicates | None,
) -> None:
    """Ids, for whoever brought the data and may want to leave somebody out; never part of a result."""
    pairs = () if duplicates is None else duplicates.pairs
    if not random.random and not constant.constant and not pairs:
        return
    if not st.toggle("Show which raters", help="Shown to you alone; no result and no link names a rater."):
        return
    ids = annotations.rater_ids
    if random.random:
        positions = np.flatnonzero(random_responders(annotations).random)
        whom = pd.DataFrame({"at chance": [ids[position] for position in positions]})
        _table(whom, "Raters at chance")
    if constant.constant:
        positions = np.flatnonzero(too_constant(annotations).named)
        whom = pd.DataFrame({"gave one label always": [ids[position] for position in positions]})
        _table(whom, "Raters who gave one label always")
    if pairs:
        whom = pd.DataFrame(
            {
                "rater": [ids[pair.first] for pair in pairs],
                "other rater": [ids[pair.second] for pair in pairs],
                "items in common": [pair.common for pair in pairs],
                "equal labels": [pair.agreed for pair in pairs],
                "expected of independent raters": [f"{pair.expected:,.0f}" for pair in pairs],
            }
        )
        _table(whom, "Pairs of raters who agree too closely")


def _show_power(dataset: Dataset, proposed: tuple[str, ...]) -> None:
    """How large a difference must be to be found, simulated when asked for."""
    names = tuple(dataset.raters.axes)
    if not names:
        return
    st.caption("How large a difference has to be for a run on these data to find it 8 times out of 10.")
    options = [axes for size in (1, 2) for axes in combinations(names, size)]
    chosen: list[AxisSet] = st.multiselect(
        "Groups of",
        options,
        default=[(name,) for name in proposed if name in names] or options[:1],
        format_func=axis_label,
        key=work().key("power-axes"),
    )
    what = ("power", *chosen)
    pressed = st.button(
        "Estimate what could be detected",
        icon=":material/experiment:",
        disabled=not chosen,
        help="Simulates effects of growing strength in your data's own design. It takes about a second per "
        "group, several in large data.",
    )
    if pressed:
        require_run()
    if pressed or _known(what, dataset):
        found = _once(what, dataset, lambda: _simulate(dataset, chosen))
        if not found:
            st.write("No group has two raters or more.")
            return
        _table(tables.power_table(found), "Per group, the smallest shifts of GAI that 8 of 10 runs detect")
        for sentence in tables.power_sentences(found):
            st.caption(escape_markdown(sentence))


def _simulate(dataset: Dataset, axes: list[AxisSet]) -> list[GroupPower]:
    """In the worker processes, so that nobody else's pages wait."""
    tasks = power_tasks(dataset.annotations, dataset.raters, axes)
    found: list[GroupPower] = []
    with st.spinner("Simulating"):
        bar = st.progress(0.0)
        for row in server.shared().service.pool.each(estimate, tasks):
            found.append(row)
            bar.progress(len(found) / len(tasks), text=f"{len(found):,} of {len(tasks):,} groups")
        bar.empty()
    return found


def _once(what: Hashable, dataset: Dataset, compute: Callable[[], T]) -> T:
    """A figure of this session's data, computed once."""
    kept = st.session_state.setdefault(_KEY, {})
    key = _key(what, dataset)
    if key not in kept:
        kept[key] = compute()
        for old in list(kept)[:-_KEPT]:
            del kept[old]
    value: T = kept[key]
    return value


def _known(what: Hashable, dataset: Dataset) -> bool:
    return _key(what, dataset) in st.session_state.get(_KEY, {})


def _key(what: Hashable, dataset: Dataset) -> Hashable:
    return what, dataset.summary.sha256, work().data_spec, tuple(dataset.raters.axes)


def _table(frame: pd.DataFrame, alt: str) -> None:
    headed = frame.rename(columns=lambda name: name[:1].upper() + name[1:])
    st.dataframe(headed, hide_index=True, alt=alt)
