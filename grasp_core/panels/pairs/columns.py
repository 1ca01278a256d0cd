"""The columns of pairs: every statistic of every pair, from those of its two groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.pairs import PAIR_STATISTICS
from grasp_core.panels.cohesion.columns import DISTANCE, GAI, group_columns
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.nulls.tails import Tail
from grasp_core.permutation.testing.tests import Family, Tests
from grasp_core.spec import AnalysisSpec

IRR, XRR = (KERNEL_STATISTICS.index(name) for name in ("irr", "xrr"))


def names_of(analysis: AnalysisSpec) -> tuple[str, ...]:
    """The pairs' statistics that are asked; a gap where both that it is made of are."""
    asked = {*analysis.statistics, *(("gap",) if {"irr", "xrr"} <= set(analysis.statistics) else ())}
    return tuple(name for name, of_groups in PAIR_STATISTICS.items() if of_groups in asked)


def of_two(values: FloatArray, analysis: AnalysisSpec) -> FloatArray:
    """The asked statistics of pairs, shape (..., T), from the kernel's of their two groups, (..., 2, 6)."""
    both = group_columns(values, analysis)
    a, b = both[..., 0, :], both[..., 1, :]
    found = {
        "xrr": a[..., XRR],
        "gap_a": a[..., IRR] - a[..., XRR],
        "gap_b": b[..., IRR] - b[..., XRR],
        "distance": a[..., DISTANCE],
        "irr_difference": a[..., IRR] - b[..., IRR],
        "gai_difference": a[..., GAI] - b[..., GAI],
    }
    return np.stack([found[name] for name in names_of(analysis)], axis=-1)


def pairs_tests(n_pairs: int, names: Sequence[str], analysis: AnalysisSpec) -> Tests:
    """A family of tests for each statistic, over all pairs, which are the units."""
    columns = np.arange(n_pairs * len(names)).reshape(n_pairs, len(names))
    tails: list[Tail] = ["upper" if name == "distance" else analysis.p_value for name in names]
    families = tuple(
        Family(tuple(of_name), tail, analysis.correction)
        for of_name, tail in zip(columns.T, tails, strict=True)
    )
    return Tests(families, needs=np.repeat(np.eye(n_pairs, dtype=np.bool_), len(names), axis=0))
