"""Models as raters: files of their labels, the analysis asked for, and the answer."""

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from pathlib import PurePath
from typing import Any

import streamlit as st

from grasp_core.analysis.models.labels import MAX_MODEL_FILE, MAX_NAME, read_model, read_model_column, sources
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.benchmark.baselines.embedding import available
from grasp_core.benchmark.baselines.registry import BASELINES, WITHOUT_EXAMPLES, item_texts, label_items
from grasp_core.engine.time_left import LONG_SECONDS, models_seconds
from grasp_core.model.annotations import ModelLabels
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.groups import axes_with_groups, axis_label
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.sizes import MIB, check_size
from grasp_core.model.spec import AnalysisSpec, ModelSource, RunSpec
from grasp_core.model.text import escape_markdown, json_text, number
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.report.account import how_it_ended
from grasp_core.report.charts.forest import models_chart
from grasp_core.report.contents import marks_legend
from grasp_core.report.models import answer, plurality_table, sides_csv, statistic_table
from grasp_core.report.words.names import REPRODUCED, SIDE_WORDS, SIDES_WITH, what_is_provisional
from grasp_core.server import server
from pages._ui.analysis import SAFE_INTEGER, STOPS_EARLY, say_what_is_compared
from pages._ui.data.columns import free_columns, one_question_only
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import current_user, may_run, require_run, stores, why_not_run
from pages._ui.helpers.page_frame import Tell, outcome, start, under_way
from pages._ui.helpers.screens import for_pages, go, link_to
from pages._ui.helpers.sessions import let_go
from pages._ui.helpers.state import submit, work
from pages._ui.result import cache

_GIVEN, _ROUND, _MESSAGES = ("models-given", "models-round", "models-messages")
_LABELLED = "models-labelled"
_MOST = 12
"""Most models side by side."""


@dataclass
class _Given:
    """A model's file or column; its labels are read anew for the data that are open."""

    name: str
    table: Table
    column: str | None = None

    @property
    def key(self) -> Hashable:
        return self.table.sha256, self.column

    @property
    def what(self) -> str:
        """Place of its labels, in words."""
        return self.table.name if self.column is None else f"{self.table.name}, column {self.column},"


def _stored(content: bytes, name: str) -> Table:
    """Read a model's file, and store it where any server that computes the run finds it."""
    user = require_run()
    table = read_table(content, name)
    server.shared().keep_file(stores().files, content, name, user.id)
    return table


def _keep(given: _Given) -> None:
    """Add a model to the others, under a name that none of them has."""
    kept: list[_Given] = st.session_state.setdefault(_GIVEN, [])
    for other in kept:
        if other.key == given.key:
            raise DataError(f"{given.what} is here already, as {other.name}")
    if len(kept) >= _MOST:
        raise DataError(f"{_MOST} models stand here, the most side by side; remove one to add {given.what}")
    taken, name = {other.name for other in kept}, given.name
    for more in count(2):
        if given.name not in taken:
            break
        ending = f" {more}"
        given.name = f"{name[: MAX_NAME - len(ending)]}{ending}"
    kept.append(given)


def open_models(models: Sequence[ModelSource], files: Mapping[str, Table], annotations: Table | None) -> None:
    """Show a run's models again; `files` has, by hash, the tables of models with a file of their own."""
    places = ((one, files.get(one.sha256, annotations)) for one in models)
    st.session_state[_GIVEN] = [
        _Given(one.name, table, one.column) for one, table in places if table is not None
    ]


def _take_column(table: Table, spec: DataSpec) -> None:
    options = free_columns(table, spec)
    if not options:
        return
    with st.expander("Take a column of the annotations file as a model"):
        label = "Column with one label per item, such as experts' gold labels"
        column = st.selectbox(label, options, index=None)
        if st.button("Take this column", disabled=column is None) and column is not None:
            with ui.show_refusal():
                require_run()
                _keep(_Given(column[:MAX_NAME], table, column))


