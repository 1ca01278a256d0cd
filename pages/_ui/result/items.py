"""The items that cause a group's difference: found when they are looked at, and kept with the run."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import streamlit as st

from grasp_core.analysis.items.outcomes import Contribution, ItemOutcome, ItemsResult, Measure, texts_of_items
from grasp_core.analysis.items.panel import ItemsAsked
from grasp_core.engine.background import check_items, id_of
from grasp_core.model.access import only
from grasp_core.model.errors import DataError, MissingResultError, SpecError
from grasp_core.model.groups import Group, group_label, group_labels, one_line
from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown, json_text, listed, number, quoted
from grasp_core.report.findings.finding import LABEL_USE, Finding
from grasp_core.report.findings.findings import findings, nearest
from grasp_core.report.items import (
    EXPLANATIONS,
    MEASURES,
    cut_text,
    in_order,
    items_csv,
    items_table,
    items_title,
    sentences,
    side_bars,
)
from grasp_core.report.words.label_use import said_more
from grasp_core.report.writers.markdown import items_markdown
from grasp_core.report.writers.registry import safe_name
from grasp_core.report.writers.spreadsheet import items_xlsx
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.identity import current_user, require_run, stores_of, visitor, why_not_run
from pages._ui.helpers.outputs import download
from pages._ui.helpers.widgets import Shown, menu_when_open, put_in_address, show_table

_PAGE = 50
_SOON = 400_000_000
"""Annotations times permutations up to which nobody is asked: about two seconds."""
_TEXTS = "items-texts"
_ORDERS = {"part": "Largest part first", "p": "Smallest p first", "item": "As in the data"}


def has_items(shown: Shown) -> bool:
    """Whether items can be looked at here: not by strangers, for items' ids and texts are data."""
    known = shown.run is not None and not shown.stranger and visitor() is not None
    return known and not shown.result.provisional and bool(shown.result.groups)


def show_items(shown: Shown, group: Group | None = None) -> None:
    """Draw the items of a group, or of one that is chosen; nothing where :func:`has_items` says no."""
    run, result = shown.run, shown.result
    if run is None or not has_items(shown):
        return
    asked = _choose_group(result) if group is None else group
    question = _choose_question(result, asked)
    found = _found(run, asked, question) or _find(run, result, asked, question)
    if found is not None:
        measure: Measure = st.segmented_control(
            "What items carry",
            list(MEASURES),
            default="distance" if found.distance is not None else "label_use",
            required=True,
            format_func=MEASURES.__getitem__,
            key="items-measure",
        )
        st.caption(escape_markdown(EXPLANATIONS[measure]))
        for sentence in sentences(found, measure):
            st.markdown(f"- {sentence.markdown}")
        for warning in found.warnings:
            st.caption(escape_markdown(f"Note: {warning}."))
        chosen: str = st.selectbox(
            "Order of the items", list(_ORDERS), format_func=_ORDERS.__getitem__, key="items-order"
        )
        rows = in_order(found, measure, chosen)
        if not rows:
            return
        first = _first(len(rows))
        texts = item_texts(run, found.spec.data.text)
        _table(found, measure, rows[first : first + _PAGE], texts)

        def menu() -> None:
            for label, ending, make in (
                ("Table (CSV)", "csv", lambda: items_csv(found)),
                ("Table (Excel)", "xlsx", lambda: items_xlsx(found, texts)),
                ("Table (Markdown)", "md", lambda: items_markdown(found)),
                ("Full result (JSON)", "json", lambda: json_text(found.to_dict())),
            ):
                name = f"{safe_name(items_title(found))}.{ending}"
                download(shown.check, label, name, make, width="stretch")

        menu_when_open("Save the items", menu, key="items", icon=":material/download:")


def show_where(shown: Shown, finding: Finding) -> None:
    """The item where a group's finding shows most, with both sides' answers, where that is soon found."""
    run, result = shown.run, shown.result
    if run is None or not has_items(shown) or finding.what not in (LABEL_USE, "distance"):
        return
    group = finding.row.group
    found = _found(run, group, 0)
    if found is None and soon_found(run, result) and stores_of(run).runs.files_of(run.id):
        found = _find(run, result, group, 0)
    rows = [] if found is None else _telling(found, finding)
    if found is None or not rows:
        return
    row, part = rows[0]
    label = part.label or max(row.inside, key=lambda one: row.inside[one])
    text = (item_texts(run, found.spec.data.text) or {}).get(row.item)
    st.header("Where it shows most")
    st.markdown(escape_markdown(f"“{text}”" if text else f"Item {row.item}"))
    for who, counts in ((group_label(group), row.inside), ("others", row.outside)):
        said, of = counts.get(label, 0), sum(counts.values())
        st.progress(
            said / of if of else 0.0, text=escape_markdown(f"{said} of {of} {who} say “{one_line(label)}”")
        )
    to_items = ("view", "Items")
    st.button(
        "All items", type="tertiary", icon=":material/arrow_forward:", on_click=put_in_address, args=to_items
    )


def _telling(found: ItemsResult, finding: Finding) -> list[tuple[ItemOutcome, Contribution]]:
    """Items by how much they add to what the finding says: to the same label's use, else to the distance."""
    use = finding.row.label_use
    told = None if use is None or finding.what != LABEL_USE else said_more(use)
    if told is None:
        return in_order(found, "distance", "part")
    more = (told[1].value or 0.0) > 0
    rows = in_order(found, "label_use", "part")
    return [one for one in rows if one[1].label == told[0] and (one[1].value > 0) == more] or rows


