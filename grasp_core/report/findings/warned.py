"""Warnings: which stand before the answer and which behind it, and beside what of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from grasp_core.groups import AxisSet
from grasp_core.remarks.guards import GuardCaution
from grasp_core.remarks.ranks import may_undo, ranked
from grasp_core.remarks.remark import Remark
from grasp_core.report.words.names import axis_label
from grasp_core.result import RunResult
from grasp_core.wording import agree


@dataclass(frozen=True, slots=True)
class Warned:
    """The warnings of a result, each once, most important first.

    Parameters
    ----------
    first : tuple of Remark
        Those that may undo what is found, to be read before it.
    others : tuple of Remark
    """

    first: tuple[Remark, ...]
    others: tuple[Remark, ...]

    @property
    def lead(self) -> str:
        """What a section on warnings says before it lists the others; empty where these are all."""
        if not self.first:
            return "" if self.others else "None."
        count = len(self.first)
        above = f"the {count} that {agree(count, 'stands', 'stand')} above, under “Mind first”"
        return f"Beside {above}:" if self.others else f"None but {above}."


def warned(result: RunResult) -> Warned:
    """Warnings by where they stand; that two axes go together need not stand first once both were tested."""
    given = {axis_label((one.column,)) for one in result.given}
    in_order = ranked(result.warnings)
    first = tuple(one for one in in_order if may_undo(one) and not _is_tested(one, given))
    return Warned(first, tuple(one for one in in_order if one not in first))


def caution_codes(warnings: Iterable[Remark], axes: AxisSet) -> str:
    """The codes of warnings that may undo what is found of an axis, most important first, blanks between."""
    concerned = (one for one in ranked(warnings) if may_undo(one) and _concerns(one, axes))
    return " ".join(dict.fromkeys(one.code.key for one in concerned))


def _is_tested(warning: Remark, given: set[str]) -> bool:
    """Whether it says that two axes go together, of which each was tested given the other."""
    numbers = dict(warning.numbers)
    return warning.code is GuardCaution.AXES_TOGETHER and {numbers["first"], numbers["second"]} <= given


def _concerns(warning: Remark, axes: AxisSet) -> bool:
    numbers = dict(warning.numbers)
    if "axis" in numbers:
        return numbers["axis"] == axis_label(axes)
    if warning.code is GuardCaution.AXES_TOGETHER:
        return any(axis_label((name,)) in (numbers["first"], numbers["second"]) for name in axes)
    return True
