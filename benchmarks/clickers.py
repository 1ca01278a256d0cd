"""Random clickers in a group: how often a run finds a difference that is none, with and without a screen.

10 of 60 raters are a group, of whom 4 give any label. Opinions do not differ, so every p below 0.05 is wrong.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.planted import AXIS, dataset, independent_shares, labelled, run_spec
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import Annotations, BoolArray
from grasp_core.model.result import RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.reading.dataset.filters import screened
from grasp_core.reading.dataset.load import Dataset

TESTS = ("irr", "xrr", "negentropy", "plurality_size", "gai")
INSIDE, CLICKERS, ITEMS = 10, 4, 200
PERMUTATIONS = 499
_NOT_ZERO = 1e-9


def crowd(
    seed: int,
    *,
    raters: int = 60,
    items: int = 60,
    categories: int = 3,
    clickers: int = 0,
    minority: int = 0,
    turned: float = 1.0,
    sharp: float = 1.0,
    each: int | None = None,
) -> Annotations:
    """Draw labels of raters of different skill and leaning; the first are random clickers, or a minority.

    A minority gives another label in place of every label, on the share `turned` of the items. All shares are
    raised to the power `sharp`. Raters label `each` items, or all.
    """
    rng = np.random.default_rng(seed)
    shares = np.maximum(independent_shares(rng, raters, items, categories), _NOT_ZERO) ** sharp
    shares /= shares.sum(axis=2, keepdims=True)
    other = rng.random(items) < turned
    shares[:minority] = np.where(other[:, None], np.roll(shares[:minority], 1, axis=2), shares[:minority])
    shares[:clickers] = 1 / categories
    asked = rng.random((raters, items)).argsort(axis=1) < (items if each is None else each)
    values = {AXIS: ["in" if j < INSIDE else "out" for j in range(raters)]}
    return dataset(labelled(rng, shares, asked), categories, values).annotations


def group_of_clickers(seed: int, screen: bool) -> Dataset:
    """Draw data in which 4 of the group's 10 raters click; `screen` leaves out all whom the screen names."""
    annotations = crowd(seed, items=ITEMS, clickers=CLICKERS)
    stay = ~screened("random", annotations, None) if screen else np.ones(annotations.n_raters, dtype=np.bool_)
    return _of(annotations, stay)


def wrong(seeds: range, screen: bool, pool: Pool) -> dict[str, float]:
    """Return the share of data sets in which each test calls the group different."""
    calls = []
    for seed in seeds:
        spec = run_spec(seed, PERMUTATIONS)
        spec = replace(spec, analysis=replace(spec.analysis, statistics=TESTS))
        found = compute(group_of_clickers(seed, screen), spec, pool, Watcher())
        assert isinstance(found, RunResult)
        row = next(row for row in found.groups if row.group.values == ("in",))
        calls.append([(row.statistics[test].p or 1.0) < LEVEL for test in TESTS])
    return dict(zip(TESTS, np.mean(calls, axis=0).tolist(), strict=True))


def _of(annotations: Annotations, stay: BoolArray) -> Dataset:
    labels = np.full((int(stay.sum()), annotations.n_items), -1)
    rows = stay[annotations.rater]
    place = np.cumsum(stay) - 1
    labels[place[annotations.rater[rows]], annotations.item[rows]] = annotations.category[rows]
    sides = ["in" if j < INSIDE else "out" for j in np.flatnonzero(stay)]
    return dataset(labels, annotations.n_categories, {AXIS: sides})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clickers", description=__doc__)
    parser.add_argument("--sets", type=int, default=400, help="data sets")
    sets = parser.parse_args().sets
    pool = Pool(workers.threads)
    try:
        print(f"Share of {sets} data sets in which p < {LEVEL}, without any difference of opinion")
        for screen, name in ((False, "4 clickers among 10"), (True, "screened")):
            found = wrong(range(sets), screen, pool)
            print(f"{name:20}" + "  ".join(f"{test} {share:.2f}" for test, share in found.items()))
    finally:
        pool.close()


if __name__ == "__main__":
    main()
