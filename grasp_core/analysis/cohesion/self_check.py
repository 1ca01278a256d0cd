"""Observed IRR held against independent software, before anything is reported."""

from __future__ import annotations

import krippendorff
import numpy as np

from grasp_core.model.annotations import Annotations, FloatArray
from grasp_core.model.errors import SelfCheckError
from grasp_core.model.groups import Group, Grouping
from grasp_core.model.spec import Level
from grasp_core.statistics import in_group
from grasp_core.statistics.counts import NotEstimableError, count
from grasp_core.statistics.distance import category_values, distance_of

SELF_CHECK_TOLERANCE = 1e-9
SELF_CHECK_ITEMS = 2**15
"""Items that ``krippendorff.alpha`` sees at most: it takes hundreds of bytes for each."""


def self_check(annotations: Annotations, grouping: Grouping, level: Level, irr: FloatArray) -> None:
    """Hold each group's IRR, shape (G,), against independent software.

    Of data with many items ``krippendorff.alpha``, which takes much memory, sees the first ones: it is held
    against the plain definition there, and the plain definition, over all items, against `irr`.

    Raises
    ------
    SelfCheckError
        If two of them differ by more than 1e-9.
    """
    values = category_values(annotations.categories, level)
    distance = distance_of(annotations.categories, level)
    for group, member, value in zip(grouping.groups, grouping.member, irr, strict=True):
        if np.isnan(value):
            continue
        counts = count(annotations, member)
        if len(counts) > SELF_CHECK_ITEMS:
            _same(group, float(value), in_group.irr(counts, distance), "its plain definition")
            counts = counts[:SELF_CHECK_ITEMS]
            try:
                value = in_group.irr(counts, distance)
            except NotEstimableError:
                continue
        used = counts.any(axis=0)
        expected = krippendorff.alpha(
            value_counts=counts[:, used], value_domain=values[used], level_of_measurement=level
        )
        _same(group, float(value), float(expected), "the package krippendorff")


def _same(group: Group, value: float, expected: float, source: str) -> None:
    if not abs(expected - value) <= SELF_CHECK_TOLERANCE:
        raise SelfCheckError(
            f"IRR of {group.label} is {value!r} here but {expected!r} by {source};"
            " nothing is reported, please file a bug"
        )
