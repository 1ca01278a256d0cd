"""The data as Data describes them: a sentence, an overview, first rows, and their quality."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import combinations
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from grasp_core.analysis.power import GroupPower, estimate, power_tasks
from grasp_core.model.annotations import Annotations
from grasp_core.model.data_spec import Bins, DataSpec
from grasp_core.model.groups import AxisSet, axis_label, one_line
from grasp_core.model.text import escape_markdown, first_few, number, printable_name, printable_names
from grasp_core.model.turns import Turns
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.screens.constant import too_constant
from grasp_core.reading.screens.duplicates import CloseRaters, Duplicates, is_quick, near_duplicates
from grasp_core.reading.screens.random_responders import random_responders
from grasp_core.report import quality as tables
from grasp_core.report.contents import counts_of
from grasp_core.report.quality import QualityChecks, axis_counts, cross_table, label_counts, looked_at
from grasp_core.server import server
from pages._ui.data.decisions import offer_leaving_out
from pages._ui.data.recoding import offer_ranges
from pages._ui.helpers.identity import require_run
from pages._ui.helpers.screens import for_pages
from pages._ui.helpers.state import work
from pages._ui.helpers.widgets import button, caption, metrics, pick, several, show_table, when_open

_PREVIEW_ROWS = 20
_PREVIEW_CHARACTERS = 1000
_LABELS_SHOWN, _NAMES_SHOWN = 6, 8


def show_preview() -> None:
    """Draw the first rows of each file, as read except that long texts are cut."""

    def show() -> None:
        for table in filter(None, work().tables.values()):
            caption(table.name)
            rows = table.head(_PREVIEW_ROWS).map(lambda text: text[:_PREVIEW_CHARACTERS])
            show_table(rows, f"First rows of {table.name}")

    when_open("First rows of the files", show, key="preview")


def say_what_was_understood(dataset: Dataset) -> None:
    """Draw the data in one sentence, their labels, and the attributes of raters and items."""
    data = dataset.summary
    st.title(
        f"{data.annotations:,} answers to {number(data.items, 'item')} by {number(data.raters, 'rater')}"
    )
    labels = " · ".join(
        f"**{escape_markdown(one_line(str(one.label)))}**: {one.annotations:,}"
        for one in label_counts(dataset)[:_LABELS_SHOWN].itertuples()
    )
    more = len(data.categories) - _LABELS_SHOWN
    axes = [printable_name(axis_label((name,))) for name in dataset.raters.axes]
    known = "Nothing is known of the raters."
    if axes:
        known = f"Known of each rater: {first_few(axes, _NAMES_SHOWN)}."
    if dataset.attributes:
        attributes = printable_names(tuple(dataset.attributes))
        known += f" Known of each item: {first_few(attributes, _NAMES_SHOWN)}."
    beyond = f" and {more:,} more" if more > 0 else ""
    st.markdown(f"Labels: {labels}{beyond}. {escape_markdown(known)}")


def say_what_is_no_axis(guess: Guess, dataset: Dataset, spec: DataSpec) -> None:
    """Name columns about raters that are compared only by choice; offer to cut ages in years into ranges."""
    session = work()
    cut = {step.column for step in session.recode if isinstance(step, Bins)}
    told = [one for one in guess.reasons if one.field == "axes" and one.candidates]
    for reason in told:
        if cut.isdisjoint(reason.candidates):
            caption(f"{reason.sentence}.")
            for name in reason.candidates:
                offer_ranges(name, spec)
    aside = {*session.proposed_axes, *(name for one in told for name in one.candidates)}
    left = printable_names(tuple(name for name in dataset.raters.axes if name not in aside))
    if left:
        caption(f"Compared only if you choose it on Analysis: {first_few(left, _NAMES_SHOWN)}.")


def account_title(dataset: Dataset) -> str:
    """Return the numbers of rows read and left out, in a few words."""
    account = dataset.summary.account
    if account is None:
        return "What was left out"
    gone = sum(one.count for one in account.left_out)
    return f"Everything read: {number(account.read, account.unit)}, {gone:,} left out"


def show_overview(dataset: Dataset, proposed: tuple[str, ...]) -> None:
    """Draw counts, labels, and raters by axis and by two axes (the paper's Tables 1 to 3)."""
    metrics(counts_of(dataset.summary))
    if dataset.attributes:
        known = (f"{name} ({number(len(one.values), 'value')})" for name, one in dataset.attributes.items())
        caption(f"Columns that describe items, for slices: {', '.join(known)}.")
    left, right = st.columns([1, 2])
    figure = st.column_config.NumberColumn
    with left:
        st.subheader("Labels")
        labels = label_counts(dataset)
        heads = {
            "label": "Label",
            "annotations": figure("Annotations", format="localized"),
            "share": figure("Share", format="%.1f%%"),
        }
        shares = labels.assign(share=100 * labels["share"])
        show_table(shares, "Annotations per label", column_config=heads)
    with right:
        st.subheader("Raters by axis")
        _cross_table(dataset, proposed)


def _cross_table(dataset: Dataset, proposed: tuple[str, ...]) -> None:
    names = list(dataset.raters.axes)
    if not names:
        st.info(
            "No column describes the raters: every axis needs one value per rater. Add a raters file, or "
            "columns such as gender and age to this one."
        )
        return
    first = [name for name in proposed if name in names] or names
    labels = {name: axis_label((name,)) for name in names}
    rows, columns = st.columns(2)
    down = pick("Rows", labels, place=rows, index=names.index(first[0]))
    others = {None: "Counts only", **{name: labels[name] for name in names if name != down}}
    second = next((name for name in first if name != down), None)
    across = pick("Columns", others, place=columns, index=list(others).index(second))
    index = axis_label((down,))
    if across is None:
        frame = axis_counts(dataset, down).set_index(down).rename_axis(index=index)
        frame["share"] = frame["share"].map("{:.1%}".format)
        st.dataframe(frame.rename(columns=str.capitalize), alt=f"Raters by {index}")
    else:
        frame = cross_table(dataset, down, across).rename_axis(index=index)
        st.dataframe(frame, alt=f"Raters by {index} and {labels[across]}")


_KEY = "quality"
_KEPT = 12
LOOKING = Turns("looking at data", at_once=2, each=1, waiting=8, waiting_each=3, patience=120)

A = TypeVar("A")
T = TypeVar("T")


def show_quality(dataset: Dataset, proposed_axes: tuple[str, ...]) -> None:
    """Draw findings in words, the figures behind them, and the difference that a run could detect."""
    reading = None if work().shown is None else work().shown[1]
    if dataset.further and reading is not None:
        first = escape_markdown(one_line(str(reading.label)))
        st.caption(f"Looked at by the answers to the first question, {first}.")
    looked = _once("looked at", dataset, lambda: _aside(looked_at, dataset, dataset.annotations))
    duplicates = _near_duplicates(dataset)
    close = None if duplicates is None else duplicates.counted
    sentences = tables.findings(looked, close)
    found = {
        "random": looked.random.random,
        "constant": looked.constant.constant,
        "duplicates": 0 if close is None else close.pairs,
    }

    def report() -> None:
        for sentence in sentences:
            st.warning(for_pages(sentence), icon=":material/info:")
        if not sentences:
            st.write("Nothing odd was found about the raters, their groups and the axes.")
        offer_leaving_out(found, reading)
        _show_figures(looked, close)
        _show_whom(dataset, looked, duplicates)

    told = number(len(sentences), "remark") if sentences else "nothing odd"
    when_open(f"Quality of the ratings: {told}", report, key="quality-report")
    if dataset.raters.axes:
        power = partial(_show_power, dataset, proposed_axes)
        when_open("How small a difference these data could show", power, key="power")


def _aside(look: Callable[[A], T], at: A, annotations: Annotations) -> T:
    """Call `look` in a worker, by turns among people, unless that takes longer than here."""
    if is_quick(annotations, instant=True):
        return look(at)
    with st.spinner("Looking at raters, groups and axes"), LOOKING.turn():
        return next(server.shared().service.pool.each(look, [at]))


def _near_duplicates(dataset: Dataset) -> Duplicates | None:
    """Search near duplicates, at once if that is short, else when somebody asks; None until then."""
    annotations = dataset.annotations
    known = _once("duplicates", dataset) is not None
    if not known and not is_quick(annotations):
        if not button("Look for raters who agree too closely", "person_search"):
            return None
        require_run()
    return _once("duplicates", dataset, lambda: _aside(near_duplicates, annotations, annotations))


_EXPLAINED = {
    "Axes that go together": "Cramér's V, corrected for bias: 0 where two axes have nothing to do with each "
    "other, 1 where one tells the other. From 0.8 the data cannot tell them apart; see their cross table.",
    "Items and workloads of groups": "Of each axis the group that stands out most. 100 % and 1.00 where an "
    "axis has no part in who rates which items, and how many; p against shuffled groups.",
}


def _show_figures(looked: QualityChecks, duplicates: CloseRaters | None) -> None:
    for title, table in tables.looked_tables(looked).items():
        st.subheader(title)
        if title in _EXPLAINED:
            st.caption(_EXPLAINED[title])
        _table(table, title)
    st.write(escape_markdown(tables.random_sentence(looked.random)))
    if duplicates is not None:
        st.write(escape_markdown(tables.duplicates_sentence(duplicates)))


def _show_whom(dataset: Dataset, looked: QualityChecks, duplicates: Duplicates | None) -> None:
    """Draw raters' ids, for the person who may want to leave some out; never part of a result."""
    random, constant = looked.random.random, looked.constant.constant
    pairs = () if duplicates is None else duplicates.pairs
    if not random and not constant and not pairs:
        return
    if not st.toggle("Show which raters", help="Shown to you alone; no result and no link names a rater."):
        return
    annotations = dataset.annotations
    ids = annotations.rater_ids
    if random:
        positions = np.flatnonzero(random_responders(annotations).random)
        _table(pd.DataFrame({"at chance": [ids[at] for at in positions]}), "Raters at chance")
    if constant:
        always = "gave one label always"
        positions = np.flatnonzero(too_constant(annotations, dataset.raters).named)
        _table(pd.DataFrame({always: [ids[at] for at in positions]}), f"Raters who {always}")
    if pairs:
        rows = [
            (ids[one.first], ids[one.second], one.common, one.agreed, f"{one.expected:,.0f}") for one in pairs
        ]
        heads = ["rater", "other rater", "items in common", "equal labels", "expected of independent raters"]
        _table(pd.DataFrame(rows, columns=heads), "Pairs of raters who agree too closely")


def _show_power(dataset: Dataset, proposed: tuple[str, ...]) -> None:
    names = tuple(dataset.raters.axes)
    st.caption("How large a difference has to be for a run on these data to find it 8 times out of 10.")
    options = [axes for size in (1, 2) for axes in combinations(names, size)]
    first = [(name,) for name in proposed if name in names] or options[:1]
    chosen = several("Groups of", options, first, format_func=axis_label, key=work().key("power-axes"))
    what = ("power", *chosen)
    more = (
        "Simulates effects of growing strength in your data's own design. It takes about a second per group, "
        "several in large data."
    )
    pressed = button("Estimate what could be detected", "experiment", disabled=not chosen, help=more)
    if pressed:
        require_run()
    found = _once(what, dataset, partial(_simulate, dataset, chosen) if pressed else None)
    if found:
        _table(tables.power_table(found), "Per group, the smallest shifts of GAI that 8 of 10 runs detect")
        for sentence in tables.power_sentences(found):
            caption(sentence)
    elif found is not None:
        st.write("No group has two raters or more.")


def _simulate(dataset: Dataset, axes: Sequence[AxisSet]) -> list[GroupPower]:
    """Simulate in the worker processes, so that other people's pages do not wait."""
    tasks = power_tasks(dataset.annotations, dataset.raters, axes)
    found: list[GroupPower] = []
    with st.spinner("Simulating"):
        bar = st.progress(0.0)
        for row in server.shared().service.pool.each(estimate, tasks):
            found.append(row)
            bar.progress(len(found) / len(tasks), text=f"{len(found):,} of {len(tasks):,} groups")
        bar.empty()
    return found


def _once(what: Hashable, dataset: Dataset, compute: Callable[[], T] | None = None) -> T | None:
    """Return what the visit keeps of these data, computed the first time; None without `compute`."""
    kept = st.session_state.setdefault(_KEY, {})
    key = what, dataset.summary.sha256, work().data_spec, tuple(dataset.raters.axes)
    if key not in kept and compute is not None:
        kept[key] = compute()
        for old in list(kept)[:-_KEPT]:
            del kept[old]
    return kept.get(key)


def _table(frame: pd.DataFrame, alt: str) -> None:
    headed = frame.rename(columns=lambda name: name[:1].upper() + name[1:])
    show_table(headed, alt)
