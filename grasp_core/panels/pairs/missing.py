"""Why a pair's statistics have no value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grasp_core.annotations import BoolArray, FloatArray
from grasp_core.panels.cohesion.panel import with_reasons
from grasp_core.remarks.reasons import NoValue
from grasp_core.remarks.remark import Remark
from grasp_core.spec import AnalysisSpec


def reasons_of_pair(
    reasons: Sequence[Mapping[str, Remark]],
    columns: FloatArray,
    by_shares: BoolArray,
    analysis: AnalysisSpec,
) -> dict[str, Remark]:
    """Reasons by the pair's statistic, from those of its two groups and their columns, shape (2, W)."""
    a, b = with_reasons([dict(of_group) for of_group in reasons], columns, by_shares, analysis)
    found = {
        "distance": a.get("distance"),
        "xrr": a.get("xrr"),
        "gap_a": a.get("gap"),
        "gap_b": b.get("gap"),
        "irr_difference": _half(a, b, "irr"),
        "gai_difference": _half(a, b, "gai"),
    }
    return {name: reason for name, reason in found.items() if reason is not None}


def _half(a: Mapping[str, Remark], b: Mapping[str, Remark], name: str) -> Remark | None:
    reason = a.get(name) or b.get(name)
    return None if reason is None else NoValue.GAI_HALF_MISSING(statistic=name.upper(), because=reason)
