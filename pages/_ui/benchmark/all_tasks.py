"""A baseline on all tasks whose rows the server has: a submission to keep, or to hand in."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import streamlit as st

from grasp_core.benchmark.jobs import TaskJob, label_task
from grasp_core.benchmark.submissions import PREDICTIONS
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE
from grasp_core.model.errors import GraspError
from grasp_core.model.text import escape_markdown
from grasp_core.model.wording import number
from grasp_core.server import server
from pages._ui.benchmark.submissions import tasks, tasks_folder
from pages._ui.session.identity import require_run

_DONE = "all-tasks-done"


def offer_all_tasks(name: str, seed: int) -> None:
    """The button and what is done so far; each task is kept for the visit as soon as it is labelled."""
    with st.expander("A submission: label the rows of all tasks"):
        folder = tasks_folder()
        names = [] if folder is None else list(tasks())
        here = [
            one
            for one in names
            if folder and all((folder / one / file).is_file() for file in (TRAIN_FILE, TEST_FILE))
        ]
        if folder is None or not here:
            st.write(
                "This server has no rows to label. The command `raft baseline NAME --all` labels those of a "
                "folder; whoever runs the server can set GRASP_RAFT_TASKS."
            )
            return
        done: dict[str, str] = st.session_state.setdefault(_DONE, {}).setdefault((name, seed), {})
        if st.button(f"Label {number(len(here), 'task')} by {name}"):
            require_run()
            jobs = [TaskJob(name, folder / one, seed) for one in here if one not in done]
            bar = st.progress(len(done) / len(here), _so_far(len(done), len(here)))
            try:
                for task, content in server.shared().service.pool.each(label_task, jobs):
                    done[task] = content
                    bar.progress(len(done) / len(here), _so_far(len(done), len(here)))
            except GraspError as error:
                st.error(escape_markdown(f"{error}. {_so_far(len(done), len(here))}, and kept."))
            bar.empty()
        if len(done) == len(here):
            st.download_button(
                "Submission (zip)",
                _packed(done),
                f"{name}.zip",
                "application/zip",
                icon=":material/download:",
            )
            st.caption("Hand it in under Submit: where this server has gold labels, it is scored there.")


def _so_far(done: int, of: int) -> str:
    return f"{done:,} of {number(of, 'task')} labelled"


def _packed(files: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for task, content in files.items():
            archive.writestr(f"data/{task}/{PREDICTIONS}", content)
    return out.getvalue()
