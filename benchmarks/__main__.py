"""Measure the engine beside counting alone and beside a loop: ``python -m benchmarks [--json FILE]``.

Both sides are measured alternately in one run; medians are shown.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks.counting import Cells, bit_sets, increments
from benchmarks.figures import DICES, peak_mib, tell
from benchmarks.loop import Loop
from benchmarks.simulated import d3_size
from benchmarks.starting import start_up
from grasp_core.annotations import Annotations
from grasp_core.data_spec import DataSpec
from grasp_core.engine import workers
from grasp_core.engine.compute import compute
from grasp_core.engine.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.example import AXES, example_files, example_spec
from grasp_core.groups import form_groups
from grasp_core.io.dataset.load import Dataset, load
from grasp_core.io.parsing.read import read_table
from grasp_core.panels.warm import warm
from grasp_core.permutation import compiled
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.kernel import crossed, sparse
from grasp_core.spec import AnalysisSpec, Level, RunSpec

PERMUTATIONS = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    figures: dict[str, object] = {"cores": workers.available_cores()}
    warm()
    figures |= start_up()
    name, dataset, spec = _data()
    _compare(name, dataset, spec, chosen.rounds, figures)
    for categories in (2, 5):
        _compare_sparse(categories, chosen.rounds, figures)
    figures["peak_memory_mib"] = peak_mib()
    tell(figures, chosen.json)


def _data() -> tuple[str, Dataset, RunSpec]:
    """DICES-350 where it lies beside the repository, else the example of the same shape."""
    if not DICES.is_dir():
        files = example_files()
        spec = example_spec()
        tables = [read_table(content, name) for name, content in files.items()]
        return "example", load(*tables, spec.data, AXES), spec
    data = DataSpec(
        item="item_id",
        rater="rater_id",
        label="Q_overall",
        categories=("No", "Yes", "Unsure"),
        exclude=(("removed", "True"),),
    )
    axes = ("rater_age", "rater_gender", "rater_race")
    spec = RunSpec(data, AnalysisSpec(axes=(*((axis,) for axis in axes), ("rater_race", "rater_gender"))))
    tables = [read_table(DICES / "ratings_long.csv"), read_table(DICES / "raters.csv")]
    return "DICES-350", load(*tables, data, axes), spec


def _compare(name: str, dataset: Dataset, spec: RunSpec, rounds: int, figures: dict[str, object]) -> None:
    """Crossed data: kernel, counting alone, other levels, a whole run, and the loop."""
    analysis = spec.analysis
    grouping = form_groups(dataset.raters, analysis.axes)
    of_level = {
        level: build_design(
            _numbered(dataset.annotations),
            dataset.raters,
            grouping,
            dataclasses.replace(analysis, level=level),
        )
        for level in get_args(Level)
    }
    design = of_level["nominal"]
    loop = Loop(dataset.annotations, grouping)
    rng = np.random.default_rng(1)
    _check_agreement(loop, design)
    pool = Pool(workers.processes)
    pool.warm()
    _whole_run(pool, dataset, spec, seed=1)
    many = crossed.BATCH
    sides: dict[str, Callable[[int], float]] = {
        "loop": lambda _: _seconds(lambda: [loop.permutation(rng) for _ in range(20)]) / 20,
        "counting": lambda _: _seconds(lambda: bit_sets(design, many)) / many,
        **{level: partial(_kernel_seconds, one, many) for level, one in of_level.items()},
        "engine": lambda turn: _whole_run(pool, dataset, spec, seed=turn + 2) / PERMUTATIONS,
    }
    median = _medians(sides, rounds)
    pool.close()
    figures["data"] = name
    figures["groups"] = len(grouping.groups)
    figures["loop: ms per permutation"] = median["loop"] * 1e3
    figures["counting alone, bit sets: us"] = median["counting"] * 1e6
    figures["kernel, one core: us per permutation"] = median["nominal"] * 1e6
    figures["kernel / counting (goal 3)"] = median["nominal"] / median["counting"]
    figures["loop / kernel on one core (goal 300)"] = median["loop"] / median["nominal"]
    for level in ("ordinal", "interval", "ratio"):
        figures[f"{level} / nominal (goal 3)"] = median[level] / median["nominal"]
    figures[f"engine, whole run of {PERMUTATIONS:,}: s"] = median["engine"] * PERMUTATIONS
    figures["loop / engine, whole run"] = median["loop"] / median["engine"]


def _compare_sparse(categories: int, rounds: int, figures: dict[str, object]) -> None:
    """Data of D3CODE's size: kernel, and counting alone by both strategies."""
    annotations, raters, spec = d3_size(categories)
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    of_level = {
        level: build_design(annotations, raters, grouping, dataclasses.replace(spec, level=level))
        for level in ("nominal", "ordinal")
    }
    cells = Cells(annotations, grouping)
    plain = build_design(annotations, raters, grouping, spec, dense=False, tables=False)
    few, many = 20, sparse.MOST_BATCH
    sides: dict[str, Callable[[int], float]] = {
        "increments": lambda _: _seconds(partial(increments, plain, few)) / few,
        "cells": lambda _: _seconds(partial(cells.count, plain, few)) / few,
        "direct": partial(_kernel_seconds, plain, few),
        **{level: partial(_kernel_seconds, one, many) for level, one in of_level.items()},
    }
    median = _medians(sides, rounds)
    name = f"D3 size, {categories} labels"
    floor = min(median["increments"], median["cells"])
    figures[f"{name}: groups"] = len(grouping.groups)
    figures[f"{name}: counting by increments, us"] = median["increments"] * 1e6
    figures[f"{name}: counting by finest cells, us"] = median["cells"] * 1e6
    figures[f"{name}: kernel, us"] = median["nominal"] * 1e6
    figures[f"{name}: kernel / counting (goal 6)"] = median["nominal"] / floor
    figures[f"{name}: without lookups, us"] = median["direct"] * 1e6
    figures[f"{name}: ordinal / nominal (goal 3)"] = median["ordinal"] / median["nominal"]


def _medians(sides: Mapping[str, Callable[[int], float]], rounds: int) -> dict[str, float]:
    """Seconds of each side, measured alternately after one round that compiles."""
    for measure in sides.values():
        measure(0)
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for turn in range(rounds):
        for side, measure in sides.items():
            taken[side].append(measure(turn))
    return {side: statistics.median(seconds) for side, seconds in taken.items()}


def _kernel_seconds(design: Design, permutations: int, _turn: int) -> float:
    return _seconds(lambda: compiled.shuffled(design, 1, 0, permutations)) / permutations


def _numbered(annotations: Annotations) -> Annotations:
    """With categories that are numbers, so that every level can be measured."""
    names = tuple(str(1 + k) for k in range(annotations.n_categories))
    return dataclasses.replace(annotations, categories=names)


def _check_agreement(loop: Loop, design: Design) -> None:
    class Unshuffled:
        def permutation(self, size: int) -> np.ndarray:
            return np.arange(size)

    difference = np.abs(loop.permutation(Unshuffled())[:, :6] - compiled.observed(design)).max()
    if difference > 1e-10:
        sys.exit(f"the two sides disagree by {difference}; a ratio of their speeds would mean nothing")


def _whole_run(pool: Pool, dataset: Dataset, spec: RunSpec, seed: int) -> float:
    fresh = dataclasses.replace(
        spec, analysis=dataclasses.replace(spec.analysis, seed=seed, permutations=PERMUTATIONS)
    )
    return _seconds(lambda: compute(dataset, fresh, pool, Watcher()))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
