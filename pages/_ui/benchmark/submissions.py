"""Submissions to the benchmark: brought, scored, kept, taken off the leaderboard, compared."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from streamlit.typing import UploadedFile

from grasp_core.benchmark.folders import MAX_ARCHIVE, MAX_FILE
from grasp_core.benchmark.jobs import Benchmark, Predictions, compare_predictions
from grasp_core.benchmark.leaderboard import (
    OVERALL,
    Entry,
    leaderboard_dict,
    leaderboard_table,
    published,
    ranked,
)
from grasp_core.benchmark.submissions import (
    PREDICTIONS,
    VALIDATED,
    Submission,
    check_files,
    known_ids,
    read_submission,
    validate,
)
from grasp_core.benchmark.tasks import Task, builtin_tasks, read_tasks
from grasp_core.model.errors import DataError, GraspError, Problem
from grasp_core.model.text import escape_markdown, json_text
from grasp_core.model.wording import number
from grasp_core.reading.archives.members import MIB, check_size
from grasp_core.report import charts
from grasp_core.report.words.names import format_p
from grasp_core.server import server, submitting
from grasp_core.server.submitting import NAME_LENGTH, scored
from grasp_core.store.submissions import SubmissionRecord
from pages._ui.result import cache
from pages._ui.result.figures import page_theme
from pages._ui.session.identity import here, may_manage, may_run, owner_names, require_manage, require_run
from pages._ui.session.state import told
from pages._ui.share import share_leaderboard
from pages._ui.widgets.choices import confirm
from pages._ui.widgets.outputs import download, drawn
from pages._ui.widgets.shown import always

A = TypeVar("A")
B = TypeVar("B")


def tasks_folder() -> Path | None:
    """Where the tasks' own files are; None for the built-in tasks."""
    return submitting.tasks_folder(server.shared().settings)


def benchmark() -> Benchmark | None:
    """The benchmark with its gold labels; None where this server has none."""
    return submitting.benchmark_of(server.shared().settings)


def tasks() -> Mapping[str, Task]:
    """The benchmark's tasks.

    Raises
    ------
    DataError
        If the folder that the settings name cannot be used.
    """
    return read_tasks(tasks_folder())


def benchmark_or_say() -> bool:
    """Whether the tasks can be used; else why not, in a sentence."""
    try:
        tasks()
    except DataError as error:
        st.error(escape_markdown(f"The benchmark cannot be used: {error}."))
        return False
    return True


def in_a_worker(function: Callable[[A], B], job: A, doing: str) -> B | None:
    """The job's result, computed beside the pages; None after saying what was wrong."""
    try:
        with st.spinner(doing):
            return next(server.shared().service.pool.each(function, [job]))
    except DataError as error:
        st.error(escape_markdown(f"{error}."))
        return None


def entries() -> list[Entry]:
    """Systems scored here; published ones beside them where the tasks are RAFT's."""
    own = [_entry(record) for record in here().submissions.all()]
    return own + (list(published()) if tasks().keys() == builtin_tasks().keys() else [])


def _entry(record: SubmissionRecord) -> Entry:
    scored = record.scores["tasks"]
    return Entry(
        name=record.name,
        tasks={task: score["macro_f1"] for task, score in scored.items()},
        overall=record.scores["overall"],
        ci95={task: (score["ci95"][0], score["ci95"][1]) for task, score in scored.items()},
        id=record.id,
    )


_SCORED = "submission-scored"


def show_submission() -> None:
    """A zip archive or a folder, what is wrong with it, and the button that has it scored."""
    if not may_run():
        st.info("Only analysts may hand in predictions.")
        return
    names = tasks()
    st.write(
        "One file per task, `data/TASK/predictions.csv` with the columns ID and Label, for "
        f"{number(len(names), 'task')}. A file that is left out is not scored, and there is then no overall "
        "figure."
    )
    given = _given()
    if given is None:
        return
    shown, size, content = given
    try:
        check_size(size, MAX_ARCHIVE, shown, "a submission")
        submission = read_submission(content(), names, shown)
        ids = known_ids(tasks_folder())
        problems, faulty = validate(submission, names, ids), check_files(submission, names, ids)
    except GraspError as error:
        st.error(escape_markdown(f"{error}."))
        return
    if not submission.files:
        listing = f"{number(len(names), 'task')}: {', '.join(names)}"
        st.error(escape_markdown(f"{shown} has no file data/TASK/{PREDICTIONS} of any of the {listing}."))
        return
    _show_problems(problems, submission, len(names), any(problem.stops for problem in faulty))
    if not any(problem.stops for problem in faulty):
        _offer_scoring(submission)


def forget_scored() -> None:
    """Show no score of this visit any more: the leaderboard has changed."""
    st.session_state.pop(_SCORED, None)