def _take_baseline(table: Table, dataset: Dataset, spec: DataSpec) -> None:
    """Offer baselines that know only the labels' names to read the items' texts."""
    if spec.text is None or not available():
        return
    with st.expander("Have a baseline read the items' texts"), ui.show_refusal():
        name = st.selectbox("Baseline", WITHOUT_EXAMPLES, help=BASELINES[WITHOUT_EXAMPLES[0]])
        about = (table.sha256, table.member, spec, name)
        if st.button("Label the items", disabled=under_way(_LABELLED)):
            require_run()
            pool = server.shared().service.pool
            job = item_texts(table, spec, dataset.summary.categories, name)

            def label(_tell: Tell) -> tuple[bytes, str]:
                return next(pool.each(label_items, [job])), job.name

            start(_LABELLED, about, "Reading the texts", label)
        labelled = outcome(_LABELLED, about)
        if labelled is not None:
            ui.forget(_LABELLED)
            _keep(_Given(name, _stored(*labelled)))


def _given_models(dataset: Dataset, spec: DataSpec) -> list[ModelLabels]:
    models: list[ModelLabels] = []
    kept: list[_Given] = st.session_state.get(_GIVEN, [])
    for position, given in enumerate(kept):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            given.name = st.text_input(
                f"Name of model {position + 1}", given.name, max_chars=MAX_NAME, key=f"model-name-{given.key}"
            )
            if st.button(f"Remove {given.name}", key=f"model-remove-{given.key}", type="tertiary"):
                kept.remove(given)
                st.rerun()
        with ui.show_refusal():
            table, name = given.table, given.name
            if given.column is None:
                model = read_model(table, name, dataset, spec)
            else:
                model = read_model_column(table, given.column, name, dataset, spec)
            if model.name in {other.name for other in models}:
                raise DataError(f"Two models are called {model.name}; give each a name of its own")
            models.append(model)
            items = f"{model.n_labelled:,} of {dataset.summary.items:,} items"
            ui.caption(f"{model.source}: labels for {items}")
    return models


_CHARACTER = 7
_WIDEST = 400


def show_title(title: str, result: ModelsResult, buttons: Callable[[], None] = ui.always) -> None:
    """Draw the caption with buttons, the answer in one sentence, and the line that counts all groups."""
    amounts = (result.data.annotations, "answer"), (result.data.items, "item"), (result.data.raters, "rater")
    found = answer(result)
    ui.show_headline(
        [title, *(number(*amount) for amount in amounts)], buttons, found.headline, found.details[0]
    )


def show_answer(
    key: str,
    result: ModelsResult,
    check: Callable[[], None] = ui.always,
    way: Callable[[Remark, int], None] = ui.no_way,
) -> None:
    """Draw the answer in words, then charts and their tables; `key` and `check` as in :class:`Shown`."""
    if result.provisional:
        st.info(what_is_provisional(result), icon=":material/pending:")
    else:
        ui.bullets(answer(result).details[1:])
    st.caption(f"{escape_markdown(SIDES_WITH)} {escape_markdown(REPRODUCED)}")
    for words in how_it_ended(result):
        ui.caption(words)
    for place, warning in enumerate(result.warnings):
        ui.caption(f"Note: {warning}.")
        way(warning, place)
    hidden = plurality_table(result)
    width = min(_WIDEST, 20 + _CHARACTER * max(map(len, hidden["Group"])))
    columns = {"Group": st.column_config.Column(pinned=True, width=width)}
    st.header("What a plurality label hides")
    cache.chart(key, "models", result, models_chart)
    ui.show_table(hidden, "Macro-F1 of each model against each group's own plurality", column_config=columns)
    ui.caption(marks_legend(result))
    st.header("Every statistic")
    named = {name: words.name for name, words in SIDE_WORDS.items()}
    statistic = ui.switch("Statistic", named, default="macro_f1", key="models-statistic")
    words = SIDE_WORDS[statistic]
    ui.caption(words.explanation)
    of_each = f"{words.name} of each model and group"
    ui.show_table(statistic_table(result, statistic), of_each, column_config=columns)
    if not result.provisional:
        ui.downloads(
            check,
            ("Report (HTML)", "models.html", lambda: _report(result)),
            ("Result (JSON)", "models.json", lambda: json_text(result.to_dict())),
            ("Table (CSV)", "models.csv", lambda: sides_csv(result)),
            ("Chart (PNG)", "models.png", lambda: ui.drawn(models_chart(result), "png")),
            ("Chart (SVG)", "models.svg", lambda: ui.drawn(models_chart(result), "svg")),
            type="tertiary",
        )


def _report(result: ModelsResult) -> bytes:
    exports = server.shared().exports
    with exports.turn():
        return exports.make_of_models("html", result)


