"""How time grows with groups, categories, permutations and cores, on crossed and on sparse data."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from grasp_core.annotations import Annotations, Axis, Raters
from grasp_core.engine import workers
from grasp_core.engine.compute import Watcher, compute
from grasp_core.engine.pool import Pool
from grasp_core.groups import form_groups
from grasp_core.io.load import Dataset
from grasp_core.permutation import kernel
from grasp_core.permutation.design import build_design
from grasp_core.spec import AnalysisSpec, RunSpec

ITEMS, RATERS = 350, 104
PERMUTATIONS = 4096


def grow(dataset: Dataset, spec: RunSpec) -> dict[str, object]:
    """Microseconds a permutation on one core, and seconds of whole runs of `dataset`."""
    figures: dict[str, object] = {}
    for share, shape in ((1.0, "crossed"), (0.1, "a tenth rated")):
        for n_groups in (5, 20, 80):
            figures[f"{shape}, 3 categories, {n_groups} groups: us"] = _each(share, n_groups, 3)
        for categories in (2, 5, 10):
            figures[f"{shape}, {categories} categories, 20 groups: us"] = _each(share, 20, categories)
    for n_workers in (1, 2):
        pool = Pool(workers.processes, n_workers)
        pool.warm()
        _run(pool, dataset, spec, 100)
        for permutations in (1000, 10_000, 100_000):
            seconds = _run(pool, dataset, spec, permutations)
            figures[f"whole run, {permutations:,} permutations, {n_workers} worker(s): s"] = seconds
        pool.close()
    return figures


def _each(share: float, n_groups: int, categories: int) -> float:
    """Simulated data; the groups are the values of one axis, as many as asked for."""
    rng = np.random.default_rng(1)
    item, rater = np.nonzero(rng.random((ITEMS, RATERS)) < share)
    annotations = Annotations.from_codes(
        item=item,
        rater=rater,
        category=rng.integers(0, categories, item.size),
        item_ids=[str(i) for i in range(ITEMS)],
        rater_ids=[str(j) for j in range(RATERS)],
        categories=[str(k) for k in range(categories)],
    )
    axis = Axis.from_values([str(j % n_groups) for j in range(RATERS)])
    raters = Raters(annotations.rater_ids, {"axis": axis})
    spec = AnalysisSpec(axes=(("axis",),), min_raters=1)
    design = build_design(annotations, raters, form_groups(raters, spec.axes), spec)
    kernel.shuffled(design, 1, 0, 1)
    started = time.perf_counter()
    kernel.shuffled(design, 1, 0, PERMUTATIONS)
    return (time.perf_counter() - started) / PERMUTATIONS * 1e6


def _run(pool: Pool, dataset: Dataset, spec: RunSpec, permutations: int) -> float:
    asked = dataclasses.replace(spec.analysis, permutations=permutations)
    started = time.perf_counter()
    compute(dataset, dataclasses.replace(spec, analysis=asked), pool, Watcher())
    return time.perf_counter() - started
