"""Measure commands, the engine, and other software on the same data: ``python -m benchmarks``.

Compared sides are measured alternately, and medians are shown: a table for each subject, ratios first. Work
on one core is measured in processor time, to which other programs do not add.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from functools import partial
from typing import get_args

from benchmarks import peers, shapes
from benchmarks.counting import Cells, bit_sets, increments
from benchmarks.figures import DICES, Figure, cpu_seconds, medians, peak_mib, seconds, show
from benchmarks.simulated import AXES as D3_AXES
from benchmarks.simulated import d3_size
from benchmarks.starting import start_up
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.warm import warm
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import Annotations
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.example import AXES, example_files, example_spec
from grasp_core.model.groups import AxisSet, Grouping, form_groups
from grasp_core.model.spec import AnalysisSpec, Level, RunSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.kernel import crossed
from grasp_core.permutation.kernel.profiles import MOST_BATCH
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table

PERMUTATIONS = 10_000
_EACH = "us a permutation"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    warm()
    print(f"{workers.available_cores()} cores")
    show("Commands, from the shell", start_up())
    name, dataset, spec = _data()
    grouping = form_groups(dataset.raters, spec.analysis.axes)
    designs = _designs(dataset, grouping, spec.analysis)
    many = f"{name}, {len(grouping.groups)} groups"
    show(f"Permutations of {many}, one core; the whole run on all", _crossed(dataset, spec, designs, rounds))
    for categories, further, title in (
        (2, (), ""),
        (5, (), ""),
        (7, (), ""),
        (5, (D3_AXES,), " and all axes"),
    ):
        show(
            f"Permutations of data of D3CODE's size, {categories} labels{title}, one core",
            _sparse(categories, further, rounds),
        )
    sizes = "20,000 annotations, 16 groups, one core"
    show(f"Many labels: 1,000 items, 200 raters, {sizes}", shapes.many_labels(rounds))
    show(f"Many labels: 200 items that all of 100 raters rated, {sizes}", shapes.crossed_labels(rounds))
    show("Unknown values, strata, questions, groups, one core", shapes.gaps(rounds))
    show(
        f"Other software, one permutation of {many}, one core",
        peers.compare(dataset.annotations, dataset.raters, spec.analysis.axes, designs["nominal"], rounds),
    )
    print(f"\nMost memory at one time: {peak_mib():.0f} MiB")


def _data() -> tuple[str, Dataset, RunSpec]:
    """Load DICES-350 if it is beside the repository, else the example of the same shape."""
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


def _designs(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec) -> dict[Level, Design]:
    """Lay out the data for each level of measurement."""
    numbered = _numbered(dataset.annotations)
    return {
        level: build_design(numbered, dataset.raters, grouping, dataclasses.replace(analysis, level=level))
        for level in get_args(Level)
    }


def _crossed(dataset: Dataset, spec: RunSpec, designs: dict[Level, Design], rounds: int) -> list[Figure]:
    """Measure crossed data: the kernel against counting alone, levels against nominal, and a whole run."""
    design, many = designs["nominal"], crossed.BATCH
    pool = Pool(workers.processes)
    pool.warm()
    turn = iter(range(1, 10_000))
    sides: dict[str, Callable[[], float]] = {
        "counting": lambda: cpu_seconds(lambda: bit_sets(design, many)) / many,
        **{level: partial(_kernel, one, many) for level, one in designs.items()},
        "engine": lambda: _whole_run(pool, dataset, spec, seed=next(turn)) / PERMUTATIONS,
    }
    taken = medians(sides, rounds)
    pool.close()
    kernel, levels = taken["nominal"], ("ordinal", "interval", "ratio")
    return [
        Figure("kernel", kernel / taken["counting"], "counting alone (goal: 3)", kernel * 1e6, _EACH),
        *(
            Figure(f"{level} level", taken[level] / kernel, "nominal (goal: 3)", taken[level] * 1e6, _EACH)
            for level in levels
        ),
        Figure(
            f"whole run of {PERMUTATIONS:,}, from spec to result",
            taken["engine"] / kernel,
            "kernel",
            taken["engine"] * PERMUTATIONS,
            "s",
        ),
    ]


def _sparse(categories: int, further: tuple[AxisSet, ...], rounds: int) -> list[Figure]:
    """Measure sparse data: the kernel against counting alone by the better of two strategies."""
    annotations, raters, spec = d3_size(categories)
    spec = dataclasses.replace(spec, axes=(*spec.axes, *further))
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    of_level = {
        level: build_design(annotations, raters, grouping, dataclasses.replace(spec, level=level))
        for level in ("nominal", "ordinal")
    }
    cells = Cells(annotations, grouping)
    plain = build_design(annotations, raters, grouping, spec, dense=False, tables=False)
    few, many = 20, MOST_BATCH
    sides: dict[str, Callable[[], float]] = {
        "increments": lambda: cpu_seconds(partial(increments, plain, few)) / few,
        "cells": lambda: cpu_seconds(partial(cells.count, plain, few)) / few,
        **{level: partial(_kernel, one, many) for level, one in of_level.items()},
    }
    taken = medians(sides, rounds)
    kernel, floor = taken["nominal"], min(taken["increments"], taken["cells"])
    return [
        Figure("kernel", kernel / floor, "counting alone (goal: 1.6)", kernel * 1e6, _EACH),
        Figure(
            "ordinal level", taken["ordinal"] / kernel, "nominal (goal: 3)", taken["ordinal"] * 1e6, _EACH
        ),
    ]


def _kernel(design: Design, permutations: int) -> float:
    return cpu_seconds(lambda: compiled.shuffled(design, 1, 0, permutations)) / permutations


def _numbered(annotations: Annotations) -> Annotations:
    """Return the annotations with categories that are numbers, so that every level can be measured."""
    names = tuple(str(1 + k) for k in range(annotations.n_categories))
    return dataclasses.replace(annotations, categories=names)


def _whole_run(pool: Pool, dataset: Dataset, spec: RunSpec, seed: int) -> float:
    fresh = dataclasses.replace(
        spec, analysis=dataclasses.replace(spec.analysis, seed=seed, permutations=PERMUTATIONS)
    )
    return seconds(lambda: compute(dataset, fresh, pool, Watcher()))


if __name__ == "__main__":
    main()
