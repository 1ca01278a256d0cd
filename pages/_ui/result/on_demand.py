"""Results computed on demand and stored with the run: items behind a difference, the map of raters."""

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import streamlit as st

from grasp_core.analysis import rater_map_values as maps
from grasp_core.analysis.items.outcomes import Contribution, ItemOutcome, ItemsResult, Measure, texts_of_items
from grasp_core.analysis.items.panel import ItemsRequest
from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.engine.service import check_items, id_of
from grasp_core.model.access import only
from grasp_core.model.errors import DataError, MissingResultError, SpecError
from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line
from grasp_core.model.json_values import to_json
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import escape_markdown, json_text, listed, number
from grasp_core.report import items as items_report
from grasp_core.report import rater_map as map_report
from grasp_core.report.charts.maps import rater_map_chart
from grasp_core.report.findings.finding import LABEL_USE, Finding
from grasp_core.report.findings.selection import evidence, findings, named_groups, nearest
from grasp_core.report.items import MEASURES, in_order, items_title
from grasp_core.report.words.label_use import label_for_sentence
from grasp_core.report.writers.markdown import items_markdown
from grasp_core.report.writers.registry import safe_name
from grasp_core.report.writers.spreadsheet import items_xlsx
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import current_user, require_run, stores_of, visitor, why_not_run
from pages._ui.helpers.screens import for_pages
from pages._ui.helpers.widgets import Shown
from pages._ui.result import cache

T = TypeVar("T")
Share = Callable[[float], object]
"""Function called with the share of the work that is done."""
Rows = Sequence[tuple[ItemOutcome, Contribution]]
_SOON = 400_000_000
"""Most annotations times permutations that are computed without asking: about two seconds."""


def soon_found(run: RunRecord, result: RunResult) -> bool:
    """Return whether more about a run is short enough to compute without asking, and the viewer may do so."""
    work = result.data.annotations * result.permutations
    return work <= _SOON and why_not_run(current_user(), run.project) is None


def _made(
    run: RunRecord, result: RunResult, ask: tuple[str, str, str, str], doing: str, make: Callable[[Share], T]
) -> T | None:
    """Compute in the workers; if that takes long, ask first with the sentence and the button in `ask`."""
    said, label, icon, key = ask
    wait = st.empty()
    with wait.container():
        if not soon_found(run, result):
            st.caption(said)
            if not ui.button(label, icon, key=key):
                return None
        require_run(run.project)
        bar = st.progress(0.0, text=doing)
        try:
            made = make(lambda share: bar.progress(share, text=f"{doing}: {share:.0%}"))
        except (DataError, SpecError) as error:
            st.warning(for_pages(str(error)))
            return None
    wait.empty()
    return made


@functools.lru_cache(maxsize=48)
def _kept(run_id: str, project: str, asked_id: str | None) -> ItemsResult | maps.RaterMap:
    """Return a group's items, or the run's map; raise if nobody has asked, since a None would be cached."""
    if asked_id is None:
        found = maps.of_answer(server.shared().seen(only(project)).answers.find(run_id, maps.ANSWER))
    else:
        found = server.shared().items.find(run_id, project, asked_id)
    if found is None:
        raise MissingResultError("Nobody has asked for this yet.")
    return found


def _found(run: RunRecord, asked_id: str | None) -> ItemsResult | maps.RaterMap | None:
    try:
        return _kept(run.id, run.project, asked_id)
    except MissingResultError:
        return None


_PAGE = 50
_ITEMS_OF = "items-of"
_SHOWN_BY_ITEMS = (LABEL_USE, "distance")
_ORDERS = {"part": "Largest part first", "p": "Smallest p first", "item": "As in the data"}


def sees_items(shown: Shown) -> bool:
    """Return whether single items are shown here: not to strangers, because their ids and texts are data."""
    return shown.run is not None and not shown.stranger and visitor() is not None


def has_items(shown: Shown) -> bool:
    """Return whether the items of groups can be shown here."""
    return sees_items(shown) and not shown.result.provisional and bool(shown.result.groups)


