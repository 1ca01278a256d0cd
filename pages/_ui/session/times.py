"""Points in time as people say them, and exactly."""

from __future__ import annotations

import time
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))
_DATE_FROM_DAYS = 45


def zone() -> tzinfo:
    """The time zone of the browser; UTC where it does not say."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def exactly(moment: float) -> str:
    """For example "21 Nov 2026, 15:50 CET"."""
    there = datetime.fromtimestamp(moment, zone())
    return f"{there.day} {there:%b %Y, %H:%M %Z}"


def in_words(moment: float, now: float | None = None) -> str:
    """For example "3 minutes ago" or "in 2 days"; far from now only the exact form helps."""
    seconds = moment - (time.time() if now is None else now)
    away = abs(seconds)
    if away > _DATE_FROM_DAYS * 86400:
        return "long ago" if seconds < 0 else "later"
    for unit, length in _UNITS:
        if away >= length:
            count = round(away / length)
            amount = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"in {amount}" if seconds > 0 else f"{amount} ago"
    return "just now" if seconds <= 0 else "in less than a minute"


def told(moment: float) -> str:
    """In words and exactly."""
    return f"{in_words(moment)} ({exactly(moment)})"


def lasted(seconds: float) -> str:
    """For example "3.2 s" or "4 min 10 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
