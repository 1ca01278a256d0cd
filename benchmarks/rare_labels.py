"""Screens for data with a rare label: warnings on clean data, and six raters with one label who are found."""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks.planted import AXIS, dataset
from grasp_core.model.annotations import Annotations
from grasp_core.reading.screens.constant import find_constant, too_constant
from grasp_core.reading.screens.duplicates import near_duplicates
from grasp_core.reading.screens.random_responders import random_responders

RATERS, ITEMS = 60, 60
SPREADS = ((1.5, 0.7), (2.5, 1.2))
"""Standard deviations of items' and of raters' log-odds of the rare label."""
PREVALENCES = (0.03, 0.05, 0.1, 0.2, 0.3)
CONSTANT = 6


def rare(
    seed: int,
    *,
    prevalence: float,
    spread: tuple[float, float] = SPREADS[0],
    raters: int = RATERS,
    items: int = ITEMS,
    constant: int = 0,
) -> Annotations:
    """Draw labels of all items by all raters, with a rare label that the first raters never give."""
    rng = np.random.default_rng(seed)
    of_items, of_raters = rng.normal(0, spread[0], items), rng.normal(0, spread[1], (raters, 1))
    # The prevalence is that of many items and raters, so that these data vary as samples do.
    many = np.random.default_rng(0).normal(0, np.hypot(*spread), 4000)
    middle = brentq(lambda value: expit(value + many).mean() - prevalence, -30, 10)
    labels = (rng.random((raters, items)) < expit(middle + of_items + of_raters)).astype(np.int64)
    labels[:constant] = 0
    return dataset(labels, 2, {AXIS: ["all"] * raters}).annotations


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rare_labels", description=__doc__)
    parser.add_argument("--sets", type=int, default=100, help="data sets for each line")
    sets = parser.parse_args().sets
    columns = ("constant", "named", "at chance", "duplicates", "6 never: named", "all 6 found")
    print(f"{RATERS} raters, {ITEMS} items; raters who are constant, and share of {sets} data sets")
    print(f"{'prevalence, spread':24}" + "".join(f"{name:>16}" for name in columns))
    for spread in SPREADS:
        for prevalence in PREVALENCES:
            found = [_looked_at(seed, prevalence, spread) for seed in range(sets)]
            shown = "".join(f"{value:16.3f}" for value in np.mean(found, axis=0))
            print(f"{prevalence:4.0%}, {spread!s:18}{shown}", flush=True)


def _looked_at(seed: int, prevalence: float, spread: tuple[float, float]) -> tuple[float, ...]:
    clean = rare(seed, prevalence=prevalence, spread=spread)
    never = too_constant(rare(seed, prevalence=prevalence, spread=spread, constant=CONSTANT), None).named
    return (
        find_constant(clean)[0].sum(),
        too_constant(clean, None).named.any(),
        random_responders(clean).raters > 0,
        bool(near_duplicates(clean).pairs),
        never.any(),
        never[:CONSTANT].all(),
    )


if __name__ == "__main__":
    main()