def show_items(shown: Shown) -> None:
    """Draw the items of a chosen group, if :func:`has_items`."""
    run, result = shown.run, shown.result
    asked = _choose_group(result)
    question = ui.pick_question(result.spec.data, key=f"items-question-{id_of(asked, 0)}")
    found = _found(run, id_of(asked, question)) or _find(run, result, asked, question)
    if found is None:
        return
    first = items_report.first_measure(found)
    measure: Measure = ui.switch("Items differ in", MEASURES, default=first, key="items-measure")
    ui.caption(items_report.EXPLANATIONS[measure])
    ui.bullets(items_report.sentences(found, measure))
    for warning in found.warnings:
        ui.caption(f"Note: {warning}.")
    rows = in_order(found, measure, ui.pick("Order of the items", _ORDERS, key="items-order"))
    if not rows:
        return
    page, pages = 1, -(-len(rows) // _PAGE)
    if pages > 1:
        looks = {"key": f"items-page-{pages}", "help": f"{number(_PAGE, 'item')} a page."}
        page = int(st.number_input(f"Page of {pages:,}", 1, pages, **looks))
    texts = item_texts(run, found.spec.data.text)
    _items_table(found, measure, rows[(page - 1) * _PAGE : page * _PAGE], texts)

    def menu() -> None:
        for label, ending, make in (
            ("Table (CSV)", "csv", lambda: items_report.items_csv(found)),
            ("Table (Excel)", "xlsx", lambda: items_xlsx(found, texts)),
            ("Table (Markdown)", "md", lambda: items_markdown(found)),
            ("Full result (JSON)", "json", lambda: json_text(found.to_dict())),
        ):
            name = f"{safe_name(items_title(found))}.{ending}"
            ui.download(shown.check, label, name, make, width="stretch")

    ui.menu_when_open("Save the items", menu, key="items")


def show_where(shown: Shown, finding: Finding) -> None:
    """Draw the item in which a group's finding shows most, if that is quick to compute."""
    run, group = shown.run, finding.row.group
    if run is None or not has_items(shown) or finding.what not in _SHOWN_BY_ITEMS:
        return
    found = _found(run, id_of(group, 0))
    if found is None and soon_found(run, shown.result) and stores_of(run).runs.files_of(run.id):
        found = _find(run, shown.result, group, 0)
    if found is not None:
        _show_telling(run, found, finding, 1, "Where it shows most")


def show_some_items(shown: Shown, row: GroupResult, name: str) -> None:
    """Draw the three items on which a group differs most, if :func:`has_items`."""
    known = [one for one in evidence(row, name) if one.what in _SHOWN_BY_ITEMS]
    if known:
        found = _found(shown.run, id_of(row.group, 0)) or _find(shown.run, shown.result, row.group, 0)
        if found is not None:
            strongest = min(known, key=lambda one: 1.0 if one.outcome.p is None else one.outcome.p)
            _show_telling(shown.run, found, strongest, 3, "Where its answers differ most")


def _show_telling(run: RunRecord, found: ItemsResult, finding: Finding, most: int, heading: str) -> None:
    """Draw the first items of a finding with the answers of both sides, and a button to all items."""
    rows = _telling(found, finding)[:most]
    if not rows:
        return
    texts = item_texts(run, found.spec.data.text) or {}
    st.header(heading)
    for place, (row, label) in zip(st.columns(len(rows), gap="large"), rows, strict=True):
        text = texts.get(row.item)
        bare = f"Item {row.item}" if row.item.isdecimal() else row.item
        place.markdown(escape_markdown(f"“{text}”" if text else bare))
        for who, counts in ((finding.spoken, row.inside), ("Others", row.outside)):
            said, of = counts.get(label, 0), sum(counts.values())
            words = escape_markdown(f"{who}: {said} of {of} say “{one_line(label)}”")
            place.progress(said / of if of else 0.0, text=words)
    ui.button("All items", "arrow_forward", _open_items, finding.name, type="tertiary")


def _open_items(name: str) -> None:
    for part, value in (("group", None), ("view", "Items"), (_ITEMS_OF, name)):
        ui.put_in_address(part, value)


def _telling(found: ItemsResult, finding: Finding) -> list[tuple[ItemOutcome, str]]:
    """Return items, and a label of each, that show the finding."""
    use = finding.row.label_use
    told = None if use is None or finding.what != LABEL_USE else label_for_sentence(use)
    label, sign = (None, 0.0) if told is None else (told[0], told[1].value or 0.0)
    return items_report.telling(found, label, sign)


def _choose_group(result: RunResult) -> Group:
    """Choose a group, at first the address's, else that of the strongest finding or of the nearest to one."""
    groups = [row.group for row in result.groups]
    named = named_groups(result).get(st.query_params.get(_ITEMS_OF, ""))
    rows = [named] if named else [found.row for found in (findings(result) or nearest(result))[:1]]
    first = groups.index(rows[0].group) if rows else 0
    names = dict(enumerate(group_labels(groups)))
    return groups[ui.pick("Items of which group", names, index=first, key="items-group")]


def _find(run: RunRecord, result: RunResult, group: Group, question: int) -> ItemsResult | None:
    try:
        check_items(result)
    except DataError as error:
        st.info(str(error))
        return None
    asked = ItemsRequest(run.spec, group, result.permutations, question)
    said = (
        "Item by item: how much of what this group says differently comes from it, tested under the same "
        "permutations. It takes some seconds, and is kept with the run."
    )
    ask = (said, "Find the items", "manage_search", f"find-{id_of(group, question)}")
    return _made(run, result, ask, "Finding the items", partial(server.shared().items.look, run, asked))


def _items_table(found: ItemsResult, measure: Measure, rows: Rows, texts: dict[str, str] | None) -> None:
    frame = items_report.items_table(found, measure, rows, texts)
    sides = items_report.side_bars(found, rows)
    for head, of_items in sides.items():
        frame.insert(frame.columns.get_loc(head), f"Bars of {head}", of_items)
    column = st.column_config.Column
    bar = st.column_config.BarChartColumn("Bars", width="small", y_min=0, y_max=1)  # the side's stand behind
    heads = {"Item": column(pinned=True), "Text": column(width="large")}
    heads |= {f"Bars of {head}": bar for head in sides}
    alt_text = f"Items by {MEASURES[measure].lower()}, with both sides' labels, p and q"
    ui.show_table(frame, alt_text, height="content", column_config=heads)
    labels = listed(list(map(one_line, found.label_use)))
    ui.caption(f"{items_report.MARKS} Bars: the share of each label, in the order {labels}.")


def item_texts(run: RunRecord, column: str | None) -> dict[str, str] | None:
    """Return the items' texts, if a column contains them and the file is still stored."""
    files = stores_of(run).runs.files_of(run.id)
    if column is None or not files:
        return None

    def read() -> dict[str, str] | None:
        data, inputs = run.spec.data, server.shared().service.inputs
        table = inputs.table(*files[0], data.member, reach=only(run.project))
        found = texts_of_items(table, data)
        return None if found is None else {item: items_report.cut_text(text) for item, text in found.items()}

    try:  # of one run, for the visit: no cache of the server contains people's texts
        return ui.once("items-texts", (run.id, files[0]), read)
    except DataError as error:
        ui.caption(f"The items' texts cannot be shown: {error}")
        return None


def has_rater_map(shown: Shown) -> bool:
    """Return whether there is a map of the run's raters, or the viewer may ask for one."""
    result = shown.result
    if shown.run is None or result.provisional or result.later is not None:
        return False
    return not shown.stranger or map_of(shown, shown.run) is not None


def show_rater_map(shown: Shown, group: Group | None = None) -> None:
    """Draw the map, coloured by an axis or by one group, or ask for it; only if :func:`has_rater_map`."""
    run = shown.run
    found = map_of(shown, run)
    if found is None and not shown.stranger:
        found = _make_map(run, shown.result)
    if found is None:
        return
    level = shown.result.spec.analysis.level
    if group is None or found.reason is not None:
        ui.bullets(map_report.sentences(found, level))
    if found.reason is not None:
        return
    if group is None:
        names = {place: axis_label(one.axes) for place, one in enumerate(found.axes)}
        first = found.axes.index(map_report.clearest(found))
        axes = found.axes[ui.switch("Coloured by", names, default=first, key="rater-map-axis")].axes
    else:
        axes = group.axes
    if all(one.axes != axes for one in found.axes):
        return

    def table() -> None:
        ui.show_table(map_report.groups_table(found, level, group), "How far two raters differ, by group")
        st.caption(map_report.distance_words(level))

    def explain() -> None:
        if group is None:
            ui.show_table(map_report.axes_table(found), "What each axis explains, with p and q")

    st.caption(map_report.EXPLANATION)
    name = "the map" if group is None else group_label(group)
    cache.figure(
        shown,
        f"raters {axes} {group}",
        lambda found, theme: rater_map_chart(found, axes, theme, group),
        (maps.ANSWER, "map of raters"),
        ("Map as a table", f"rater-map-table-{name}", table),
        between=explain,
        of=found,
    )
    if group is not None:
        return
    files = [("map of raters (CSV)", f"{maps.ANSWER}.csv", lambda: map_report.map_csv(found))]
    if not shown.stranger:
        made = partial(maps.rater_map_dict, found, run.spec, run.summary.sha256)
        files.append(("map of raters (JSON)", f"{maps.ANSWER}.json", lambda: json_text(made())))
    ui.downloads(shown.check, *files, type="tertiary")


def map_of(shown: Shown, run: RunRecord) -> maps.RaterMap | None:
    """Return the map of a run's raters, if it was made and the viewer may see it."""
    found = kept_map(run)
    return found if shown.small_groups else maps.map_without_small_groups(found, shown.result)


def kept_map(run: RunRecord) -> maps.RaterMap | None:
    """Return the map of a run's raters, if it was made."""
    return _found(run, None)


def _make_map(run: RunRecord, result: RunResult) -> maps.RaterMap | None:
    service = server.shared().service

    def place(share: Share) -> maps.RaterMap:
        task = MapTask.of(service.data_of(run), run.spec.analysis)
        return rater_map(task, service.pool.each, share)

    ask = (map_report.EXPLANATION, "Draw the map of raters", "scatter_plot", "draw-rater-map")
    made = _made(run, result, ask, "Placing the raters", place)
    if made is not None:
        stores_of(run).answers.keep(run.id, maps.ANSWER, to_json(made))
    return made
