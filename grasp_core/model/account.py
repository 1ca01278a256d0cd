"""The account of everything that was read: it counts, or it was left out for a reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import grasp_core.model.remark_codes  # noqa: F401 - registers how the reasons of an account stand in files
from grasp_core.model.remarks.remark import Remark

Unit = Literal["row", "cell", "answer"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The number left out for one reason."""

    reason: Remark
    count: int


@dataclass(frozen=True, slots=True)
class Account:
    """Everything read is used or left out: `read` is `used` and all of `left_out` together.

    Parameters
    ----------
    unit : {"row", "cell", "answer"}
        What is counted: rows of a long file, cells of a matrix that may hold labels, or, of a long file
        with several questions, one answer to each in every row.
    left_out : tuple of LeftOut
        In the order in which it happened; nothing is counted twice.
    unused : tuple of str
        Columns of the annotations file that are neither used nor an axis.
    """

    unit: Unit
    read: int
    used: int
    left_out: tuple[LeftOut, ...] = ()
    unused: tuple[str, ...] = ()


def added_up(found: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """One entry per reason, in order of first appearance; without those that left out nothing."""
    total: dict[Remark, int] = {}
    for one in found:
        total[one.reason] = total.get(one.reason, 0) + one.count
    return tuple(LeftOut(reason, count) for reason, count in total.items() if count)
