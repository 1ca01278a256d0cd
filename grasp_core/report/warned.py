"""Warnings beside what they concern: those of an axis on its rows, any other on all."""

from __future__ import annotations

from collections.abc import Iterable

from grasp_core.groups import AxisSet
from grasp_core.remarks.guards import GuardCaution
from grasp_core.remarks.ranks import may_undo, ranked
from grasp_core.remarks.remark import Remark
from grasp_core.report.words import axis_label


def caution_codes(warnings: Iterable[Remark], axes: AxisSet) -> str:
    """The codes of warnings that may undo what is found of an axis, most important first, blanks between."""
    concerned = (one for one in ranked(warnings) if may_undo(one) and _concerns(one, axes))
    return " ".join(dict.fromkeys(one.code.key for one in concerned))


def _concerns(warning: Remark, axes: AxisSet) -> bool:
    numbers = dict(warning.numbers)
    if "axis" in numbers:
        return numbers["axis"] == axis_label(axes)
    if warning.code is GuardCaution.AXES_TOGETHER:
        return any(axis_label((name,)) in (numbers["first"], numbers["second"]) for name in axes)
    return True
