"""The columns of cohesion: every statistic of every group, then the DSI of every axis."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.groups import Group
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.testing.tests import Family, Tests
from grasp_core.spec import STATISTICS, AnalysisSpec
from grasp_core.statistics.indices import dsi, gai

GAI = STATISTICS.index("gai")


def column(g: int, s: int) -> int:
    """The column of group g's statistic s, which is a position in :data:`~grasp_core.spec.STATISTICS`."""
    return g * len(STATISTICS) + s


def dsi_column(n_groups: int, axis: int) -> int:
    """The column of an axis's DSI."""
    return n_groups * len(STATISTICS) + axis


def members(groups: Sequence[Group], spec: AnalysisSpec) -> list[list[int]]:
    """The groups of each axis or intersection of the spec."""
    return [[g for g, group in enumerate(groups) if group.axes == axes] for axes in spec.axes]


def cohesion_tests(groups: Sequence[Group], spec: AnalysisSpec) -> Tests:
    """The chosen statistics in the spec's families, and the axes' DSI; the units are the groups."""
    found: dict[Hashable, list[int]] = {}
    for s, name in enumerate(STATISTICS):
        if name in spec.statistics:
            for g, group in enumerate(groups):
                key = {"statistic": name, "statistic-axis": (name, group.axes), "all": None}[spec.family]
                found.setdefault(key, []).append(column(g, s))
    families = [Family(tuple(columns), spec.p_value, spec.correction) for columns in found.values()]
    of_axis = members(groups, spec)
    axes = tuple(dsi_column(len(groups), axis) for axis in range(len(of_axis)))
    needs = np.zeros((dsi_column(len(groups), len(of_axis)), len(groups)), np.bool_)
    for g in range(len(groups)):
        needs[column(g, 0) : column(g + 1, 0), g] = True
    for c, together in zip(axes, of_axis, strict=True):
        needs[c, together] = True
    of = zip(axes, of_axis, strict=True)
    largest = {c: tuple(column(g, GAI) for g in together) for c, together in of if together}
    return Tests((*families, Family(axes, "upper", "benjamini-hochberg")), needs, largest)


def with_gai(counted: FloatArray, analysis: AnalysisSpec) -> FloatArray:
    """Append GAI to the kernel's statistics: shape (..., 6) becomes (..., 7)."""
    inside, across = (KERNEL_STATISTICS.index(name) for name in analysis.gai)
    index = gai(counted[..., inside], counted[..., across])
    return np.concatenate([counted, index[..., None]], axis=-1)


def with_dsi(values: FloatArray, axis_members: Sequence[Sequence[int]]) -> FloatArray:
    """Lay statistics out as columns and append every axis's largest GAI.

    Parameters
    ----------
    values : float64 array, shape (..., G, 7)
    axis_members : sequence, length A, of sequences of int
        From :func:`members`. All groups of an axis take part: those that happen to be estimable in the data
        would make the p-value of the maximum too small.

    Returns
    -------
    float64 array, shape (..., 7 G + A)
    """
    flat = values.reshape(*values.shape[:-2], -1)
    largest = [dsi(values[..., list(groups), GAI])[..., None] for groups in axis_members]
    return np.concatenate([flat, *largest], axis=-1)
