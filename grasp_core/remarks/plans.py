"""Cautions of a plan."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code


@unique
class PlanCaution(Code):
    """What was left out of a plan, or cannot be told of it."""

    PILOTS_LEFT_OUT = (
        "{left_out} of {pilots:pilot} that were drawn anew for the range cannot have this difference and "
        "{left_out:is/are} left out: the range may be too narrow; a smaller size or a larger pilot mends it"
    )
    TOO_FEW_PILOTS = (
        "there is no range: {left_out} of {pilots:pilot} that were drawn anew for it cannot have this "
        "difference; look for a smaller one, or take a larger pilot"
    )
