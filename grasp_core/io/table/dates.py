"""Dates and durations as the text of a cell."""

from __future__ import annotations

from datetime import datetime, time, timedelta


def moment_text(value: datetime) -> str:
    """A day, or a day and a time, in ISO 8601."""
    return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")


def duration_text(value: timedelta) -> str:
    """Hours, minutes and seconds, e.g. ``26:03:04``."""
    past = abs(value)
    minutes, seconds = divmod(past.days * 86_400 + past.seconds, 60)
    fraction = f".{past.microseconds:06}".rstrip("0") if past.microseconds else ""
    return f"{'-' if value.days < 0 else ''}{minutes // 60}:{minutes % 60:02}:{seconds:02}{fraction}"
