"""Dates and times that statistics programs keep as numbers, in ISO 8601."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from functools import partial

from grasp_core.io.table.columns import duration_text, moment_text

_SPSS = datetime.datetime(1582, 10, 14)
_STATA = datetime.datetime(1960, 1, 1)
_SPSS_DAYS = frozenset({"DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR"})
_SPSS_MOMENTS = frozenset({"DATETIME", "YMDHMS"})
_SPSS_TIMES = frozenset({"TIME", "DTIME", "MTIME"})


def moment_format(written: str) -> Callable[[float], str] | None:
    """A function from a column's numbers to text, where its format is a date's or a time's; else None.

    Parameters
    ----------
    written : str
        E.g. ``DATE11`` or ``DATETIME20`` (SPSS), ``%td`` or ``%tcHH:MM`` (Stata).
    """
    if written.startswith(("%td", "%d", "%-td", "%-d")):
        return partial(_moment, start=_STATA, unit=86_400.0)
    if written.startswith(("%tc", "%tC", "%-tc", "%-tC")):
        return partial(_moment, start=_STATA, unit=1e-3)
    if written.startswith(("%tm", "%-tm")):
        return _month
    name = re.match("[A-Z]*", written)
    if name is not None and name[0] in _SPSS_DAYS | _SPSS_MOMENTS:
        return partial(_moment, start=_SPSS, unit=1.0)
    return _duration if name is not None and name[0] in _SPSS_TIMES else None


def _moment(value: float, *, start: datetime.datetime, unit: float) -> str:
    """A day, or a day and a time; a number beyond all calendars stays a number."""
    try:
        found = start + datetime.timedelta(seconds=value * unit)
    except (OverflowError, ValueError):
        return repr(value)
    return moment_text(found)


def _month(value: float) -> str:
    months = int(value) if abs(value) < 1e5 else 0
    year, month = divmod(months, 12)
    return f"{1960 + year:04}-{month + 1:02}" if months == value else repr(value)


def _duration(value: float) -> str:
    try:
        return duration_text(datetime.timedelta(seconds=value))
    except (OverflowError, ValueError):
        return repr(value)
