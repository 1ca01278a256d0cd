"""The Start page's ways to a first result."""

from __future__ import annotations

import json
import time

import streamlit as st

from grasp_core import server
from grasp_core.errors import DataError
from grasp_core.example import example_files, example_spec
from grasp_core.io.load import load
from grasp_core.io.recognise import Guess, recognise
from grasp_core.io.tables import read_table
from grasp_core.raft.raters import result as models
from grasp_core.report.contents import run_title
from grasp_core.report.text import escape_markdown
from grasp_core.result import RunResult
from grasp_core.store.runs import RunRecord
from pages._ui.kept_answers import keep_answer, open_answer
from pages._ui.links import go
from pages._ui.permissions import require_run
from pages._ui.state import submit, work

MAX_RESULT_MB = 50


def open_result(*, disabled: bool) -> None:
    """A drop zone for a saved result; a good one is shown at once, a bad one gets its sentence."""
    upload = st.file_uploader(
        "Saved result (JSON)",
        type="json",
        max_upload_size=MAX_RESULT_MB,
        key="saved-result",
        disabled=disabled,
    )
    if upload is None:
        return
    user = require_run()
    try:
        plain = _json(upload.getvalue())
        if isinstance(plain, dict) and plain.get("format") == models.FORMAT:
            open_answer(keep_answer(models.ModelsResult.from_dict(plain)))
            return
        result = RunResult.from_dict(plain)
    except DataError as error:
        st.error(escape_markdown(f"{upload.name}: {error}"))
        return
    run = server.shared().runs.add(result, title=run_title(result.spec), owner=user.id)
    work().remember(run)
    go("results", run_id=run.id)


def _json(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:  # e.g. a number of thousands of digits
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"this is not JSON{place}; expected the result file that GRASP wrote") from None


def try_example() -> RunRecord:
    """Load the example as if its files had been dropped, and start its run."""
    user = require_run()
    session = work()
    spec = example_spec()
    started = time.perf_counter()
    files = example_files()
    for content in files.values():
        server.shared().files.put(content, owner=user.id)
    tables = [read_table(content, name) for name, content in files.items()]
    annotations, raters = tables
    dataset = load(annotations, raters, spec.data)
    guess = recognise(annotations, raters)
    session.use_files(annotations, raters, Guess(spec.data, guess.axes, guess.reasons))
    session.use_dataset(dataset, spec.data, time.perf_counter() - started)
    session.use_settings(spec.analysis)
    return submit(dataset, spec, session.load_s)
