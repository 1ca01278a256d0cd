"""``models``: each model as one more rater, and the groups whose judgements it reproduces."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Unpack, cast

import altair as alt
import pandas as pd

from grasp_core.analysis.models.labels import check_models, read_model, read_model_column, sources
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.benchmark.baselines.registry import check_installed, item_texts, label_items
from grasp_core.engine import run_request
from grasp_core.engine.frontend import Frontend
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run import checked_groups
from grasp_core.engine.time_left import models_seconds
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.notebook._shown import Saved, page, shown_table
from grasp_core.notebook.analysis import computed
from grasp_core.notebook.data import reading, table_of, tables_of
from grasp_core.notebook.options import Axes, Python, TestOptions, analysis_fields, axis_sets, takes
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.report.charts.forest import models_chart
from grasp_core.report.models import SIDED, answer, each_side, plurality_table
from grasp_core.report.tables import texts


@dataclass(frozen=True, slots=True, repr=False)
class ModelsAnalysis(Saved):
    """The result of an analysis of models; saved as ``.json``, for :func:`open`, ``.csv`` or ``.html``.

    Parameters
    ----------
    result : ModelsResult
        All values, immutable, as in the saved file.
    notes : tuple of str
        How the data were read; empty if the result was opened.
    """

    result: ModelsResult
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def spec(self) -> RunSpec:
        """Spec of the run."""
        return self.result.spec

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that may change how to read the numbers, most important first."""
        return tuple(map(str, self.result.warnings))

    def answer(self) -> str:
        """Return the answer in words: a headline, then the groups that each model sides with, a line each."""
        found = answer(self.result)
        return "\n".join([found.headline.plain, *(f"- {sentence.plain}" for sentence in found.details)])

    def table(self) -> pd.DataFrame:
        """Return one row per model, group and statistic."""
        return texts(SIDED, each_side(self.result))

    def chart(self, *, theme: Any = "light") -> alt.LayerChart:
        """Draw every model beside every group, the same figure as on the page."""
        return models_chart(self.result, theme)

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        from grasp_core.report.writers.registry import MODELS_EXPORTS

        return {f".{name}": partial(MODELS_EXPORTS[name], self.result) for name in ("json", "csv", "html")}

    def _repr_html_(self) -> str:
        table = shown_table(plurality_table(self.result), "Macro-F1 against each group’s own plurality.")
        further = {"Warnings": self.warnings, "How the data were read": self.notes}
        found = answer(self.result)
        return page(found.headline, found.details, table, further)


@takes(TestOptions)
def models(
    annotations: Any,
    raters: Any = None,
    *,
    axes: Axes | None = None,
    labels: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    baselines: Sequence[str] = (),
    progress: bool = True,
    workers: int | None = None,
    **options: Unpack[TestOptions],
) -> ModelsAnalysis:
    """Find the groups whose judgements models reproduce, with each model as one more rater.

    Parameters
    ----------
    annotations, raters, axes, progress, workers
        As in :func:`analyse`.
    labels : mapping from name to data frame, Table, str or Path, optional
        Labels of a model, a row per item with the columns ``ID`` and ``Label``.
    columns : mapping from name to column, optional
        A column of the annotations as a model, one value per item, such as experts' gold labels.
    baselines : sequence of str, optional
        Baselines that label the items by their texts; `text` names the column of these.

    Returns
    -------
    ModelsAnalysis

    Raises
    ------
    UnsureError, DataError, SpecError
        As :func:`analyse`; also if a model's labels fit no item, or are none of the categories.
    MissingPackageError
        If a baseline's packages are not installed.
    """
    started = time.perf_counter()
    frontend = Python()
    asked, _ = models_asked(annotations, raters, axes, labels, columns, baselines, options, frontend)
    result = computed(asked.data, asked.spec, progress=progress, workers=workers, started=started)
    asked.say_afterwards(result.warnings, frontend)
    return ModelsAnalysis(cast("ModelsResult", result), tuple(frontend.notes))


def models_asked(
    annotations: Any,
    raters: Any,
    axes: Axes | None,
    labels: Mapping[str, Any] | None,
    columns: Mapping[str, str] | None,
    baselines: Sequence[str],
    options: TestOptions,
    frontend: Python,
) -> tuple[run_request.RunRequest, dict[str, Table]]:
    """Return the request that the arguments of :func:`models` make, as :func:`of_models` does."""
    for name in baselines:
        check_installed(name)
    tables = tables_of(annotations, raters, None, options)
    found = reading(tables, options, frontend, axes_named=axes is not None)
    analysis = AnalysisSpec(**run_request.with_axes(found, analysis_fields(options), axis_sets(axes)))
    given = ((name, table_of(one, name)) for name, one in (labels or {}).items())
    named = options.keys() | (set() if axes is None else {"axes"})
    return of_models(found, analysis, given, (columns or {}).items(), baselines, named, frontend)


def of_models(
    found: Reading,
    analysis: AnalysisSpec,
    labels: Iterable[tuple[str, Table]],
    columns: Iterable[tuple[str, str]],
    baselines: Iterable[str],
    named: Collection[str],
    frontend: Frontend,
) -> tuple[run_request.RunRequest, dict[str, Table]]:
    """Return a request for models by name: tables of labels, columns of the annotations, and baselines.

    Returns also the tables of labels and of baselines. Raises an error if the run cannot be computed.

    `named`: options that the caller named; the data decide the others.
    """
    found, data = found.formed(analysis.columns)
    run_request.say_data(data, found.spec, frontend)
    tables = [*labels]
    models = [read_model(table, name, data, found.spec) for name, table in tables]
    models += [read_model_column(found.annotations, at, name, data, found.spec) for name, at in columns]
    for name in baselines:
        job = item_texts(found.annotations, found.spec, data.summary.categories, name)
        tables.append((name, read_table(label_items(job), job.name)))
        models.append(read_model(tables[-1][1], name, data, found.spec))
    check_models(models)
    spec = RunSpec(found.spec, analysis, models=sources(models))
    if "axes" not in named:
        spec = run_request.with_groups(data, spec, frontend)
    grouping = checked_groups(data, spec)
    run_request.say_shuffles(data, grouping, spec.analysis, frontend)
    if "permutations" not in named and "adaptive" not in named:
        seconds = models_seconds(data, len(models), spec.analysis.axes, analysis.min_raters)
        spec = run_request.stopping_early(spec, seconds, frontend)
    data = dataclasses.replace(data, models=tuple(models))
    return run_request.RunRequest(found, data, spec, grouping), dict(tables)
