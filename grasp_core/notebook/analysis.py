"""``analyse`` and ``permutation_test``: tests of groups against random groupings of the raters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, Unpack, cast

import numpy as np
import pandas as pd

from grasp_core.engine.compute import compute, make_pool
from grasp_core.engine.pools import workers as kinds
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run import checked_groups
from grasp_core.engine.run_request import RunRequest, analysis_of, request_of, say_data
from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Group, Grouping, axis_label, group_label
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Result, RunResult
from grasp_core.model.settings import read_settings
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import quoted
from grasp_core.notebook._shown import ProgressBar, Saved
from grasp_core.notebook.data import reading, tables_of
from grasp_core.notebook.options import (
    AnalysisOptions,
    Axes,
    Python,
    TestOptions,
    analysis_fields,
    axis_sets,
    data_fields,
    takes,
)
from grasp_core.notebook.remote import asked_plain
from grasp_core.notebook.results import Analysis
from grasp_core.permutation.draw import exchange_of, identity, permutation
from grasp_core.permutation.testing.families import Family, Tests
from grasp_core.permutation.testing.outcomes import outcomes
from grasp_core.permutation.testing.p_values import Kept
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.saved import read_spec
from grasp_core.report.tables import or_nan
from grasp_core.report.tidy import group_cells
from grasp_core.statistics.items import NotEstimableError, count

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
        A row per annotation, or a matrix; a frame of pandas, polars or Arrow, a table from :func:`read`, or
        the path or address of a file.
    raters : data frame, Table, str or Path, optional
        A row per rater; without it the annotations contain the raters' profiles.
    axes : sequence, optional
        Columns of the raters, and tuples of them for intersections: ``["gender", ("race", "gender")]``. By
        default those of a known data set, or the demographic columns; ``()`` shows how all raters agree.
    items : data frame, Table, str or Path, optional
        Attributes of items, a row per item, for `slices`.
    spec : RunSpec, str or Path, optional
        Spec of an earlier result, or the path of a saved one, to run the same again, without axes and
        further options.
    progress : bool
        Whether to show a progress bar.
    workers : int, optional
        Blocks of permutations side by side; by default, and with -1, one per core. It changes no digit.

    Returns
    -------
    Analysis
        It has the same digits as page and command have for these data and options.

    Raises
    ------
    UnsureError
        If something that was not named cannot be guessed; its `option` says which option to give.
    DataError, SpecError
        If the data or the options cannot be used; `code` says why, and `problems` lists all problems.
    """
    started, frontend = time.perf_counter(), Python()
    asked = asked_of(annotations, raters, items, axes=axes, spec=spec, options=options, frontend=frontend)
    result = computed(asked.data, asked.spec, progress=progress, workers=workers, started=started)
    asked.say_afterwards(result.warnings, frontend)
    return Analysis(cast("RunResult", result), tuple(frontend.notes), asked.data)


def asked_of(
    annotations: Any,
    raters: Any,
    items: Any,
    *,
    axes: Axes | None,
    spec: RunSpec | str | Path | None,
    options: AnalysisOptions,
    frontend: Python,
) -> RunRequest:
    """Return the request that the arguments of :func:`analyse` make; raise if it cannot be computed."""
    spec = _known(axes, spec, options)
    tables = tables_of(annotations, raters, items, options if spec is None else spec.data)
    if spec is None:
        found = reading(tables, options, frontend, axes_named=axes is not None, several=True)
        named, preset = axis_sets(axes), options.get("preset")
        analysis = analysis_of(found, analysis_fields(options), named, preset, frontend)
        run_spec = RunSpec(found.spec, analysis if axes is None or named else replace(analysis, axes=()))
    else:
        found = Reading(tables.annotations, tables.raters, spec.data, items=tables.items)
        run_spec = spec
    found, data = found.formed(run_spec.analysis.columns, run_spec.analysis.slices)
    run_spec = replace(run_spec, data=found.spec)
    given = {*options, *([] if axes is None else ["axes"])} if spec is None else None
    return request_of(found, run_spec, data, given, frontend)