def soon_found(run: RunRecord, result: RunResult) -> bool:
    """Whether more about a run takes so short that nobody is asked first, and the viewer may have it made."""
    work = result.data.annotations * result.permutations
    return work <= _SOON and why_not_run(current_user(), run.project) is None


def _choose_group(result: RunResult) -> Group:
    """A group, at first that of the strongest finding, or of what came nearest."""
    groups = [row.group for row in result.groups]
    names = group_labels(groups)
    first = [groups.index(found.row.group) for found in (findings(result) or nearest(result))[:1]]
    chosen: int = st.selectbox(
        "Items of which group",
        range(len(groups)),
        index=first[0] if first else 0,
        format_func=names.__getitem__,
        key="items-group",
    )
    return groups[chosen]


def _choose_question(result: RunResult, group: Group) -> int:
    questions = result.spec.data.questions
    if len(questions) == 1:
        return 0
    chosen: int = st.selectbox(
        "Question",
        range(len(questions)),
        format_func=lambda place: one_line(str(questions[place].label)),
        key=f"items-question-{id_of(group, 0)}",
    )
    return chosen


def _found(run: RunRecord, group: Group, question: int) -> ItemsResult | None:
    try:
        return _kept(run.id, run.project, id_of(group, question))
    except MissingResultError:
        return None


@functools.lru_cache(maxsize=16)
def _kept(run_id: str, project: str, asked_id: str) -> ItemsResult:
    found = server.shared().items.find(run_id, project, asked_id)
    if found is None:
        raise MissingResultError("Nobody has asked for these items yet.")  # raised: what is returned is kept
    return found


def _find(run: RunRecord, result: RunResult, group: Group, question: int) -> ItemsResult | None:
    """Compute in the workers, with a bar, which any click ends; asked first where it takes long."""
    try:
        check_items(result)
    except DataError as error:
        st.info(str(error))
        return None
    asked_id = id_of(group, question)
    wait = st.empty()
    with wait.container():
        if not soon_found(run, result):
            st.caption(
                "Item by item: how much of what this group says differently comes from it, tested under the "
                "same permutations. It takes some seconds, and is kept with the run."
            )
            if not st.button("Find the items", icon=":material/manage_search:", key=f"find-{asked_id}"):
                return None
        require_run(run.project)
        bar = st.progress(0.0, text="Finding the items")
        try:
            found = server.shared().items.look(
                run,
                ItemsAsked(run.spec, group, result.permutations, question),
                lambda share: bar.progress(share, text=f"Finding the items: {share:.0%}"),
            )
        except (DataError, SpecError) as error:
            st.warning(escape_markdown(str(error)))
            return None
    wait.empty()
    return found


def _table(
    found: ItemsResult,
    measure: Measure,
    rows: Sequence[tuple[ItemOutcome, Contribution]],
    texts: dict[str, str] | None,
) -> None:
    """Items with both sides' labels, as bars and in words."""
    frame = items_table(found, measure, rows, texts)
    bars = {f"Bars of {head}": (head, of_items) for head, of_items in side_bars(found, rows).items()}
    for name, (head, of_items) in bars.items():
        frame.insert(frame.columns.get_loc(head), name, of_items)
    show_table(
        frame,
        f"Items by {MEASURES[measure].lower()}, with both sides' labels, p and q",
        height="content",
        column_config={
            "Item": st.column_config.Column(pinned=True),
            "Text": st.column_config.Column(width="large"),
            **{name: st.column_config.BarChartColumn(width="small", y_min=0, y_max=1) for name in bars},
        },
    )
    labels = listed([quoted(one_line(label)) for label in found.label_use])
    st.caption(escape_markdown(f"Bars: the share of each label, in the order {labels}."))


def _first(items: int) -> int:
    """The first item of the page of the table that is looked at."""
    pages = -(-items // _PAGE)
    if pages == 1:
        return 0
    page = st.number_input(
        f"Page of {pages:,}", 1, pages, key=f"items-page-{pages}", help=f"{number(_PAGE, 'item')} a page."
    )
    return (int(page) - 1) * _PAGE


def item_texts(run: RunRecord, column: str | None) -> dict[str, str] | None:
    """The items' texts, where a column holds them and the file is still here."""
    files = stores_of(run).runs.files_of(run.id)
    if column is None or not files:
        return None
    key, known = (run.id, files[0]), st.session_state.get(_TEXTS, (None, None))
    if known[0] != key:  # those of one run, for the visit: no cache of the server holds what people wrote
        try:
            known = key, _read_texts(run, *files[0])
        except DataError as error:
            st.caption(escape_markdown(f"The items' texts cannot be shown: {error}"))
            return None
        st.session_state[_TEXTS] = known
    return known[1]


def _read_texts(run: RunRecord, name: str, sha256: str) -> dict[str, str] | None:
    data = run.spec.data
    table = server.shared().service.inputs.table(name, sha256, data.member, reach=only(run.project))
    found = texts_of_items(table, data)
    return None if found is None else {item: cut_text(text) for item, text in found.items()}
