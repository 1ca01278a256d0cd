"""The account of what was read, in words."""

from __future__ import annotations

from grasp_core.account import Account
from grasp_core.wording import listed, number

_REASONS = 6


def account_sentence(account: Account) -> str:
    """For example ``12 rows read: 11 annotations, 1 left out (1 no label)``."""
    used = number(account.used, "answer" if account.unit == "answer" else "annotation")
    gone = sum(one.count for one in account.left_out)
    said = f"{number(account.read, account.unit)} read: {used}, {gone:,} left out"
    if not gone:
        return said
    shown = [f"{one.count:,} {one.reason}" for one in account.left_out[:_REASONS]]
    rest = account.left_out[_REASONS:]
    if rest:
        shown.append(f"{sum(one.count for one in rest):,} for {number(len(rest), 'more reason')}")
    return f"{said} ({'; '.join(shown)})"


def unused_sentence(account: Account) -> str:
    """The columns that nothing was taken from; empty where there are none."""
    return f"columns not used: {listed(account.unused)}" if account.unused else ""