def server_request(
    axes: Axes | None, spec: RunSpec | str | Path | None, options: AnalysisOptions
) -> dict[str, Any]:
    """Return a request for data that a server reads; it guesses everything that is not named here."""
    known = _known(axes, spec, options)
    if known is not None:
        return {"spec": known.to_dict()}
    if here := [name for name in ("guess", "keep", "preset") if name in options]:
        raise SpecError(f"{here[0]}= is of data that are read here, and not by the server", field=here[0])
    data, analysis = data_fields(options, several=True), analysis_fields(options)
    sets = None if axes is None else axis_sets(axes)
    plain = asked_plain(data, analysis, {*options, "further"}, sets)
    return {"spec": plain, "recommended": options.get("recommended")}


def _known(axes: Axes | None, spec: RunSpec | str | Path | None, options: AnalysisOptions) -> RunSpec | None:
    """Return the whole spec, if one was given."""
    if isinstance(spec, str | Path):
        spec = read_spec(Path(spec)).spec
    if spec is not None and (options or axes is not None):
        raise SpecError("a spec says all of what to run: leave axes and options out")
    return spec


def computed(
    data: Dataset, run_spec: RunSpec, *, progress: bool, workers: int | None, started: float
) -> Result:
    """Compute a run on this machine's cores, or on the installation's cluster."""
    load_s = time.perf_counter() - started
    pool = make_pool(read_settings(), kinds.threads, None if workers == -1 else workers)
    bar = ProgressBar("permutations", shown=progress)
    return on(pool, bar, lambda: compute(data, run_spec, pool, bar, load_s=load_s))


def on(pool: Pool, bar: ProgressBar, work: Callable[[], R]) -> R:
    """Return what `work` returns; if somebody interrupts it, do not wait for the pool."""
    try:
        return work()
    except KeyboardInterrupt:
        pool.close(wait=False)
        raise
    finally:
        bar.close()
        pool.close()


Statistic = Callable[[Int64Array, Int64Array], float]
_OWN_PERMUTATIONS = 1000
"""Default for a statistic in Python, which takes milliseconds where compiled ones take microseconds."""


@dataclass(frozen=True, slots=True, repr=False)
class Tested(Saved):
    """The test of your own statistic for every group against random groupings; saved as a table, ``.csv``.

    Parameters
    ----------
    name : str
        Name of the statistic.
    groups : tuple of Group
    outcomes : tuple of Outcome
        One for each group.
    null_distribution : float64 array, shape (permutations, G)
        The shuffled values; NaN if there was none.
    notes : tuple of str
        How the data were read.
    """

    name: str
    groups: tuple[Group, ...]
    outcomes: tuple[Outcome, ...]
    null_distribution: FloatArray = field(compare=False)
    notes: tuple[str, ...] = ()

    def answer(self) -> str:
        """Return the groups that differ from random ones after correction, a line each."""
        clear = [
            f"- {axis_label(group.axes)}: {group_label(group)}, {found.value:.3g}, q {found.q:.3g}"
            for group, found in zip(self.groups, self.outcomes, strict=True)
            if found.significance == "corrected"
        ]
        first = (
            f"{self.name}: {len(clear)} of {len(self.groups)} groups differ from random ones of their size"
        )
        return "\n".join([first, *clear])

    def table(self) -> pd.DataFrame:
        """Return one row per group.

        Returns
        -------
        DataFrame
            A column for each axis, `axis` and `group` in words, `statistic`, `value`, `null_median`, `p`,
            `q`, `mark` ("none", "nominal", "corrected"), `reason`.
        """
        columns = tuple(dict.fromkeys(name for group in self.groups for name in group.axes))
        return pd.DataFrame(
            [
                {
                    **group_cells(group.axes, group, columns),
                    "statistic": self.name,
                    "value": or_nan(found.value),
                    "null_median": or_nan(found.null_median),
                    "p": or_nan(found.p),
                    "q": or_nan(found.q),
                    "mark": found.significance,
                    "reason": None if found.reason is None else str(found.reason),
                }
                for group, found in zip(self.groups, self.outcomes, strict=True)
            ]
        )

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {".csv": lambda: self.table().to_csv(index=False)}