_DECIDED = "models-stopping-decided"
"""Key set once somebody has chosen the number of permutations, or whether they stop early."""


def show_models_as_raters() -> None:
    """Draw the choice of models and groups; its button starts a run, which has its own page."""
    session = work()
    dataset, spec = session.dataset, session.data_spec
    if dataset is None or spec is None or session.annotations is None:
        st.info("Open the annotations that models are compared with first; then bring a model's labels here.")
        link_to("data", "Go to Data")
        st.caption(
            "Predictions for a benchmark's rows need people's votes beside them: where there are none, "
            "*People* makes a sheet of rows to vote on."
        )
        return
    if not one_question_only(spec):
        return
    st.write(
        "Bring a model's label for each item of your data, and see with which groups of raters it sides, "
        "and whether that is real."
    )
    if not dataset.raters.axes:
        st.info("The data say nothing about their raters, so there are no groups; add a raters file on Data.")
        link_to("data", "Go to Data")
        return
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
        st.session_state[_MESSAGES] = []
        for upload in uploads:
            name = upload.name
            try:
                check_size(upload.size, MAX_MODEL_FILE, name, "a model's labels")
                _keep(_Given(PurePath(name).stem[:MAX_NAME] or "model", _stored(upload.getvalue(), name)))
            except GraspError as error:
                st.session_state[_MESSAGES].append(f"{error}.")
            let_go(upload)
        st.session_state[_ROUND] += 1
        st.rerun()
    for message in st.session_state.get(_MESSAGES, ()):
        st.error(for_pages(message))
    _take_column(session.annotations, spec)
    _take_baseline(session.annotations, dataset, spec)
    models = _given_models(dataset, spec)
    analysis = _choose_analysis(dataset, len(models), tuple(session.proposed_axes))
    enough = analysis is not None and say_what_is_compared(dataset, analysis)
    looks = {"type": "primary", "disabled": not models or not enough}
    if ui.button("See whose judgements they reproduce", "balance", **looks):
        asked = RunSpec(spec, analysis, models=sources(models))
        run = submit(dataclasses.replace(dataset, models=tuple(models)), asked, session.load_s)
        go("results", run_id=run.id)


def _choose_analysis(dataset: Dataset, n_models: int, proposed: tuple[str, ...]) -> AnalysisSpec | None:
    names, session = tuple(dataset.raters.axes), work()
    single = [(name,) for name in names]
    settings, key = session.settings, f"{session.generation}-{session.settings_generation}"
    asked = () if settings is None else tuple(axes for axes in settings.axes if set(axes) <= set(names))
    start = settings or AnalysisSpec(tuple(single[:1]))
    known = [(name,) for name in proposed if name in names] or single[:1]
    first = asked or axes_with_groups(dataset.raters, known, start.min_raters)
    more = "Each value is one group of raters; pairs of axes give groups such as one gender of one race."
    looks = {"format_func": axis_label, "help": more, **ui.for_visit(f"models-axes-{key}")}
    axes = ui.several("Groups of", [*asked, *single, *combinations(names, 2)], first, **looks)

    def chosen(label: str, low: int, high: int, value: int, **looks: Any) -> int:
        return ui.whole(label, low, high, value, **ui.for_visit(f"models-{label}-{key}"), **looks)

    def decide() -> None:
        st.session_state[_DECIDED] = True

    with st.expander("Smallest group and permutation test"):
        smallest = chosen("Smallest group shown", 1, 1000, start.min_raters)
        permutations = chosen("Permutations", 100, 1_000_000, start.permutations, step=1000, on_change=decide)
        if settings is None and _DECIDED not in st.session_state:  # no early stop, unless the run is long
            long = models_seconds(dataset, n_models, axes, smallest) > LONG_SECONDS
            st.session_state[f"models-adaptive-{key}"] = long
        looks = {"on_change": decide, "help": STOPS_EARLY, **ui.for_visit(f"models-adaptive-{key}")}
        adaptive = st.toggle("Stop when all marks are settled", start.adaptive, **looks)
        seed = chosen("Seed", 0, SAFE_INTEGER, start.seed)
        strata, cluster = ui.choose_shuffles(names, start, f"models-{key}")
    if not axes:
        return None
    shuffles = {"permutations": permutations, "seed": seed, "adaptive": bool(adaptive)}
    return AnalysisSpec(axes, min_raters=smallest, strata=strata, cluster=cluster, **shuffles)
