"""Models' labels as they were handed in: files, a column of the annotations, or a baseline's."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from pathlib import PurePath

import streamlit as st
from streamlit.typing import UploadedFile

from grasp_core import server
from grasp_core.annotations import ModelLabels
from grasp_core.benchmark.baselines.as_raters import WITHOUT_EXAMPLES, item_texts, label_items
from grasp_core.benchmark.baselines.embedding import available
from grasp_core.benchmark.baselines.registry import BASELINES
from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError, GraspError
from grasp_core.io.archives.bounded import MIB, check_size
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.dataset.votes import cell_columns, id_columns
from grasp_core.io.parsing.read import read_table
from grasp_core.io.table.table import Table
from grasp_core.models_as_raters.labels import MAX_MODEL_FILE, MAX_NAME, read_model, read_model_column
from grasp_core.report.words.text import escape_markdown
from pages._ui.benchmark.benchmark import in_a_worker
from pages._ui.session.identity import current_user
from pages._ui.session.permissions import may_run, require_run, why_not_run
from pages._ui.session.projects import here
from pages._ui.shell.waiting import let_go

_GIVEN, _ROUND, _MESSAGES = ("models-given", "models-round", "models-messages")
_MOST = 12
"""Models side by side."""


@dataclass
class _Given:
    """A model as it was handed in; its labels are read anew for whatever data are open."""

    name: str
    table: Table
    column: str | None = None

    @property
    def key(self) -> Hashable:
        return self.table.sha256, self.column

    @property
    def what(self) -> str:
        """Where its labels are, in words."""
        return self.table.name if self.column is None else f"{self.table.name}, column {self.column},"


def take_files() -> None:
    """A drop zone; what was dropped is kept for the visit and listed below."""
    round_ = st.session_state.setdefault(_ROUND, 0)
    uploads = st.file_uploader(
        "Models' labels: a file per model, a row per item, with the columns ID and Label",
        accept_multiple_files=True,
        max_upload_size=MAX_MODEL_FILE // MIB,
        key=f"models-files-{round_}",
        disabled=not may_run(),
    )
    if not may_run():
        st.caption(why_not_run(current_user()) or "")
    if uploads:
        messages = [_take(upload) for upload in uploads]
        st.session_state[_MESSAGES] = [message for message in messages if message]
        for upload in uploads:
            let_go(upload)
        st.session_state[_ROUND] += 1
        st.rerun()
    for message in st.session_state.get(_MESSAGES, ()):
        st.error(escape_markdown(message))


def _take(upload: UploadedFile) -> str | None:
    """The fault of the file, if any; a good one is kept."""
    name = upload.name
    try:
        check_size(upload.size, MAX_MODEL_FILE, name, "a model's labels")
        _keep(_Given(PurePath(name).stem[:MAX_NAME] or "model", _stored(upload.getvalue(), name)))
    except GraspError as error:
        return f"{error}."
    return None


def _stored(content: bytes, name: str) -> Table:
    """A model's file, read, and kept where any server that computes the run finds it."""
    user = require_run()
    table = read_table(content, name)
    sha256 = here().files.put(content, owner=user.id)
    server.shared().audit.record(user.id, "upload", "file", sha256, {"bytes": len(content)})
    return table


def _keep(given: _Given) -> None:
    """Put a model beside the others, under a name that none of them has.

    Raises
    ------
    DataError
        If it is there already, or there is no room.
    """
    kept: list[_Given] = st.session_state.setdefault(_GIVEN, [])
    for other in kept:
        if other.key == given.key:
            raise DataError(f"{given.what} is here already, as {other.name}")
    if len(kept) >= _MOST:
        raise DataError(f"{_MOST} models stand here, the most side by side; remove one to add {given.what}")
    taken, name = {other.name for other in kept}, given.name
    for number in count(2):
        if given.name not in taken:
            break
        ending = f" {number}"
        given.name = f"{name[: MAX_NAME - len(ending)]}{ending}"
    kept.append(given)


def take_column(table: Table, spec: DataSpec) -> None:
    """Experts' labels often stand beside the raters' in the same file."""
    if spec.layout == "raters-by-items":
        return
    used = {*id_columns(spec), *cell_columns(table, spec), spec.text}
    options = [name for name in table.columns if name not in used]
    if not options:
        return
    with st.expander("Take a column of the annotations file as a model"):
        column = st.selectbox(
            "Column with one label per item, such as experts' gold labels", options, index=None
        )
        if st.button("Take this column", disabled=column is None) and column is not None:
            try:
                require_run()
                _keep(_Given(column[:MAX_NAME], table, column))
            except GraspError as error:
                st.error(escape_markdown(f"{error}."))


def take_baseline(table: Table, dataset: Dataset, spec: DataSpec) -> None:
    """A baseline that knows the labels' names alone reads the items' texts."""
    if spec.text is None or not available():
        return
    with st.expander("Have a baseline read the items' texts"):
        name = st.selectbox("Baseline", WITHOUT_EXAMPLES, help=BASELINES[WITHOUT_EXAMPLES[0]])
        if st.button("Label the items"):
            require_run()
            _take_labelled(table, dataset, spec, name)


def _take_labelled(table: Table, dataset: Dataset, spec: DataSpec, name: str) -> None:
    """Take what the baseline says, or say why it could not."""
    try:
        job = item_texts(table, spec, dataset.summary.categories, name)
        labels = in_a_worker(label_items, job, "Reading the texts")
        if labels is not None:
            _keep(_Given(name, _stored(labels, job.name)))
    except GraspError as error:
        st.error(escape_markdown(f"{error}."))


def given_models(dataset: Dataset, spec: DataSpec) -> list[ModelLabels]:
    """The models that can be used with these data; those that cannot say why."""
    models: list[ModelLabels] = []
    kept: list[_Given] = st.session_state.get(_GIVEN, [])
    for position, given in enumerate(kept):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            given.name = st.text_input(
                f"Name of model {position + 1}",
                given.name,
                max_chars=MAX_NAME,
                key=f"model-name-{given.key}",
            )
            if st.button(f"Remove {given.name}", key=f"model-remove-{given.key}", type="tertiary"):
                kept.remove(given)
                st.rerun()
        try:
            model = _labels(given, dataset, spec)
        except GraspError as error:
            st.error(escape_markdown(f"{error}."))
            continue
        if model.name in {other.name for other in models}:
            st.error(escape_markdown(f"Two models are called {model.name}; give each a name of its own."))
            continue
        models.append(model)
        st.caption(
            escape_markdown(
                f"{model.source}: labels for {model.n_labelled:,} of {dataset.summary.items:,} items"
            )
        )
    return models


def _labels(given: _Given, dataset: Dataset, spec: DataSpec) -> ModelLabels:
    if given.column is not None:
        return read_model_column(given.table, given.column, given.name, dataset, spec)
    return read_model(given.table, given.name, dataset, spec)
