"""Handing in predictions: checked at once, scored on the server against labels that no page shows."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st
from streamlit.typing import UploadedFile

from grasp_core import server
from grasp_core.benchmark.folders import MAX_ARCHIVE, MAX_FILE
from grasp_core.benchmark.jobs import Benchmark, Predictions
from grasp_core.benchmark.submissions.submission import PREDICTIONS, Submission, read_submission
from grasp_core.benchmark.submissions.validation import VALIDATED, check_files, known_ids, validate
from grasp_core.errors import GraspError, Problem
from grasp_core.io.archives.bounded import MIB, check_size
from grasp_core.report.words.text import escape_markdown
from grasp_core.submitting import NAME_LENGTH, scored
from grasp_core.wording import number
from pages._ui.benchmark.benchmark import benchmark, tasks, tasks_folder
from pages._ui.session.permissions import may_run, require_run
from pages._ui.session.projects import here

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
