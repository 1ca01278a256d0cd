"""Other tests of the same question on the same data, each as people run it today."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom, chi2_contingency

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.groups import Grouping
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.in_group import irr_disagreement
from grasp_core.statistics.items import NotEstimableError, count

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "peers" / "apunim" / "src"
"""Folder of apunim beside the repository, if it is not installed; it needs statsmodels."""
OF_APUNIM = 100
"""Data sets of each cell on which apunim runs, which takes much longer than everything else."""


def peers(dataset: Dataset, grouping: Grouping, number: int) -> dict[str, FloatArray]:
    """Return each group's p by each other test, shape (groups,), and resampled intervals, shape (groups, 2).

    `number` is the data set's place in its cell: apunim runs on the first ones, and the others get NaN.
    """
    sides = [
        (count(dataset.annotations, grouping.member[g]), count(dataset.annotations, grouping.complement(g)))
        for g in range(len(grouping.groups))
    ]
    found = {
        "chi-square": np.array([chi_square(*both) for both in sides]),
        "coincidences": np.array([coincidences(inside) for inside, _ in sides]),
    }
    theirs = apunim()
    if theirs is not None:
        asked = number < OF_APUNIM
        nothing = np.full(len(sides), np.nan)
        found["apunim"] = unimodality(theirs, dataset, grouping) if asked else nothing
    return found


def chi_square(inside: Int64Array, outside: Int64Array) -> float:
    """Return the p of Pearson's test of group by label, as if annotations were independent."""
    table = np.array([inside.sum(axis=0), outside.sum(axis=0)])
    return float(chi2_contingency(table[:, table.any(axis=0)]).pvalue)


def coincidences(inside: Int64Array) -> FloatArray:
    """Return a 95 % interval of alpha, by drawing as many pairs as there are (Hayes and Krippendorff 2007).

    For nominal labels its deviations are 0, or 1 over the expected disagreement, so that their sum over the
    pairs drawn is binomial; shape (2,).
    """
    try:
        observed, expected = irr_disagreement(inside)
    except NotEstimableError:
        return np.full(2, np.nan)
    if not expected:
        return np.full(2, np.nan)
    n = inside.sum(axis=1)
    drawn = int((n * (n - 1)).sum()) // 2
    ends = binom.ppf([0.975, 0.025], drawn, observed) / drawn / expected
    return np.asarray(1 - ends)


def unimodality(theirs: Callable[..., Any], dataset: Dataset, grouping: Grouping) -> FloatArray:
    """Return the p of apunim, which shuffles the labels within each item; shape (groups,)."""
    annotations, groups = dataset.annotations, len(grouping.groups)
    place = np.where(grouping.member.any(axis=0), grouping.member.argmax(axis=0), groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about means over no item
        try:
            found = theirs(
                annotations.category.astype(float),
                place[annotations.rater],
                annotations.item,
                num_bins=annotations.n_categories,
                alpha=None,
                seed=1,
            )
        except ValueError:  # no item has two peaks
            found = {}
    return np.array([found[g].pvalue if g in found else np.nan for g in range(groups)])


def apunim() -> Callable[..., Any] | None:
    """Return the test of apunim, installed or beside the repository; None if it is in neither place."""
    if BESIDE.is_dir() and str(BESIDE) not in sys.path:
        sys.path.append(str(BESIDE))
    try:
        found: Callable[..., Any] = importlib.import_module("apunim").aposteriori_unimodality
    except ImportError:
        return None
    return found
