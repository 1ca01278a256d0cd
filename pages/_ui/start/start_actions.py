"""The Start page's ways to a first result."""

from __future__ import annotations

import json
import time

import streamlit as st

from grasp_core.errors import DataError
from grasp_core.example import example_files, example_spec
from grasp_core.io.archives.bounded import MIB, check_size
from grasp_core.io.handling.limited import guessed, loaded
from grasp_core.io.parsing.read import read_table
from grasp_core.panels.results import read_result
from grasp_core.report.contents import run_title
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.runs import RunRecord
from pages._ui.session.permissions import require_run
from pages._ui.session.projects import here
from pages._ui.session.state import submit, work
from pages._ui.shell.links import go

MAX_RESULT_MB = 50
_MAX_VALUES = 4_000_000


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
        check_size(upload.size, MAX_RESULT_MB * MIB, upload.name, "a saved result")
        result = read_result(_json(upload.getvalue()))
    except DataError as error:
        st.error(escape_markdown(f"{upload.name}: {error}"))
        return
    run = here().runs.add(result, title=run_title(result.spec), owner=user.id)
    work().remember(run)
    go("results", run_id=run.id)


def _json(content: bytes) -> object:
    if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:  # each takes many bytes once it is read
        raise DataError(
            f"this has more than {_MAX_VALUES:,} values; expected the result file that GRASP wrote"
        )
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
        here().files.put(content, owner=user.id)
    tables = [read_table(content, name) for name, content in files.items()]
    annotations, raters = tables
    dataset = loaded(annotations, raters, spec.data)
    guess = guessed(annotations, raters)
    session.use_files(annotations, raters, guess.confirmed(spec.data, guess.axes))
    session.use_dataset(dataset, spec.data, time.perf_counter() - started)
    session.use_settings(spec.analysis)
    return submit(dataset, spec, session.load_s)
