"""Fitted small p-values from 10,000 permutations, compared with ten million real ones."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import genpareto

from benchmarks.planted import (
    AXIS,
    Effect,
    dataset,
    independent_shares,
    labelled,
    own_view,
    run_spec,
    shifted,
)
from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.engine.compute import permute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.groups import form_groups
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation.testing.p_values import Extremes, Null
from grasp_core.permutation.testing.tail import share_beyond
from grasp_core.reading.dataset.load import Dataset

REAL, FEW = 10_000_000, 10_000
PLAIN = 250
"""Exceedances of the plain generalised Pareto distribution used for comparison (Knijnenburg et al. 2009)."""


@dataclass(frozen=True, slots=True)
class Case:
    """Made-up data, and the column of group "in", or of its axis, with the upper tail to look at."""

    name: str
    make: Callable[[], Dataset]
    column: Callable[[Cohesion], int]


def crossed(effect: Effect, seed: int, *, axis_of_four: bool = False) -> Dataset:
    """Draw data as large as DICES-350: 104 raters, 16 of whom differ, label all of 350 items."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, 104, 350, effect.categories)
    shares[:16] = effect.plant(shares[:16], rng)
    rest = ["b"] * 12 + ["c"] * 41 + ["d"] * 35 if axis_of_four else ["out"] * 88
    side = {AXIS: ["in"] * 16 + rest}
    return dataset(labelled(rng, shares, np.ones((104, 350), bool)), effect.categories, side)


def sparse(effect: Effect, seed: int) -> Dataset:
    """Draw data of 100 raters, 20 of whom differ; each of 150 items is labelled by 8."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, 100, 150, effect.categories)
    shares[:20] = effect.plant(shares[:20], rng)
    asked = np.zeros((100, 150), bool)
    for item in range(150):
        asked[rng.choice(100, 8, replace=False), item] = True
    return dataset(labelled(rng, shares, asked), effect.categories, {AXIS: ["in"] * 20 + ["out"] * 80})


def statistic(name: str) -> Callable[[Cohesion], int]:
    """Return a function that finds this statistic's column of group "in"."""
    return lambda panel: panel.places.column(_inside(panel), STATISTICS.index(name))


def _inside(panel: Cohesion) -> int:
    return [group.values for group in panel.grouping.groups].index(("in",))


def _view(strength: float) -> Effect:
    return Effect("own view", 3, own_view(strength))


def _shift(points: float) -> Effect:
    return Effect("one label more often", 3, shifted(points))


CASES = (
    Case("GAI, 16 of 104 raters, 350 items", lambda: crossed(_view(0.31), 1), statistic("gai")),
    Case("distance, the same size", lambda: crossed(_view(0.23), 1), statistic("distance")),
    Case(
        "label use, the same size",
        lambda: crossed(_shift(12), 1),
        lambda panel: panel.places.column(_inside(panel), panel.places.label_use),
    ),
    Case(
        "DSI of four groups, the same size",
        lambda: crossed(_view(0.32), 1, axis_of_four=True),
        lambda panel: panel.places.dsi(0),
    ),
    Case("gap, 20 of 100 raters, 8 an item", lambda: sparse(_view(0.6), 1), statistic("gap")),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tail", description=__doc__)
    parser.add_argument("--seeds", type=int, default=40, help="runs of 10,000 permutations a case")
    parser.add_argument("--real", type=int, default=REAL, help="permutations to hold them against")
    chosen = parser.parse_args()
    pool = Pool(workers.threads)
    print(f"p of one tail, fitted from {FEW:,} permutations, over that of {chosen.real:,}:")
    print("median over seeds [lower, upper decile], share within a factor of 1.5, and of 2\n")
    print("| case | real p | fitted, over real | within 1.5 | within 2 | plain Pareto, over real |")
    print("|---|--:|--:|--:|--:|--:|")
    try:
        for case in CASES:
            print(line(case, chosen.seeds, chosen.real, pool), flush=True)
    finally:
        pool.close()


def line(case: Case, seeds: int, real: int, pool: Pool) -> str:
    """Return a case's row of the table."""
    data = case.make()
    spec = replace(run_spec(0, real).analysis, tail=True)
    panel = Cohesion(data, form_groups(data.raters, spec.axes, min_raters=2), spec)
    column = case.column(panel)
    truth = panel.tests.tails(_null(panel, spec, pool), column).p_high if real else float("nan")
    ours, plain, none = [], [], 0
    for seed in range(1, seeds + 1):
        null = _null(panel, replace(spec, permutations=FEW, seed=seed), pool)
        observed, extremes = _side(panel, null, column)
        found = share_beyond(observed, extremes)
        none += isinstance(found, Remark)
        ours += [] if isinstance(found, Remark) else [found[0]]
        plain.append(_plain(observed, extremes))
    ratio, beside = np.array(ours) / truth, np.array(plain) / truth
    if not ours:
        return f"| {case.name} | {truth:.1e} | no curve | | | {_spread(beside)} |"
    within = [f"{np.mean(np.abs(np.log(ratio)) <= np.log(factor)):.0%}" for factor in (1.5, 2)]
    fitted = _spread(ratio) + (f", {none} without" if none else "")
    return f"| {case.name} | {truth:.1e} | {fitted} | {within[0]} | {within[1]} | {_spread(beside)} |"


def _null(panel: Cohesion, spec: AnalysisSpec, pool: Pool) -> Null:
    return permute(panel, spec, pool, Watcher()).null


def _side(panel: Cohesion, null: Null, column: int) -> tuple[float, Extremes]:
    if column in panel.tests.largest:
        return null.largest(panel.tests.largest[column])
    return float(panel.observed[column]), null.extremes(column, upper=True)


def _plain(observed: float, extremes: Extremes) -> float:
    """Return the share beyond the observed value by a generalised Pareto distribution of the plain values."""
    excess = extremes.values[:PLAIN] - extremes.values[PLAIN]
    shape, _, scale = genpareto.fit(excess, floc=0)
    beyond = genpareto.sf(observed - extremes.values[PLAIN], shape, scale=scale)
    return float(beyond) * PLAIN / extremes.n


def _spread(ratios: FloatArray) -> str:
    low, middle, high = np.quantile(ratios, (0.1, 0.5, 0.9))
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
