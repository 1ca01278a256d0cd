"""The list of runs: search, choice, comparison of two."""

from collections.abc import Sequence

import streamlit as st

from grasp_core.model.groups import group_labels
from grasp_core.model.text import escape_markdown
from grasp_core.report import comparison as comparing
from grasp_core.report.changes import headline, verdicts_kept
from grasp_core.report.words.names import statistic_name
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.identity import may_manage, owner_names, stores
from pages._ui.helpers.screens import link_to, link_to_run, link_to_two
from pages._ui.helpers.state import exactly, in_full, lasted
from pages._ui.helpers.widgets import button, caption, entries, for_visit, show_table
from pages._ui.one_run import cancel, delete, edit, show_progress
from pages._ui.result.shown_tables import show_changes

_MOST = 200
"""Most runs that a search finds."""


def find_runs() -> list[RunRecord]:
    """Draw the search by words and tag; return the runs found, latest first."""
    left, right = st.columns([2, 1])
    looks = {"icon": ":material/search:", "placeholder": "Part of a title, note, tag or owner"}
    text = left.text_input("Search", **for_visit("runs-text"), **looks)
    tags = stores().runs.known_tags()
    if st.session_state.get("runs-tag") not in tags:  # the tag's last run was deleted or retagged
        st.session_state.pop("runs-tag", None)
    tag = None
    if tags:
        tag = right.selectbox("Tag", tags, index=None, **for_visit("runs-tag"), placeholder="All")
    found = stores().runs.search(text.strip(), tag=tag, limit=_MOST)
    if len(found) == _MOST:
        st.caption(f"The latest {_MOST} are listed; search to find older ones.")
    if not found:
        st.info("No run is like that." if text or tag else "No run has been saved yet.")
    return found


def offer_comparison() -> None:
    """Draw the picked runs and, for two of them, the link that compares them, the earlier with the later."""
    picked = [run for run in map(stores().runs.get, _picked()) if run is not None]
    runs = sorted(picked, key=lambda run: run.created_at)
    if not runs:
        st.caption("Tick *Compare* on two runs to see them side by side.")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="picked"):
        titles = [f"**{escape_markdown(run.title)}**" for run in runs]
        if len(set(titles)) < len(titles):
            times = (escape_markdown(exactly(run.created_at)) for run in runs)
            titles = [f"{title} of {time}" for title, time in zip(titles, times, strict=True)]
        if len(runs) == 1:
            st.markdown(f"{titles[0]} is picked; tick one more.", width="content")
        elif len(runs) > 2:
            st.markdown(f"{len(runs)} runs are picked; two can be compared.", width="content")
        else:
            st.markdown(f"Picked: {' and '.join(titles)}", width="content")
            link_to_two(runs[0].id, runs[1].id, "Compare the two")
        st.button("Clear", key="clear-picks", type="tertiary", on_click=_picked().clear)


def _picked() -> list[str]:
    return st.session_state.setdefault("picked-runs", [])


def _toggle(run_id: str) -> None:
    picked = _picked()
    (picked.remove if run_id in picked else picked.append)(run_id)


_NAMED = 12
"""Most groups that are named; the others are only counted."""


def show_side_by_side(id_a: str, id_b: str) -> None:
    """Draw the differences between two saved results."""
    st.title("Two runs side by side")
    link_to("runs", "All runs")
    runs = [stores().runs.get(run_id) for run_id in (id_a, id_b)]
    if not all(run is not None and run.state == "done" for run in runs):
        st.warning("One of the two is not on this server any more, or has no result yet.")
        return
    a, b = runs
    st.query_params.from_dict({"a": a.id, "b": b.id})  # after a link within a page, Streamlit drops its query
    for place, name, run in zip(st.columns(2, border=True), "AB", runs, strict=True):
        with place:
            st.markdown(f"**{name}**")
            link_to_run(run.id, run.title)
            caption(f"{in_full(run.created_at)} · {run.total:,} permutations")
    results = [server.shared().service.result(run.id) for run in runs]
    comparison = comparing.compare(*results)
    if comparison is None:
        st.info(
            "One of the two is about models and the other about agreement, so there is nothing to compare."
        )
        return
    first, *further = (headline(comparison), *verdicts_kept(comparison))
    st.markdown(f"**{escape_markdown(first)}**")
    if further:
        st.markdown(entries(further))
    st.header("What was asked")
    _show_differences(comparison.spec, "Both runs were asked the same.", "What was asked differently")
    st.header("The data")
    _show_differences(comparison.data, "Both runs used the same data.", "How the data differ")
    st.header("What was found")
    _show_changes(comparison)
    for title, compared, name in (
        ("Between two groups, of pairs that both have", comparing.pairs_compared, "Pairs"),
        ("In slices that both have", comparing.slices_compared, "Slices"),
    ):
        table = comparing.changes_table(compared(*results))
        if not table.empty:
            st.subheader(title)
            show_changes(table, f"{name} of both runs")


