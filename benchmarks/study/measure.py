"""Results of the run on one data set, as numbers that can be stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.study.cells import Cell
from benchmarks.study.peers import peers
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.groups import form_groups
from grasp_core.model.outcome import Outcome
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.spec import STATISTICS
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.words.label_use import shift_outcome

TESTS = (*STATISTICS, "label_use", "verdict")
FIGURES = ("value", "p", "q", "low", "high")


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Results of the runs on the data sets of one cell.

    Parameters
    ----------
    groups : tuple of tuple of str
        Values of the groups, the same in every data set.
    figures : float64 array, shape (data sets, groups, tests, figures)
        NaN if there is none.
    dsi : float64 array, shape (data sets, axes)
        p of each axis's DSI.
    warnings : tuple of set of str
        Codes of each run's warnings.
    peers : mapping from str to float64 array, shape (data sets, groups, ...)
        Results of other tests on the same data.
    """

    groups: tuple[tuple[str, ...], ...]
    figures: FloatArray
    dsi: FloatArray
    warnings: tuple[frozenset[str], ...]
    peers: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of data sets."""
        return len(self.figures)

    def of(self, test: str, figure: str) -> FloatArray:
        """Return one figure of one test, shape (data sets, groups)."""
        return self.figures[:, :, TESTS.index(test), FIGURES.index(figure)]


def measure(cell: Cell, seeds: Sequence[int]) -> Measured:
    """Draw a data set for each seed, and run it."""
    data = [cell.draw(seed) for seed in seeds]
    pool = Pool(workers.threads, 1)
    try:
        found = [
            compute(one, cell.spec(seed), pool, Watcher()) for one, seed in zip(data, seeds, strict=True)
        ]
    finally:
        pool.close()
    results = [one for one in found if isinstance(one, RunResult)]
    groups = tuple(row.group.values for row in results[0].groups)
    assert all(tuple(row.group.values for row in one.groups) == groups for one in results)
    return Measured(
        groups,
        np.array([[[_figures(row, test) for test in TESTS] for row in one.groups] for one in results]),
        np.array([[_number(row.outcome.p) for row in one.dsi] for one in results]),
        tuple(frozenset(warning.code.key for warning in one.warnings) for one in results),
        _of_peers(cell, data, seeds) if cell.of_peers else {},
    )


def _of_peers(cell: Cell, data: Sequence[Dataset], seeds: Sequence[int]) -> dict[str, FloatArray]:
    found = [
        peers(one, form_groups(one.raters, cell.axes, min_raters=2), seed)
        for one, seed in zip(data, seeds, strict=True)
    ]
    return {name: np.array([of_set[name] for of_set in found]) for name in found[0]}


def joined(parts: Sequence[Measured]) -> Measured:
    """Join several measurements of one cell."""
    (groups,) = {part.groups for part in parts}
    return Measured(
        groups,
        np.concatenate([part.figures for part in parts]),
        np.concatenate([part.dsi for part in parts]),
        tuple(of_set for part in parts for of_set in part.warnings),
        {name: np.concatenate([part.peers[name] for part in parts]) for name in parts[0].peers},
    )


def _figures(row: GroupResult, test: str) -> list[float]:
    if test == "verdict":
        verdict = row.verdict
        p, q = (verdict.p, verdict.q) if verdict else (None, None)
        return [_number(one) for one in (None, p, q, None, None)]
    if test != "label_use":
        outcome = row.statistics[test]
        return _numbers(outcome, outcome.p, outcome.q)
    use = row.label_use
    if use is None or not use.labels:
        return [np.nan] * len(FIGURES)
    first = shift_outcome(use, next(iter(use.labels)))  # one label's interval stands for all
    return _numbers(first, use.p, use.q)


def _numbers(outcome: Outcome, p: float | None, q: float | None) -> list[float]:
    interval = outcome.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return [_number(one) for one in (outcome.value, p, q, low, high)]


def _number(one: float | None) -> float:
    return np.nan if one is None else one
