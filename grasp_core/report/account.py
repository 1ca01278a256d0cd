"""The account of what was read, in words."""

from __future__ import annotations

from grasp_core.account import Account, LeftOut
from grasp_core.remarks.left_out import LeftOutReason
from grasp_core.remarks.remark import Remark
from grasp_core.wording import listed, number

_REASONS = 6
_OF_WHOM = {
    LeftOutReason.RATERS_WITH,
    LeftOutReason.LISTED_RATERS,
    LeftOutReason.LISTED_ITEMS,
    LeftOutReason.TOO_FEW_RIGHT,
    LeftOutReason.RATERS_WITH_FEWER,
    LeftOutReason.ITEMS_WITH_FEWER,
    LeftOutReason.AT_CHANCE,
    LeftOutReason.ONE_LABEL_ALWAYS,
    LeftOutReason.TOO_CLOSE,
}
"""Reasons that name raters or items, while annotations are what is counted."""


def account_sentence(account: Account) -> str:
    """For example ``12 rows read: 11 annotations, 1 left out (1 no label)``."""
    used = number(account.used, _noun(account))
    gone = sum(one.count for one in account.left_out)
    said = f"{number(account.read, account.unit)} read: {used}, {gone:,} left out"
    if not gone:
        return said
    shown = [_counted(one, account) for one in account.left_out[:_REASONS]]
    rest = account.left_out[_REASONS:]
    if rest:
        shown.append(f"{sum(one.count for one in rest):,} for {number(len(rest), 'more reason')}")
    return f"{said} ({'; '.join(shown)})"


def _counted(one: LeftOut, account: Account) -> str:
    """How many for a reason; where it names raters or items, so many annotations of theirs."""
    reason = one.reason
    if reason.code is LeftOutReason.IN_QUESTION:
        inner = dict(reason.numbers)["reason"]
        reason = inner if isinstance(inner, Remark) else reason
    if reason.code in _OF_WHOM:
        return f"{number(one.count, _noun(account))} of {one.reason}"
    return f"{one.count:,} {one.reason}"


def _noun(account: Account) -> str:
    return "answer" if account.unit == "answer" else "annotation"


def unused_sentence(account: Account) -> str:
    """The columns that nothing was taken from; empty where there are none."""
    return f"columns not used: {listed(account.unused)}" if account.unused else ""
