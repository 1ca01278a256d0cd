"""Corrections for many tests: q-values (docs/methods.md, "Many tests")."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from grasp_core.annotations import FloatArray, Int64Array
from grasp_core.groups import Group
from grasp_core.permutation.nulls.deviations import reached, standard
from grasp_core.spec import LEVEL, AnalysisSpec, Correction


def q_values(
    p: Sequence[float | None], observed: FloatArray, null: FloatArray, method: Correction
) -> list[float | None]:
    """Correct one family of tests.

    Parameters
    ----------
    p : sequence of float or None, length T
        None where a test has no p-value; it is not counted in the family.
    observed : float array, shape (T,)
    null : float array, shape (B, T)
        Shuffled statistics from shared permutations; used by "max-t" only.
    method : {"benjamini-hochberg", "benjamini-yekutieli", "max-t"}

    Returns
    -------
    list of float or None, length T

    References
    ----------
    Benjamini & Hochberg (1995), JRSS B 57; Benjamini & Yekutieli (2001), Annals of Statistics 29;
    Westfall & Young (1993), Resampling-Based Multiple Testing (single-step max-T).
    """
    tested = [t for t, value in enumerate(p) if value is not None]
    return corrected(p, method, lambda: max_t(observed[tested], null[:, tested]))


def corrected(
    p: Sequence[float | None], method: Correction, of_max_t: Callable[[], FloatArray]
) -> list[float | None]:
    """As :func:`q_values`; `of_max_t` gives max-T's values, shape (T,), of the tests that have a p-value."""
    if method != "max-t":
        return step_up(p, method)
    return _in_place(p, of_max_t() if any(value is not None for value in p) else [])


def step_up(p: Sequence[float | None], method: Correction) -> list[float | None]:
    """As :func:`q_values`, by one of the two corrections that need the p-values alone."""
    tested = np.array([value for value in p if value is not None])
    if not tested.size:
        return [None] * len(p)
    order, ranks = tested.argsort(), np.arange(1, tested.size + 1)
    scaled = tested[order] * (tested.size / ranks)
    if method == "benjamini-yekutieli":
        scaled *= (1 / ranks).sum()
    q = np.empty_like(scaled)
    q[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return _in_place(p, np.minimum(q, 1.0))


def _in_place(p: Sequence[float | None], values: Iterable[float]) -> list[float | None]:
    """Values of the tests that have a p-value, each in its test's place."""
    left = iter(values)
    return [None if value is None else float(next(left)) for value in p]


def largest_family(groups: Sequence[Group], analysis: AnalysisSpec) -> int:
    """Most tests that are corrected together."""
    if analysis.family == "all":
        return len(groups) * len(analysis.statistics)
    if analysis.family == "statistic":
        return len(groups)
    return max(sum(group.axes == axes for group in groups) for axes in analysis.axes)


def fewest_permutations(tests: int, analysis: AnalysisSpec, *, one_tail: bool = False) -> int:
    """Permutations with which a lone effect among so many tests can survive correction.

    `one_tail`: large values alone count, whatever the convention of the analysis.

    Notes
    -----
    The smallest p is t / (B + 1), t = 2 for two-sided p-values and 1 for one tail. The paper's may be 0,
    which survives these corrections: t = 0. A lone effect's smallest q is that times the number of tests
    (Benjamini-Hochberg), that times 1 + 1/2 + ... + 1/tests too (Benjamini-Yekutieli), or 1 / (B + 1)
    (max-T). It has to be below the level.
    """
    if analysis.correction == "max-t":
        return math.floor(1 / LEVEL)
    smallest = 1 if one_tail else 2 if analysis.p_value == "two-sided" else 0
    factor = float(tests * smallest)
    if analysis.correction == "benjamini-yekutieli":
        factor *= sum(1 / rank for rank in range(1, tests + 1))
    return math.floor(round(factor / LEVEL, 9))


def max_t(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Family-wise p: how often the largest standardised deviation of any test reaches this one's.

    Parameters
    ----------
    observed : float array, shape (T,)
    null : float array, shape (B, T)
        NaN where not estimable.
    """
    return family_wise(reached(observed, null, standard(null)), len(null))


def family_wise(reached: Int64Array, permutations: int) -> FloatArray:
    """Family-wise p from the number of permutations whose largest deviation reaches a test's."""
    return np.asarray((1 + reached) / (permutations + 1))
