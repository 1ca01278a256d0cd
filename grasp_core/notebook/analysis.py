"""``analyse``: every statistic of every group, with permutation tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, Unpack, cast

from grasp_core.engine.compute import compute, make_pool
from grasp_core.engine.pools import workers as kinds
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.request.analysis import (
    analysis_of,
    say_batches,
    say_data,
    say_level,
    say_order,
    say_shuffles,
    say_teams,
    settled,
)
from grasp_core.engine.request.reading import Reading
from grasp_core.engine.run import checked_groups
from grasp_core.model.errors import SpecError
from grasp_core.model.result import Result, RunResult
from grasp_core.model.settings import read_settings
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import for_python
from grasp_core.notebook._shown import Bar
from grasp_core.notebook.data import loaded, reading, tables_of
from grasp_core.notebook.options import (
    AnalysisOptions,
    Axes,
    Python,
    analysis_fields,
    axis_sets,
    takes,
)
from grasp_core.notebook.results import Analysis
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.saved import read_spec

R = TypeVar("R")


@takes(AnalysisOptions)
def analyse(
    annotations: Any,
    raters: Any = None,
    *,
    axes: Axes | None = None,
    items: Any = None,
    spec: RunSpec | str | Path | None = None,
    progress: bool = True,
    workers: int | None = None,
    **options: Unpack[AnalysisOptions],
) -> Analysis:
    """Find which groups of raters see the task differently, and whether that is real.

    Parameters
    ----------
    annotations : data frame, Table, str or Path
        A row per annotation, or a matrix; a frame of pandas, polars or Arrow, what :func:`read` returns, or
        the path or address of a file.
    raters : data frame, Table, str or Path, optional
        A row per rater; without it the annotations hold the raters' profiles.
    axes : sequence, optional
        Columns of the raters, and tuples of them for intersections: ``["gender", ("race", "gender")]``. By
        default those of a known data set, or the demographic columns.
    items : data frame, Table, str or Path, optional
        What else is known of items, a row each, for `slices`.
    spec : RunSpec, str or Path, optional
        Of an earlier result, or the path of a saved one, to ask the same again; it goes without axes and
        further options.
    progress : bool
        Whether a bar shows how far the run is.
    workers : int, optional
        Blocks of permutations side by side; by default, and with -1, one per core. No digit depends on it.

    Returns
    -------
    Analysis
        With the same digits as page and command have for these data and options.

    Raises
    ------
    UnsureError
        If what was not named cannot be told; its `option` says which to give.
    DataError, SpecError
        If the data, or what is asked of them, cannot be used; `code` says why, and `problems` all of it.
    """
    started = time.perf_counter()
    asked = asked_of(annotations, raters, items, axes=axes, spec=spec, options=options)
    data, voice = asked.data, asked.voice
    result = computed(data, asked.spec, progress=progress, workers=workers, started=started)
    say_batches(asked.found, asked.spec.analysis.columns, data, result.warnings, voice)
    say_teams(asked.found, asked.spec.analysis, data, voice)
    return Analysis(cast("RunResult", result), tuple(map(for_python, voice.notes)), data)


class Asked(NamedTuple):
    """What a run is asked: the files, how they are read and analysed, and what is to be known of it."""

    found: Reading
    spec: RunSpec
    data: Dataset
    voice: Python


def asked_of(
    annotations: Any,
    raters: Any,
    items: Any,
    *,
    axes: Axes | None,
    spec: RunSpec | str | Path | None,
    options: AnalysisOptions,
) -> Asked:
    """What is asked by the arguments of :func:`analyse`; what cannot be computed is refused."""
    voice = Python()
    if isinstance(spec, str | Path):
        spec = read_spec(Path(spec)).spec
    if spec is not None and (options or axes is not None):
        raise SpecError("a spec says all of what to run: leave axes and options out")
    tables = tables_of(annotations, raters, items, options if spec is None else spec.data)
    if spec is None:
        found = reading(tables, options, voice, axes_named=axes is not None, several=True)
        named, preset = axis_sets(axes), options.get("preset")
        run_spec = RunSpec(found.spec, analysis_of(found, analysis_fields(options), named, preset, voice))
    else:
        found = Reading(tables.annotations, tables.raters, spec.data, items=tables.items)
        run_spec = spec
    data = loaded(found, run_spec)
    grouping = checked_groups(data, run_spec)
    if spec is None:
        run_spec = settled(data, run_spec, options, voice)
    say_data(data, run_spec.data, voice)
    say_order(data, run_spec, voice)
    if spec is None and "level" not in options:
        say_level(data, voice)
    say_shuffles(data, grouping, run_spec.analysis, voice)
    return Asked(found, run_spec, data, voice)


def computed(
    data: Dataset, run_spec: RunSpec, *, progress: bool, workers: int | None, started: float
) -> Result:
    """Compute a run on this machine's cores, or on the installation's cluster."""
    load_s = time.perf_counter() - started
    pool = make_pool(read_settings(), kinds.threads, None if workers == -1 else workers)
    bar = Bar("permutations", shown=progress)
    return on(pool, bar, lambda: compute(data, run_spec, pool, bar, load_s=load_s))


def on(pool: Pool, bar: Bar, work: Callable[[], R]) -> R:
    """What work returns; a pool is not waited for where somebody interrupts it."""
    try:
        return work()
    except KeyboardInterrupt:
        pool.close(wait=False)
        raise
    finally:
        bar.close()
        pool.close()
