"""Start: the example is run, files are brought, the last runs are shown."""

from __future__ import annotations

import functools
import json
import time
from pathlib import Path

import streamlit as st

from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown
from grasp_core.reading.example import example_files, example_spec
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.tables import guessed, loaded
from grasp_core.report.findings.sentences import HOW_SURE
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.identity import here, require_run
from pages._ui.helpers.navigation import link_to, link_to_run
from pages._ui.helpers.outputs import page_theme
from pages._ui.helpers.state import submit, told, work
from pages._ui.result import cache

_ANSWER = Path(__file__).with_name("example_answer.json")  # tools/example_answer.py writes it


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


def show_small_answer() -> None:
    """Three groups of the example's answer, as Results shows them."""
    result = _answer()
    with st.container(border=True):
        st.caption("An answer looks like this (the built-in example)")
        st.header(cache.told_first("example in small", result).title.plain)
        cache.verdict_chart("example in small", result, page_theme(), narrow=True)
        st.caption(HOW_SURE)


def show_last_runs() -> None:
    """The latest runs of the project, each with its result in one sentence."""
    runs = here().runs.search(limit=5)
    if not runs:
        return
    st.header("Last runs")
    for run in runs:
        with st.container(horizontal=True, vertical_alignment="center"):
            link_to_run(run.id, run.verdict or run.title)
            about = f"{run.title} · " if run.verdict else ""
            state = "" if run.state == "done" else f"{run.state} · "
            st.caption(escape_markdown(f"{about}{state}{told(run.created_at)}"), width=420)
    link_to("runs", "All runs")


@functools.cache
def _answer() -> RunResult:
    return RunResult.from_dict(json.loads(_ANSWER.read_text(encoding="utf-8")))
