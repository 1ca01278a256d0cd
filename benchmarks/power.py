"""Power and size of every test, and coverage of intervals, on data in which one group differs as planted.

Beside the power are others' measurements on data of the same description, with their own code.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.planted import EFFECTS, NOTHING, Effect, drawn, run_spec
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.report.words.label_use import shift_outcome

TESTS = ("irr", "xrr", "voting_agreement", "gai", "label_use", "distance", "gap")
MEASURED = (
    (0.12, 0.41, 0.20, 0.06, 0.07, 0.62, 0.04),
    (0.03, 0.95, 0.92, 0.61, 0.07, 1.00, 0.43),
    (0.82, 0.90, 0.21, 0.75, 0.04, 0.46, 0.71),
    (0.19, 0.91, 0.72, 0.81, 0.10, 1.00, 0.71),
    (0.07, 0.13, 0.39, 0.09, 0.87, 0.83, 0.09),
    (0.04, 0.08, 0.50, 0.12, 0.83, 0.78, 0.10),
)
"""Power at 0.05 of :data:`TESTS` for each of :data:`~benchmarks.planted.EFFECTS`, as measured elsewhere."""
PERMUTATIONS = 499
_NAME = 40


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power", description=__doc__)
    parser.add_argument("--sets", type=int, default=400, help="data sets for each effect; 1,000 for size")
    sets = parser.parse_args().sets
    pool = Pool(workers.threads)
    try:
        print(f"Share of {sets} data sets in which p < {LEVEL}; in brackets: measured elsewhere")
        print(f"{'planted':{_NAME}}" + "".join(f"{name[:11]:>13}" for name in TESTS))
        tables = {}
        for effect, elsewhere in zip(EFFECTS, MEASURED, strict=True):
            tables[effect] = list(results(effect, sets, pool))
            print(_line(effect.name, power(tables[effect]), dict(zip(TESTS, elsewhere, strict=True))))
        none = list(results(NOTHING, 5 * sets // 2, pool))
        print(_line(f"{NOTHING.name} (size, {len(none)} sets)", power(none), {}))
        print("\nShare of 95 % intervals that hold the mean over data sets, of the planted group")
        for effect, found in (*tables.items(), (NOTHING, none)):
            held = coverage(found)
            print(f"{effect.name:{_NAME}}" + "  ".join(f"{name} {share:.2f}" for name, share in held.items()))
    finally:
        pool.close()


def _line(name: str, found: Mapping[str, float], elsewhere: Mapping[str, float]) -> str:
    cells = (
        f"{found[test]:.2f}" + (f" ({elsewhere[test]:.2f})" if test in elsewhere else "") for test in TESTS
    )
    return f"{name:{_NAME}}" + "".join(f"{cell:>13}" for cell in cells)


def results(effect: Effect, sets: int, pool: Pool) -> Iterator[GroupResult]:
    """Yield the planted group's row in each of so many data sets."""
    for seed in range(sets):
        found = compute(drawn(effect, seed), run_spec(seed, PERMUTATIONS), pool, Watcher())
        assert isinstance(found, RunResult)
        yield next(row for row in found.groups if row.group.values == ("in",))


def power(rows: list[GroupResult]) -> dict[str, float]:
    """Return the share of data sets that each test calls at the level; no value is no call."""
    return {test: float(np.mean([_p(row, test) < LEVEL for row in rows])) for test in TESTS}


def _p(row: GroupResult, test: str) -> float:
    p = row.label_use.p if test == "label_use" and row.label_use else None
    if test != "label_use":
        p = row.statistics[test].p
    return 1.0 if p is None else p


def coverage(rows: list[GroupResult]) -> dict[str, float]:
    """Return the share of intervals that contain the mean of the values over all data sets."""
    labels = list(rows[0].label_use.labels) if rows[0].label_use else []
    found = {label: [shift_outcome(row.label_use, label) for row in rows] for label in labels}
    found |= {name: [row.statistics[name] for row in rows] for name in ("distance", "gap")}
    shares = {}
    for name, outcomes in found.items():
        truth = np.mean([outcome.value for outcome in outcomes if outcome.value is not None])
        ends = [(one.interval.low, one.interval.high) for one in outcomes if one.interval]
        shares[name] = sum(low <= truth <= high for low, high in ends) / len(ends) if ends else math.nan
    return shares


if __name__ == "__main__":
    main()
