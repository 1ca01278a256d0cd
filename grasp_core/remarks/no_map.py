"""Why there is no map of raters, or why an axis explains nothing of it."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code


@unique
class NoMap(Code):
    """Why raters are not placed on a map, or an axis is not held against it."""

    FEW_PLACED = (
        "only {placed:d} of {raters:rater} share {least:d} answers or more with at least half of the others; "
        "a map takes at least half of the raters, and {fewest:d}"
    )
    NO_DISAGREEMENT = "raters never differ on what they share"
    FEW_GROUPS_ON_MAP = "fewer than two of its groups have {least:rater} or more on the map"
