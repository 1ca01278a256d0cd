"""Warnings beside what they concern: those of an axis on its rows, any other on all."""

from __future__ import annotations

from collections.abc import Iterable

from grasp_core.groups import AxisSet
from grasp_core.remarks.ranks import ranked
from grasp_core.remarks.remark import Remark
from grasp_core.report.words import axis_label


def caution_codes(warnings: Iterable[Remark], axes: AxisSet) -> str:
    """The codes of warnings that concern the groups of an axis, most important first, blanks between."""
    shown = axis_label(axes)
    concerned = (one for one in ranked(warnings) if dict(one.numbers).get("axis", shown) == shown)
    return " ".join(dict.fromkeys(one.code.key for one in concerned))
