"""One run: its progress and result; rename, delete, move, change and run again."""

from collections.abc import Callable
from functools import cache, partial

import streamlit as st

from grasp_core.analysis.planner.values import of_large_groups
from grasp_core.engine.pools.schedule import Progress
from grasp_core.model.errors import AccessError, GraspError
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Result, RunResult
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import escape_markdown
from grasp_core.report.findings.mending import CHOOSE_SHUFFLES, mend, ways_back
from grasp_core.report.public_view import public_view
from grasp_core.server import server
from grasp_core.store.runs import TAG_LENGTH, RunRecord
from pages._ui.data.remembered import take_up_run
from pages._ui.helpers import identity
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.screens import for_pages, go
from pages._ui.helpers.state import KEPT_RATERS, ask_again, in_full, work
from pages._ui.helpers.widgets import Shown
from pages._ui.models import open_models
from pages._ui.models import show_answer as show_models
from pages._ui.models import show_title as show_models_title
from pages._ui.plan import show_kept_plans
from pages._ui.result.on_demand import kept_map, map_of
from pages._ui.result.whole_result import show_answer, show_facts, show_result, show_so_far
from pages._ui.share import OpenedLink, share_run
from pages._ui.watch import offer_watch

TO_LOOK_AT = "A result that was shared with you, to look at."
_KINDS_BY_LINK = ("csv", "xlsx", "latex", "markdown", "html")
_FIRST_S = 2.0
"""Seconds for which a page waits for the first result, which most runs have by then."""
_SELDOM_S = 2.0
"""Most seconds between two looks at a run: its results come faster once other runs beside it end."""


def show_run(run: RunRecord, link: OpenedLink | None = None) -> None:
    """Draw a run's results, so far or final; by a share link without anything that could name a person."""
    check, key = partial(_take_away, run), run.id
    if link is not None:
        few = ", small groups" if link.small_groups else ""
        check, key = link.check, f"{run.id} for strangers{few}"

    def show_provisional(found: Result) -> None:
        if isinstance(found, RunResult):
            show_so_far(Shown(key, found, run.title, check))
        else:
            show_models(key, found, check)

    if not run.ended:
        server.shared().service.wait(run.computed_as, _FIRST_S)
        run = identity.stores_of(run).runs.get(run.id) or run
    if run.state == "done" and link is None:
        _show_to_member(run, check)
        return
    if run.state == "done":
        _show_by_link(run, link, key)
        return
    st.title(escape_markdown(run.title))
    if link is None:
        _say_whose(run)
    if link is not None and run.ended:
        st.info("There is no result here: its computation did not come to an end.")
    elif link is not None:
        st.caption(TO_LOOK_AT)
        _watch(run, show_provisional, link)
    elif run.ended:
        failed = escape_markdown(run.error or "This run failed.")
        st.warning("This run was cancelled." if run.state == "cancelled" else failed)
        _change_and_run_again(run)
    else:
        with st.container(horizontal=True):
            share_run(run)
            # Outside the fragment: a click inside it, before all of it is sent, makes Streamlit send elements
            # without their containers, and the page fails for good.
            if identity.may_manage(run.owner, run.project):
                ui.button("Cancel the run", "stop_circle", cancel, run)
        _watch(run, show_provisional)


def _take_away(run: RunRecord) -> None:
    """Check that a member may have a run's file before it is made, and log that."""
    user = identity.require_see(run.project)
    server.shared().audit.record(user.id, "export", "run", run.id)


def _show_to_member(run: RunRecord, check: Callable[[], None]) -> None:
    result = server.shared().service.result(run.id)

    @cache
    def again() -> bool:
        """Return whether the session's person may run in its project, and its files are still there."""
        allowed = identity.why_not_run(identity.current_user(), run.project) is None
        return allowed and server.shared().service.inputs.are_at_hand(run)

    way = partial(_way_to_mend, run, again)

    def buttons(files: Callable[[], None] = ui.always) -> None:
        share_run(run)
        files()
        _change_and_run_again(run)
        edit(run)
        _offer_move(run)
        offer_watch(run)

    def say_when_found() -> None:
        if work().found_again == run.id and run.finished_at is not None:
            st.caption(
                ":material/history: The same data and settings were run before, so nothing was computed now: "
                f"this is that result, of {in_full(run.finished_at)}."
            )

    if not isinstance(result, RunResult):
        show_models_title(run.title, result, buttons)
        _say_whose(run)
        _offer_ways_back(run, again)
        say_when_found()
        show_models(run.id, result, check, way)
        show_facts(result)
        return
    shown = Shown(run.id, result, run.title, check, run=run, way=way)
    show_answer(shown, lambda: buttons(lambda: ui.export(shown, lambda: kept_map(run))))
    _say_whose(run)
    _offer_ways_back(run, again)
    say_when_found()
    show_result(shown)
    show_kept_plans(run, check)