def _show_differences(differences: tuple[comparing.Difference, ...], none: str, alt: str) -> None:
    if not differences:
        st.write(none)
        return
    heads = {"what": "What", "a": "A", "b": "B"}
    show_table(comparing.differences_table(differences), alt, height="content", column_config=heads)


def _show_changes(comparison: comparing.Comparison) -> None:
    for groups, name in ((comparison.only_a, "A"), (comparison.only_b, "B")):
        if groups:
            names, more = group_labels(groups), len(groups) - _NAMED
            named = "; ".join(names[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
            st.markdown(f"Only {name} shows {escape_markdown(named)}.")
    if not comparison.changes:
        st.info("No group and statistic is in both, so there is nothing to compare.")
        return
    st.markdown(entries(comparing.in_words(comparison)))
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    looks = {"format_func": statistic_name, "key": "compared-statistics"}
    known = comparison.statistics
    statistics = left.multiselect("Statistics", known, default=known, **looks)
    looks = {"value": bool(comparison.changed), "key": "compared-only"}
    only_changed = right.toggle("Only where significance changed", **looks)
    changes = comparison.changed if only_changed else comparison.changes
    rows = [change for change in changes if change.statistic in statistics]
    if rows:
        show_changes(comparing.changes_table(rows), "Groups and statistics of both runs")
    else:
        st.info("No group passes these filters.")


_PER_PAGE = 20
_NOTE_SHOWN = 300
_STATES = {
    "done": ":material/check_circle: done",
    "failed": ":material/error: failed",
    "cancelled": ":material/block: cancelled",
    "running": ":material/hourglass_top: running",
    "queued": ":material/schedule: waiting",
}


@st.fragment(run_every=1.0)
def watch_all(ids: Sequence[str]) -> None:
    """Draw the progress of runs that have not ended; when one ends, redraw the page."""
    going_on = [run for run in map(stores().runs.get, ids) if run is not None and not run.ended]
    if len(going_on) < len(ids):
        st.rerun()
    names = owner_names(run.owner for run in going_on)
    for run in going_on:
        with st.container(border=True, key=f"running-{run.id}"):
            link_to_run(run.id, run.title)
            _facts(run, names[run.owner])
            show_progress(run)
            if may_manage(run.owner, run.project) and not run.cancel_requested:
                button("Cancel", "stop_circle", cancel, run, key=f"cancel-{run.id}")


def list_runs(runs: Sequence[RunRecord]) -> None:
    """Draw ended runs, one page of them at a time."""
    pages = -(-len(runs) // _PER_PAGE)
    page = min(st.session_state.get("runs-page", 1), pages)
    listed = runs[(page - 1) * _PER_PAGE : page * _PER_PAGE]
    names = owner_names(run.owner for run in listed)
    for run in listed:
        with st.container(border=True, key=f"run-{run.id}", gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                link_to_run(run.id, run.title)
                if run.state == "done":  # only results can be compared
                    key = f"pick-{run.id}"
                    st.session_state[key] = run.id in _picked()
                    st.checkbox("Compare", key=key, on_change=_toggle, args=(run.id,))
                edit(run)
                delete(run)
            if run.verdict:
                st.markdown(escape_markdown(run.verdict))
            namesakes = [one.spec for one in runs if one.title == run.title]
            if len(namesakes) > 1 and (apart := comparing.told_apart(run.spec, namesakes)):
                caption(apart)
            _facts(run, names[run.owner])
            if run.note:
                shown = f"{run.note[:_NOTE_SHOWN].rstrip()} …" if len(run.note) > _NOTE_SHOWN else run.note
                st.markdown(escape_markdown(shown))
    if pages > 1:
        st.pagination(pages, key="runs-page")


def _facts(run: RunRecord, owner: str) -> None:
    facts = [f"made by {owner}"] if owner else []
    facts += [in_full(run.created_at), f"{run.total:,} permutations"]
    if run.duration_s is not None:
        facts.append(f"took {lasted(run.duration_s)}")
    if run.tags:
        facts.append(f"tagged {', '.join(run.tags)}")
    days = server.shared().settings.keep_runs_days
    if days and run.finished_at is not None:
        facts.append(f"kept until {exactly(run.finished_at + days * 86400)}")
    st.caption(f"{_STATES[run.state]} · {escape_markdown(' · '.join(facts))}")


def show_last_runs() -> None:
    """Draw the project's latest runs, each with its result in one sentence."""
    runs = stores().runs.search(limit=5)
    if not runs:
        return
    st.header("Last runs")
    for run in runs:
        with st.container(horizontal=True, vertical_alignment="center"):
            link_to_run(run.id, run.verdict or run.title)
            about = f"{run.title} · " if run.verdict else ""
            state = "" if run.state == "done" else f"{run.state} · "
            st.caption(escape_markdown(f"{about}{state}{in_full(run.created_at)}"), width=420)
    link_to("runs", "All runs")
