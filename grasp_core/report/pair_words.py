"""The words for what is said of two groups."""

from __future__ import annotations

from collections.abc import Mapping

PAIR_NAMES: Mapping[str, str] = {
    "xrr": "XRR",
    "gap_a": "Gap of the first",
    "gap_b": "Gap of the second",
    "irr_difference": "Difference in IRR",
    "gai_difference": "Difference in GAI",
}
"""One entry per statistic of :data:`grasp_core.pairs.PAIR_STATISTICS`."""