def _show_by_link(run: RunRecord, link: OpenedLink, key: str) -> None:
    few = link.small_groups
    result = public_view(server.shared().service.result(run.id), small_groups=few)
    if not isinstance(result, RunResult):
        show_models_title(run.title, result)
        st.caption(TO_LOOK_AT)
        show_models(key, result, link.check)
        show_facts(result)
        return
    shown = Shown(key, result, run.title, link.check, run=run, stranger=True, small_groups=few)
    show_answer(shown, lambda: ui.export(shown, lambda: map_of(shown, run), _KINDS_BY_LINK))
    st.caption(TO_LOOK_AT)
    show_result(shown, check_often=True)
    show_kept_plans(run, link.check, lambda plan: few or of_large_groups(plan, result))


def _watch(asked: RunRecord, show: Callable[[Result], None], link: OpenedLink | None = None) -> None:
    """Show the run's progress and results so far, until it ends or the link stops working."""

    def look() -> None:
        if link is not None:
            try:
                link.check()
            except AccessError:
                st.rerun()
        stores = identity.stores() if link is None else identity.stores_of(asked)
        run = stores.runs.get(asked.id)
        if run is None or run.ended:
            st.rerun()
        show_progress(run)
        if link is None:
            st.caption("The run goes on when you close this page; its address leads back to it.")
        found = server.shared().service.provisional(run.computed_as)
        if found is not None:
            show(found if link is None else public_view(found, small_groups=link.small_groups))

    # Look only as often as there are new results, since each look draws all of them. The interval is set when
    # the whole page is drawn: redrawing it to change the interval would close an open dialog.
    every_s = min(server.shared().service.news_every(asked.id), _SELDOM_S)
    st.fragment(look, run_every=every_s)()


def show_progress(run: RunRecord) -> None:
    """Draw the run's progress."""
    progress = server.shared().service.progress(run)
    share = progress.share
    if share is None:
        share = min(progress.done / progress.total, 1.0) if progress.total else 0.0
    st.progress(share, text=how_far(run, progress))


def how_far(run: RunRecord, progress: Progress) -> str:
    """Return the progress in words; an adaptive run may stop before all its permutations."""
    if run.state == "queued":
        return "Waiting for another run to finish"
    if run.cancel_requested:
        return "Being cancelled"
    if progress.waiting is not None:
        return progress.waiting
    left = ui.time_left(progress.seconds_left)
    if progress.stages:
        return f"{progress.stages}{left}"
    most = "at most " if run.spec.analysis.adaptive else ""
    return f"{progress.done:,} of {most}{progress.total:,} permutations{left}"


def cancel(run: RunRecord) -> None:
    """Stop the run, if the visitor may."""
    identity.require_manage(run.owner, run.project)
    server.shared().service.cancel(run.id)


_TITLE_LENGTH = 200
_NOTE_LENGTH = 5000


def edit(run: RunRecord) -> None:
    """Draw the button that opens the title, tags and note, if the visitor may change them."""
    looks = {"key": f"edit-{run.id}", "help": "Title, tags and note"}
    if identity.may_manage(run.owner, run.project) and ui.button("Edit", "edit", **looks):
        ui.ask("Title, tags and note", partial(_ask_about, run), "Save", _save, run, refused="edit-problem")


def delete(run: RunRecord) -> None:
    """Draw the button that deletes the run after a confirmation."""
    if not identity.may_manage(run.owner, run.project):
        return

    def say() -> None:
        working = sum(link.works for link in identity.stores_of(run).links.of_run(run.id))
        several = f" {working} links to it stop working."
        links = {0: "", 1: " One link to it stops working."}.get(working, several)
        ui.say_of(
            run.title,
            "Its result, title, tags and note are deleted for everybody, and cannot be brought back."
            f"{links} Others who asked the same keep their own. Addresses that people noted lead nowhere "
            "then.",
        )

    ui.ask_first("Delete", "delete", "Delete this run?", say, _delete, run, key=f"delete-{run.id}")


def _ask_about(run: RunRecord) -> None:
    st.text_input("Title", run.title, max_chars=_TITLE_LENGTH, key=_key("title", run))
    tags = sorted({*identity.stores_of(run).runs.known_tags(), *run.tags}, key=str.casefold)
    looks = {"accept_new_options": True, "placeholder": "Choose or write", "key": _key("tags", run)}
    ui.several("Tags", tags, run.tags, help=f"At most {TAG_LENGTH} characters each.", **looks)
    looks = {"max_chars": _NOTE_LENGTH, "help": "Strangers never see it.", "key": _key("note", run)}
    st.text_area("Note", run.note, **looks)