def _given() -> tuple[str, int, Callable[[], bytes]] | None:
    """What was handed in, if it was: its name in messages, its size, and the archive that it is or makes."""
    kind = st.segmented_control(
        "What you have",
        ["Zip archive", "Folder"],
        default="Zip archive",
        required=True,
        key="submission-kind",
    )
    key = f"submission-{kind}"
    if kind != "Folder":
        file = st.file_uploader(
            "Zip archive of predictions", type="zip", max_upload_size=MAX_ARCHIVE // MIB, key=key
        )
        return (file.name, file.size, file.getvalue) if file else None
    files = st.file_uploader(
        "Folder of predictions", accept_multiple_files="directory", max_upload_size=MAX_FILE // MIB, key=key
    )
    return ("the folder", sum(file.size for file in files), lambda: _packed(files)) if files else None


def _packed(files: Iterable[UploadedFile]) -> bytes:
    """A folder's files as an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for file in files:
            archive.writestr(file.name, file.getbuffer())
    return out.getvalue()


def _show_problems(problems: list[Problem], submission: Submission, expected: int, faulty: bool) -> None:
    """Faults to be mended in one box, what is only to be known in another."""
    if not problems:
        st.success(VALIDATED)
        return
    stopping = [problem for problem in problems if problem.stops]
    if faulty:
        st.error("To be mended before anything is scored:\n\n" + _listed(stopping))
    elif stopping:
        rest = number(len(submission.files), "file")
        st.warning(
            f"Incomplete: {rest} of {expected:,} can be scored, without an overall figure.\n\n"
            + _listed(stopping)
        )
    else:
        st.success(VALIDATED)
    remarks = [problem for problem in problems if not problem.stops]
    if remarks:
        st.info(_listed(remarks))


def _listed(problems: Iterable[Problem]) -> str:
    return "\n".join(f"- {escape_markdown(problem.message)}" for problem in problems)


def _offer_scoring(submission: Submission) -> None:
    held = benchmark()
    if held is None:
        st.info(
            "This server holds no gold labels, so nothing can be scored here. Whoever runs it can set "
            "GRASP_RAFT_GOLD; the command `raft score` scores against labels of your own."
        )
        return
    predictions, owner = submission.predictions, require_run().id
    place = st.empty()  # told after the scoring, which uses one up
    given = st.text_input("Name of the system", max_chars=NAME_LENGTH, key="submission-name")
    name = given.strip()[:NAME_LENGTH]
    if st.button("Score", type="primary", icon=":material/scoreboard:"):
        if name:
            _score(held, name, predictions, owner)
        else:
            st.error("Give the system a name first: the Leaderboard lists it by that.")
    store = here().submissions
    fewest = min(store.left(task, owner=owner) for task in predictions)
    place.caption(
        f"You may have {fewest:,} more different predictions of these tasks scored: each score tells a "
        "little of the labels, which are to stay unknown."
    )
    known = st.session_state.get(_SCORED)
    if known is not None and known[0] == predictions:
        _show_scores(known[1], known[2])


def _score(held: Benchmark, name: str, predictions: Predictions, owner: str) -> None:
    try:
        with st.spinner(f"Scoring {number(len(predictions), 'task')}"):
            record = scored(
                held,
                predictions,
                name=name,
                owner=owner,
                store=here().submissions,
                pool=server.shared().service.pool,
            )
    except GraspError as error:
        st.error(escape_markdown(f"{error}."))
        return
    st.session_state[_SCORED] = (predictions, name, record.scores)


def _show_scores(name: str, scores: dict[str, Any]) -> None:
    overall = scores["overall"]
    st.metric("Macro-F1 over all tasks", "incomplete" if overall is None else f"{overall:.3f}")
    rows = scores["tasks"]
    st.dataframe(
        [
            {
                "Task": task,
                "Macro-F1": f"{one['macro_f1']:.3f}",
                "95 % interval": f"{one['ci95'][0]:.3f} to {one['ci95'][1]:.3f}",
                "Over declared classes": f"{one['macro_f1_declared']:.3f}",
                "Items": f"{one['n']:,}",
            }
            for task, one in rows.items()
        ],
        hide_index=True,
        height="content",
        alt="Scores by task",
    )
    st.caption(f"It now stands on the Leaderboard, as {escape_markdown(name)}.")


CHOSEN = "take-off"


def offer_taking_off() -> None:
    """The button that asks which; only for those who may take one off."""
    found = [one for one in here().submissions.all() if may_manage(one.owner, one.project)]
    if found and st.button("Take a system off", icon=":material/delete:", help="Asks first"):
        _dialog(found)


@st.dialog("Take a system off the leaderboard?", width="medium")
def _dialog(found: list[SubmissionRecord]) -> None:
    owners = owner_names(record.owner for record in found)
    names = {record.id: _told(record, owners[record.owner]) for record in found}
    chosen = st.selectbox("Which one", list(names), format_func=names.__getitem__, key=CHOSEN)
    record = next(one for one in found if one.id == chosen)
    st.warning(
        escape_markdown(
            f"{record.name}: its labels and scores are deleted for everybody, and cannot be brought back. "
            "Links to the leaderboard that were made before still show it, and its scorings stay counted."
        ),
        icon=":material/warning:",
    )
    confirm(take_off, found, yes="Take it off for good")


def _told(record: SubmissionRecord, owner: str) -> str:
    by = f"handed in by {owner}, " if owner else ""
    return f"{record.name} ({by}{told(record.created_at)})"


def take_off(found: list[SubmissionRecord]) -> None:
    """Delete the chosen one."""
    record = next(one for one in found if one.id == st.session_state[CHOSEN])
    user = require_manage(record.owner, record.project)
    here().submissions.delete(record.id)
    server.shared().audit.record(user.id, "delete", "submission", record.id)
    forget_scored()


def show_leaderboard() -> None:
    """Every system, best first by the task chosen."""
    found = entries()
    if not found:
        st.info("No system has been scored here yet. Hand in predictions under Submit.")
        return
    with st.container(horizontal=True):
        share_leaderboard(lambda: leaderboard_dict(ranked(entries()), list(tasks())))
        offer_taking_off()
    best = draw_leaderboard(found, list(tasks()))
    own = [entry for entry in best if entry.own]
    if own:
        st.caption(
            "Which rows a system labels wrongly is not shown: it would tell their gold labels. Whoever holds "
            "these sees the rows, and which classes are confused, with the command `raft score --errors`."
        )
    _compare(own)


def draw_leaderboard(
    found: Sequence[Entry], names: Sequence[str], check: Callable[[], None] = always
) -> list[Entry]:
    """Chart, table and files; returns the systems, best first by the task chosen.

    Parameters
    ----------
    found : sequence of Entry
    names : sequence of str
        Of the tasks.
    check : callable
        See :class:`~pages._ui.widgets.shown.Shown`.
    """
    column = st.selectbox(
        "Sort by",
        [OVERALL, *names],
        format_func=lambda name: "All tasks (mean)" if name == OVERALL else name,
        key="leaderboard-column",
        bind="query-params",
    )
    best = ranked(found, column)
    content = json_text(leaderboard_dict(best, names))
    cache.leaderboard_chart(content, best, column, page_theme())
    table = leaderboard_table(best, names)
    _draw_table(table, names)
    chart = partial(charts.leaderboard_chart, best, column)
    files: Sequence[tuple[str, str, str, Callable[[], str | bytes]]] = (
        ("Table (CSV)", "csv", "text/csv", lambda: table.to_csv(index=False)),
        ("All figures (JSON)", "json", "application/json", lambda: content),
        ("Chart (PNG)", "png", "image/png", lambda: drawn(chart(), "png")),
        ("Chart (SVG)", "svg", "image/svg+xml", lambda: drawn(chart(), "svg")),
    )
    with st.container(horizontal=True):
        for label, extension, media_type, make in files:
            download(check, label, make, file_name=f"leaderboard.{extension}", media_type=media_type)
    return best


def _draw_table(table: pd.DataFrame, names: Sequence[str]) -> None:
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "system": "System",
            "scored": st.column_config.TextColumn("Scored", help="Here, or the figures’ publication"),
            OVERALL: st.column_config.NumberColumn("All tasks", format="%.3f"),
            **{name: st.column_config.NumberColumn(name, format="%.3f") for name in names},
        },
        placeholder="–",
        alt="Macro-F1 of every system, overall and by task",
    )
    st.caption(
        "Macro-F1 over the classes that occur, as on RAFT's leaderboard. An overall figure needs every task. "
        "Published figures come without intervals and are not ours."
    )


def _compare(own: list[Entry]) -> None:
    if len(own) < 2:
        return
    st.subheader("Is one better than the other?")
    shown = {entry.id: entry.name for entry in own}
    left, right = st.columns(2)
    first = left.selectbox("System", list(shown), format_func=shown.__getitem__, key="compare-first")
    second = right.selectbox(
        "Against", list(shown), index=1, format_func=shown.__getitem__, key="compare-second"
    )
    if first == second or not st.button("Compare", icon=":material/compare_arrows:"):
        return
    store, held = here().submissions, benchmark()
    one, other = store.predictions(first), store.predictions(second)
    if held is None or one is None or other is None:
        st.error("The gold labels or one of the submissions is no longer on this server.")
        return
    found = in_a_worker(compare_predictions, (held, one, other), "Comparing")
    if found is None:
        return
    rows = {**found.tasks, **({OVERALL: found.overall} if found.overall else {})}
    st.dataframe(
        [
            {
                "Task": "All tasks" if name == OVERALL else name,
                "Difference": f"{one.difference:+.3f}",
                "95 % interval": f"{one.ci95[0]:+.3f} to {one.ci95[1]:+.3f}",
                "p": format_p(one.p),
                "Items": f"{one.n:,}",
            }
            for name, one in rows.items()
        ],
        hide_index=True,
        alt="Difference in macro-F1 by task, with interval and p",
    )
    st.caption("Paired permutation test over items: under chance, each item's two labels may change places.")