@takes(TestOptions)
def permutation_test(
    annotations: Any,
    raters: Any = None,
    *,
    statistic: Statistic,
    axes: Axes | None = None,
    progress: bool = True,
    **options: Unpack[TestOptions],
) -> Tested:
    """Test your own statistic as GRASP tests its own: against random groupings of the raters.

    It is computed in Python for each group and permutation, which is slower than :func:`analyse` by a factor
    of hundreds; so `permutations` are 1,000 by default. All groups together are one family of tests.

    Parameters
    ----------
    annotations, raters, axes, progress
        As in :func:`analyse`.
    statistic : callable
        Takes two integer arrays of shape (I, K): how many raters of the group, and how many others, gave item
        i category k. Returns a number, NaN if it has none. Functions of ``grasp.statistics`` fit with
        ``counts=True``, such as ``lambda group, others: grasp.statistics.gwet_ac1(group, counts=True)``.

    Returns
    -------
    Tested

    Raises
    ------
    UnsureError, DataError, SpecError
        As :func:`analyse`; also if the statistic returns no number.
    """
    if not callable(statistic):
        raise SpecError(f"statistic takes a function of two arrays of counts; found {statistic!r}")
    frontend = Python()
    tables = tables_of(annotations, raters, None, options)
    found = reading(tables, options, frontend, axes_named=axes is not None)
    named = axis_sets(axes) or tuple((name,) for name in found.axes)
    if not named:
        raise SpecError("a test needs groups: name an axis with axes=")
    asked = {"permutations": _OWN_PERMUTATIONS, **analysis_fields(options)}
    analysis = AnalysisSpec(axes=named, **asked)
    found, data = found.formed(analysis.columns)
    spec = RunSpec(found.spec, analysis)
    grouping = checked_groups(data, spec)
    say_data(data, spec.data, frontend)
    name = getattr(statistic, "__name__", type(statistic).__name__)
    with closing(ProgressBar("permutations", shown=progress)) as bar:
        tested, null = _tested(data, grouping, spec.analysis, statistic, bar)
    return Tested(name, grouping.groups, tested, null, tuple(frontend.notes))


def _tested(
    data: Dataset, grouping: Grouping, analysis: AnalysisSpec, statistic: Statistic, bar: ProgressBar
) -> tuple[tuple[Outcome, ...], FloatArray]:
    """Return the outcome of every group, and the shuffled values, shape (B, G)."""
    n_groups = len(grouping.groups)
    observed, null = np.full(n_groups, np.nan), np.full((analysis.permutations, n_groups), np.nan)
    reasons: dict[int, Remark] = {}
    here = identity(data.annotations.n_raters)
    for g in range(n_groups):
        try:
            observed[g] = _of_group(data, grouping, g, here, statistic)
        except NotEstimableError as error:
            reasons[g] = error.reason
    order, bounds = exchange_of(data.raters, analysis)
    for b in range(analysis.permutations):
        source = permutation(analysis.seed, b, order, bounds)
        for g in range(n_groups):
            with suppress(NotEstimableError):
                null[b, g] = _of_group(data, grouping, g, source, statistic)
        bar.tell(b + 1, analysis.permutations)
    family = Family(tuple(range(n_groups)), analysis.p_value, analysis.correction)
    tests = Tests((family,), np.eye(n_groups, dtype=np.bool_))
    found = outcomes(tests, observed, Kept(observed, null), reasons)
    return tuple(found[g] for g in range(n_groups)), null


def _of_group(data: Dataset, grouping: Grouping, g: int, source: Int64Array, statistic: Statistic) -> float:
    sides = (grouping.member[g], grouping.complement(g))
    try:
        return float(statistic(*(count(data.annotations, side[source]) for side in sides)))
    except NotEstimableError:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise SpecError(
            f"the statistic gave no number for {quoted(group_label(grouping.groups[g]))} "
            f"({type(error).__name__}: {error}); it takes two arrays of counts, items by labels, and returns "
            "one number"
        ) from error