def _save(run: RunRecord) -> None:
    title, tagged, note = (st.session_state[_key(field, run)] for field in ("title", "tags", "note"))
    title = title.strip()[:_TITLE_LENGTH] or run.title  # browsers respect the limit; others may not
    words = [tag.strip() for tag in tagged if tag.strip()]
    identity.require_manage(run.owner, run.project)
    identity.stores_of(run).runs.describe(run.id, title=title, note=note.strip()[:_NOTE_LENGTH], tagged=words)
    work().rename(run.id, title)


def _key(field: str, run: RunRecord) -> str:
    return f"edit-{field}-{run.id}"


def _delete(run: RunRecord) -> None:
    user = identity.require_manage(run.owner, run.project)
    server.shared().service.cancel(run.id)
    identity.stores_of(run).runs.delete(run.id)
    server.shared().audit.record(user.id, "delete", "run", run.id)
    work().forget(run.id)


_TO = "move-to"


def _say_whose(run: RunRecord) -> None:
    """Name the run's project, if it is not the visitor's current one."""
    if run.project == identity.current_project():
        return
    project = identity.stores().projects.get(run.project)
    if project is not None:
        st.caption(f":material/folder_shared: In the project {escape_markdown(project.name)}")


def _offer_move(run: RunRecord) -> None:
    user = identity.current_user()
    if not (run.ended and user.may_lead(run.project)):
        return
    names = {
        project.id: project.name
        for project in identity.stores().projects.all()
        if project.id != run.project and not project.archived and user.may_lead(project.id)
    }

    def where() -> None:
        ui.pick("To", names, key=_TO)
        st.write(
            "Its files and links go with it, and its address stays. From then on, the members of that "
            "project find it, and those of this one do not."
        )

    if names and ui.button("Move", "drive_file_move", help="To another project of yours"):
        ui.ask("Move this run to another project", where, "Move it", _move, run, refused="move-problem")


def _move(run: RunRecord) -> None:
    target = st.session_state[_TO]
    user = identity.require_lead(run.project)
    identity.require_lead(target)
    identity.stores().projects.move(run.id, target)
    server.shared().audit.record(user.id, "change", "run", run.id, {"project": target})


def _offer_ways_back(run: RunRecord, may_ask: Callable[[], bool]) -> None:
    """List what one click left out, kept or restricted before, each with a button that undoes it."""
    kept = identity.stores_of(run).answers.find(run.id, KEPT_RATERS) or ()
    found = list(ways_back(run.spec, tuple((column, value) for column, value in kept)))
    if not found or not may_ask():
        return
    for place, back in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(back.mended, width="content")
            if ui.button(back.mend.label, "undo", key=f"back-{place}"):
                ask_again(run, back.mend.spec)


def _change_and_run_again(run: RunRecord) -> None:
    if ui.button("Change and run again", "tune"):
        _change(run, run.spec.analysis)


def _way_to_mend(run: RunRecord, may_ask: Callable[[], bool], warning: Remark, place: int) -> None:
    """Draw a button that runs again with a warning's fix, or leads to the screen where it is chosen."""
    found = mend(warning, run.spec)
    if found is None:
        return
    leaves_out = found.spec.data.screens != run.spec.data.screens
    again = found.spec != run.spec and may_ask()
    label = found.label if again else found.on_data or found.label
    icon = "person_remove" if leaves_out else "build"
    if not ui.button(escape_markdown(label), icon, key=f"mend-{place}"):
        return
    if again:
        ask_again(run, found.spec)
    elif found.on_data:
        if _open_files(run):
            go("data")
    else:
        _change(run, found.spec.analysis, shuffles=found.label == CHOOSE_SHUFFLES)


def _change(run: RunRecord, analysis: AnalysisSpec, *, shuffles: bool = False) -> None:
    if _open_files(run):
        work().use_settings(analysis, shuffles=shuffles)
        go("models" if run.spec.models else "analysis")


def _open_files(run: RunRecord) -> bool:
    """Load the run's files if the server has them and the person may run; return False if one fails."""
    files = {sha256 for _, sha256 in identity.stores_of(run).runs.files_of(run.id)}
    in_use = work().data_spec == run.spec.data and files == set(work().hashes)
    may = identity.may_run() and identity.current_project() == run.project
    if in_use or not may or not server.shared().service.inputs.are_at_hand(run):
        return True
    try:
        with st.spinner("Reading the data"):
            of_models = take_up_run(run)
            if run.spec.models:
                open_models(run.spec.models, of_models, work().annotations)
    except GraspError as error:
        st.warning(for_pages(str(error)))
        return False
    return True
