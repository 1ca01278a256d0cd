"""Why a pair's statistics have no value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.panels.cohesion.columns import group_columns
from grasp_core.panels.cohesion.panel import with_reasons
from grasp_core.remarks.reasons import NoValue
from grasp_core.remarks.remark import Remark
from grasp_core.spec import AnalysisSpec


def reasons_of_pair(
    reasons: Sequence[Mapping[str, Remark]], values: FloatArray, analysis: AnalysisSpec
) -> dict[str, Remark]:
    """Reasons by the pair's statistic, from those of its two groups and the kernel's values, shape (2, 6)."""
    a, b = with_reasons(
        [dict(of_group) for of_group in reasons],
        group_columns(values, analysis),
        np.zeros(2, dtype=np.bool_),
        analysis,
    )
    found = {
        "xrr": a.get("xrr"),
        "gap_a": _half(a, "xrr", "irr"),
        "gap_b": _half(b, "xrr", "irr"),
        "distance": a.get("distance"),
        "irr_difference": _half(a, "irr") or _half(b, "irr"),
        "gai_difference": _half(a, "gai") or _half(b, "gai"),
    }
    return {name: reason for name, reason in found.items() if reason is not None}


def _half(of_group: Mapping[str, Remark], *names: str) -> Remark | None:
    missing = (name for name in names if name in of_group)
    return next(
        (NoValue.GAI_HALF_MISSING(statistic=name.upper(), because=of_group[name]) for name in missing), None
    )
